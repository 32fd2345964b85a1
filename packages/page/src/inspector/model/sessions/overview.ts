import type { AgentSummary, SessionEntry } from '../../../../../wire/src/frames.ts'
import type { Spent } from '../../../../../../src/protocol/records.ts'
import { factsAtRest, standings, standingWords, type Standing } from '../../../../../charts/src/standing.ts'
import { fitsFilter } from './agentNames.ts'
import { standsOf } from './stands.ts'

/** The groups of the overview, in their order. */
export const groups = ['needs', 'working', 'rest'] as const
export type Group = (typeof groups)[number]

/** One row of the overview: an agent, one item of an agent that waits for a person, or a session whose agent does not run. */
export interface OverviewRow {
  /** Key of the row, the same however the agent changes. */
  readonly key: string
  readonly agentId: string
  readonly group: Group
  readonly standing: Standing
  /** Activity of the agent, in words. */
  readonly words: string
  readonly of: AgentSummary | SessionEntry
  /** Key of the item that waits for a person, one a row; `null` for a row of another kind. */
  readonly pending: string | null
  /** Start of the current standing, in epoch milliseconds; 0 if it is not known. */
  readonly since: number
  readonly isSession: boolean
  /** Cost in US dollars, sub-agents included. */
  readonly costUsd: number
  /** Number of agents below it whose last run failed. */
  readonly failedBelow: number
}

/** Orders of the overview: by need, in groups, or all agents by one column, the largest or longest first. */
export const orders = ['need', 'since', 'context', 'cost'] as const
export type Order = (typeof orders)[number]

/** Number of agents by standing, regardless of the filter. */
export type Counts = Readonly<Record<Standing, number>>

export interface Overview {
  readonly rows: readonly OverviewRow[]
  /** Rows of all running agents, regardless of the filter, in no order. */
  readonly all: readonly OverviewRow[]
  readonly counts: Counts
  /** US dollars of all running agents, each tree once. */
  readonly costUsd: number
  /** Tokens of all replies, each tree once; the rate of tokens is computed from it. */
  readonly outputTokens: number
}

const groupOf: Readonly<Record<Standing, Group>> = {
  waiting: 'needs',
  failed: 'needs',
  paused: 'needs',
  working: 'working',
  idle: 'rest',
  ended: 'rest',
}

const needs = new Map<Standing, number>(standings.map((standing, index) => [standing, index]))

type Compare = (a: OverviewRow, b: OverviewRow) => number

/**
 * Compares rows by need, then by the latest change, or for waiting items by the longest wait, then by name. The
 * order stays the same while each agent keeps its standing.
 */
function byNeed(a: OverviewRow, b: OverviewRow): number {
  const need = needs.get(a.standing)! - needs.get(b.standing)!
  if (need !== 0) return need
  if (a.since !== b.since) return a.standing === 'waiting' ? a.since - b.since : b.since - a.since
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0
}

/** Returns the share of its context window that an agent fills; 0 if it is not known. Pure. */
export function contextShare(of: AgentSummary | SessionEntry): number {
  const tokens = 'contextTokens' in of ? of.contextTokens : undefined
  return tokens?.window === undefined || tokens.window === 0 ? 0 : tokens.used / tokens.window
}

/** Returns the start of a row's standing. A time that is not known is the latest. */
const sinceOf = ({ since }: OverviewRow): number => (since === 0 ? Infinity : since)

const compares: Readonly<Record<Order, Compare>> = {
  need: byNeed,
  since: (a, b) => (sinceOf(a) === sinceOf(b) ? byNeed(a, b) : sinceOf(a) - sinceOf(b)),
  context: (a, b) => contextShare(b.of) - contextShare(a.of) || byNeed(a, b),
  cost: (a, b) => b.costUsd - a.costUsd || byNeed(a, b),
}

const spentOf = (agent: AgentSummary): Spent => agent.treeSpent ?? agent.spent

export interface OverviewOptions {
  /** Standings of the rows to show; empty: all. */
  readonly show: readonly Standing[]
  /** Words that a row must contain to be shown. */
  readonly words: readonly string[]
  /** Agents that ran since the sessions were read: their end is not known yet. */
  readonly settling?: ReadonlySet<string>
  /** Sub-agents that ran since the page was opened and have gone. */
  readonly left?: ReadonlyMap<string, AgentSummary>
  /** Order of the rows. Default: `need`. */
  readonly order?: Order
}

/** Returns all agents, those that need a person first. Pure. */
export function overviewOf(
  agents: ReadonlyMap<string, AgentSummary>,
  sessions: readonly SessionEntry[],
  { show, words, settling, left, order = 'need' }: OverviewOptions,
): Overview {
  const counts = Object.fromEntries(standings.map((standing) => [standing, 0])) as Record<Standing, number>
  const all: OverviewRow[] = []
  const isShown = (standing: Standing, one: AgentSummary | SessionEntry): boolean =>
    (show.length === 0 || show.includes(standing)) && fitsFilter(one, words)
  const failed = failedBelow([agents, left ?? noAgents])
  let costUsd = 0
  let outputTokens = 0
  for (const agent of agents.values()) {
    const { standing, words: said, keys, since } = standsOf(agent)
    counts[standing] += 1
    if (!agent.path.some((id) => agents.has(id))) {
      costUsd += spentOf(agent).costUsd
      outputTokens += spentOf(agent).usage.output
    }
    const { agentId } = agent
    const row = {
      agentId,
      group: groupOf[standing],
      standing,
      words: said,
      of: agent,
      since,
      isSession: false,
      costUsd: spentOf(agent).costUsd,
      failedBelow: failed.get(agentId) ?? 0,
    }
    if (keys.length === 0) all.push({ ...row, key: agentId, pending: null })
    for (const pending of keys) all.push({ ...row, key: pending, pending })
  }
  const rows = all.filter((row) => isShown(row.standing, row.of))
  for (const session of sessions) {
    if (agents.has(session.agentId)) continue
    counts.ended += 1
    if (isShown('ended', session)) rows.push(rowAtRest(session, settling?.has(session.agentId) === true))
  }
  return { rows: rows.toSorted(compares[order]), all, counts, costUsd, outputTokens }
}

const noAgents: ReadonlyMap<string, AgentSummary> = new Map()

/** Returns the number of failed agents below each agent, those that have gone included. */
function failedBelow(lists: readonly ReadonlyMap<string, AgentSummary>[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const list of lists)
    for (const { path, last } of list.values())
      if (path.length > 0 && last?.stopReason === 'error')
        for (const id of path) found.set(id, (found.get(id) ?? 0) + 1)
  return found
}

/** Returns the row of a session whose agent does not run. It stands at the end, as it needs no person, and its words say how it ended. */
function rowAtRest(session: SessionEntry, isSettling: boolean): OverviewRow {
  const { agentId, updatedAt, error } = session
  const said = isSettling ? '…' : standingWords(factsAtRest(session))
  const words = error === undefined ? said : `failed: ${error.code}`
  return {
    key: agentId,
    agentId,
    group: 'rest',
    standing: 'ended',
    words,
    of: session,
    pending: null,
    since: updatedAt,
    isSession: true,
    costUsd: session.costUsd,
    failedBelow: 0,
  }
}

/**
 * Returns the rows while a person points at them. Rows that were there keep their places and are updated. Rows that
 * have gone stay. New ones come at the end of their group. Pure.
 */
export function heldRows(
  before: readonly OverviewRow[],
  now: readonly OverviewRow[],
  agents: ReadonlyMap<string, AgentSummary>,
): readonly OverviewRow[] {
  const fresh = new Map(now.map((row) => [row.key, row]))
  const places = new Set(before.map(({ key }) => key))
  const held = before.map((row): OverviewRow => {
    const { key, group } = row
    const same = fresh.get(key)
    if (same !== undefined) return { ...same, group }
    // What was decided leaves its place to its agent.
    const own = places.has(row.agentId) ? undefined : fresh.get(row.agentId)
    if (own !== undefined) places.add(own.key)
    const of = agents.get(row.agentId)
    if (of === undefined) return { ...row, pending: null, standing: 'ended', words: 'gone' }
    const { standing, words, since } = standsOf(of)
    return { ...row, of, standing, words, since, pending: null }
  })
  const added = now.filter(({ key }) => !places.has(key))
  return groups.flatMap((group) => [...held, ...added].filter((row) => row.group === group))
}
