import type { AgentSummary, SessionEntry } from '../../../../../wire/src/frames.ts'
import { fitsFilter } from './agentNames.ts'
import { agentRows, type AgentRow } from './hierarchy.ts'

/** Keys of the list's headings, by which they are opened and closed. */
export const headings = { running: ' running', rest: ' rest' } as const

interface Place {
  /** Depth of the row, from 1. A heading has 1. */
  readonly level: number
  /** Place among the row's siblings, from 1, and the number of siblings. */
  readonly place: number
  readonly siblings: number
}

/** A row of the list of agents and sessions. `key` stays the same however the row changes. */
export type SideRow = Place & { readonly key: string } & (
    | { readonly type: 'heading'; readonly label: string; readonly count: number; readonly isOpen: boolean }
    | (AgentRow & { readonly type: 'agent'; readonly hasLeft: boolean })
    | { readonly type: 'session'; readonly session: SessionEntry }
    /** Row for `count` sessions that were not read. */
    | { readonly type: 'more'; readonly count: number }
  )

export interface SideFacts {
  readonly agents: ReadonlyMap<string, AgentSummary>
  /** Sub-agents that have gone. */
  readonly left: ReadonlyMap<string, AgentSummary>
  readonly sessions: readonly SessionEntry[]
  /** Number of sessions that were not read. */
  readonly rest: number
  /** Keys of the rows that are closed. */
  readonly closed: ReadonlySet<string>
  /** Words of the filter: only agents with these words are listed, with their callers. */
  readonly words: readonly string[]
}

/**
 * Returns the rows of the list: running agents, with sub-agents below their callers even after they have gone, then sessions whose agents
 * do not run. Pure.
 */
export function sidebarRows(facts: SideFacts): SideRow[] {
  const { agents, left, words, closed } = facts
  const isFiltered = words.length > 0
  const shown = new Map(agents)
  for (const [id, agent] of left)
    if (!agents.has(id) && agent.path.some((above) => agents.has(above))) shown.set(id, agent)
  const sessions = facts.sessions.filter((one) => !shown.has(one.agentId) && fitsFilter(one, words))
  const running = isFiltered ? withCallers(shown, words) : shown
  const more = isFiltered ? 0 : facts.rest
  const count = Number(agents.size > 0) + Number(sessions.length + more > 0)
  const rows: SideRow[] = []
  const heading = (key: string, label: string, of: number): boolean => {
    const isOpen = isFiltered || !closed.has(key)
    rows.push({
      type: 'heading',
      key,
      label,
      count: of,
      isOpen,
      level: 1,
      place: rows.length === 0 ? 1 : 2,
      siblings: count,
    })
    return isOpen
  }
  if (agents.size > 0 && heading(headings.running, 'Running', agents.size)) {
    for (const row of agentRows(running.values(), isFiltered ? new Set() : closed)) {
      const { agentId } = row.agent
      rows.push({ ...row, type: 'agent', key: agentId, hasLeft: !agents.has(agentId), level: row.level + 1 })
    }
  }
  if (sessions.length + more > 0 && heading(headings.rest, 'At rest', sessions.length + more)) {
    const siblings = sessions.length + Number(more > 0)
    for (const [index, session] of sessions.entries())
      rows.push({ type: 'session', key: session.agentId, session, level: 2, place: index + 1, siblings })
    if (more > 0) rows.push({ type: 'more', key: ' more', count: more, level: 2, place: siblings, siblings })
  }
  return rows
}

function withCallers(agents: ReadonlyMap<string, AgentSummary>, words: readonly string[]): Map<string, AgentSummary> {
  const kept = new Set<string>()
  for (const agent of agents.values()) {
    if (!fitsFilter(agent, words)) continue
    for (const id of [agent.agentId, ...agent.path]) kept.add(id)
  }
  return new Map([...agents].filter(([id]) => kept.has(id)))
}
