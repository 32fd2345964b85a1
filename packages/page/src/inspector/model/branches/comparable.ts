import type { AgentSummary, SessionEntry } from '../../../../../wire/src/frames.ts'

/** A session that an agent may be compared with, as a list shows it. */
export interface Comparable {
  readonly agentId: string
  readonly definition: string
  readonly title?: string
  /** Relation of the session to the agent. */
  readonly kin: 'source' | 'fork' | 'same definition' | 'other'
}

type Compared = Pick<SessionEntry, 'agentId' | 'definition' | 'forkedFrom'>
type Known = Pick<AgentSummary | SessionEntry, 'agentId' | 'definition' | 'title'> & Pick<SessionEntry, 'forkedFrom'>

const kinds: readonly Comparable['kin'][] = ['source', 'fork', 'same definition', 'other']

/**
 * Lists the agents and sessions that an agent may be compared with, each once: first those with which it shares a past. `words`: only those
 * that have all of them in their title, id or definition. Pure.
 */
export function comparable(own: Compared, known: readonly Known[], words = ''): readonly Comparable[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const found = new Map<string, Comparable>()
  for (const { agentId, definition, title, forkedFrom } of known) {
    const text = `${title ?? ''} ${agentId} ${definition}`.toLowerCase()
    if (agentId === own.agentId || !wanted.every((word) => text.includes(word))) continue
    const kin = kinOf(own, { agentId, definition, ...(forkedFrom === undefined ? {} : { forkedFrom }) })
    const before = found.get(agentId)
    // Lists of agents that run do not say what is a fork; those of sessions do.
    if (before !== undefined && kinds.indexOf(before.kin) <= kinds.indexOf(kin)) continue
    found.set(agentId, { agentId, definition, kin, ...(title === undefined ? {} : { title }) })
  }
  return [...found.values()].toSorted((a, b) => kinds.indexOf(a.kin) - kinds.indexOf(b.kin))
}

function kinOf(own: Compared, { agentId, definition, forkedFrom }: Compared): Comparable['kin'] {
  if (agentId === own.forkedFrom) return 'source'
  if (forkedFrom !== undefined && (forkedFrom === own.agentId || forkedFrom === own.forkedFrom)) return 'fork'
  return definition === own.definition ? 'same definition' : 'other'
}
