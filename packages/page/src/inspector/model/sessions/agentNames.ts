import type { AgentSummary, SessionEntry } from '../../../../../wire/src/frames.ts'
import { metadataText } from '../../../../../words/src/metadataText.ts'
import type { Route } from '../shell/route.ts'
import { forDisplay, oneLine } from '../words/shortText.ts'

/** An agent or a session, which has a name in a list. */
type Named = Pick<AgentSummary | SessionEntry, 'agentId' | 'definition' | 'title' | 'metadata'> & {
  readonly kind?: 'machine'
  readonly active?: string
  readonly worker?: string
}

/** Where the page shows what an entry of a list is of: the chart of a machine, or an agent. Pure. */
export const placeOf = ({ kind, agentId }: Named): Pick<Route, 'agent' | 'host'> =>
  kind === 'machine' ? { agent: null, host: agentId } : { agent: agentId, host: null }

/** Longest name that a row has in its document, in UTF-16 units; the row itself cuts it where there is no room. */
const mostName = 200

/** Name of an agent in a list: its title, else its id. Pure. */
export const nameOf = ({ title, agentId }: Named): string =>
  title === undefined || title.trim() === '' ? forDisplay(agentId) : oneLine(title, mostName)

/** Text beside the name: `coder · lead.2`, without the id where that is the name; `machine order` for a machine. Pure. */
export function aboutOf(agent: Named): string {
  const definition = oneLine(agent.active ?? agent.definition, mostName)
  const name = nameOf(agent)
  if (agent.kind === 'machine') return `machine ${definition}`
  return name === agent.agentId || definition === agent.agentId ? definition : `${definition} · ${agent.agentId}`
}

const searched = new WeakMap<Named, string>()

/** Everything of an agent that a filter looks at. */
function textOf(agent: Named): string {
  const known = searched.get(agent)
  if (known !== undefined) return known
  const { title = '', agentId, definition, active = '', metadata, worker = '' } = agent
  const text = [title, agentId, definition, active, metadataText(metadata), worker]
    .join('\n')
    .normalize('NFC')
    .toLowerCase()
  searched.set(agent, text)
  return text
}

/** The words of a filter; an agent fits when it has all of them. */
export const wordsOf = (filter: string): readonly string[] =>
  filter.normalize('NFC').toLowerCase().split(/\s+/).filter(Boolean)

/** Returns true if an agent has all words in its title, id, definition, metadata or worker. Pure. */
export const fitsFilter = (agent: Named, words: readonly string[]): boolean =>
  words.every((word) => textOf(agent).includes(word))
