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

/** Returns the place where the page shows an entry of a list: the chart of a machine, or an agent. Pure. */
export const placeOf = ({ kind, agentId }: Named): Pick<Route, 'agent' | 'host'> =>
  kind === 'machine' ? { agent: null, host: agentId } : { agent: agentId, host: null }

/** Maximum length of a row's name in the document, in UTF-16 units. The row itself cuts it where there is no room. */
const mostName = 200

/** Returns the name of an agent in a list: its title, or else its id. Pure. */
export const nameOf = ({ title, agentId }: Named): string =>
  title === undefined || title.trim() === '' ? forDisplay(agentId) : oneLine(title, mostName)

/** Returns the text beside the name: `coder · lead.2`, without the id if that is the name, or `machine order` for a machine. Pure. */
export function aboutOf(agent: Named): string {
  const definition = oneLine(agent.active ?? agent.definition, mostName)
  const name = nameOf(agent)
  if (agent.kind === 'machine') return `machine ${definition}`
  return name === agent.agentId || definition === agent.agentId ? definition : `${definition} · ${agent.agentId}`
}

const searched = new WeakMap<Named, string>()

/** Returns all texts of an agent that a filter searches. */
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

/** Returns the words of a filter. An agent fits if it has all of them. */
export const wordsOf = (filter: string): readonly string[] =>
  filter.normalize('NFC').toLowerCase().split(/\s+/).filter(Boolean)

/** Returns true if an agent has all words in its title, id, definition, metadata or worker. Pure. */
export const fitsFilter = (agent: Named, words: readonly string[]): boolean =>
  words.every((word) => textOf(agent).includes(word))
