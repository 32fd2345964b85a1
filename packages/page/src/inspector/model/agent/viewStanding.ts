import { callLine } from '../../../../../charts/src/toolLine.ts'
import { counted, dollars, tookWords } from '../../../../../charts/src/amounts.ts'
import type { NowFacts } from '../../../../../charts/src/nowLine.ts'
import type { Took } from '../../../../../charts/src/workTimes.ts'
import { standingWords, type StandingFacts } from '../../../../../charts/src/standing.ts'
import type { AgentSummary } from '../../../../../wire/src/frames.ts'
import type { LastRun } from '../../../../../../src/protocol/runs/lastRun.ts'
import type { Pending } from '../../../../../../src/protocol/runs/pending.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import type { AgentViewState } from './agentView.ts'
import { totalTokens } from '../../../../../../src/protocol/text/messageText.ts'
import { oneLine } from '../words/shortText.ts'

/** The calls under way at the end of some records. */
export interface CallsUnderWay {
  /** Description of the calls in a few words. */
  readonly doing: string
  /** Time at which the oldest began, in epoch milliseconds. */
  readonly since: number
  /** Ids of the sub-agents that carry out some of the calls. */
  readonly children: readonly string[]
}

/**
 * Returns the calls that had begun and not ended after the first `end` records; `null` when there are none. Pure; looks no further back
 * than the turn.
 */
export function callsUnderWay(records: readonly LogRecord[], end: number): CallsUnderWay | null {
  const ended = new Set<string>()
  const open: Extract<LogRecord, { type: 'tool.start' }>[] = []
  for (let at = Math.min(end, records.length) - 1; at >= 0; at--) {
    const record = records[at]!
    if (record.type === 'tool.end') ended.add(record.callId)
    else if (record.type === 'tool.start' && !ended.has(record.callId)) open.push(record)
    else if (record.type === 'reply.end' || record.type === 'run.start' || record.type === 'run.end') break
  }
  if (open.length === 0) return null
  const [first, ...others] = open.toReversed()
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return {
    doing: `${callLine(first!.name, first!.input)}${more}`,
    since: first!.time,
    children: open.flatMap(({ childId }) => childId ?? []),
  }
}

/** Returns the facts that decide the agent's standing at the moment that is shown. `summary`: the server's current summary of it. Pure. */
export function viewStanding(view: AgentViewState, summary: AgentSummary | undefined): StandingFacts {
  const { agentId, chartState, pending, records, at, lastSeq, last } = view
  const calls = callsUnderWay(records, at ?? lastSeq)
  const doing = calls?.doing ?? (at === null ? summary?.doing : undefined)
  return {
    state: chartState,
    waits: pending.some((one) => one.agentId === agentId),
    ...(last === undefined ? {} : { last }),
    ...(doing === undefined ? {} : { doing }),
  }
}

/** Counts the items that wait for people below an agent, in words: `2 approvals, 1 question`; empty if there are none. Pure. */
export function waitsBelow(pending: readonly Pending[], agentId: string): string {
  const below = pending.filter((one) => one.agentId !== agentId)
  const of = (kind: Pending['kind'], noun: string): string[] => {
    const count = below.filter((one) => one.kind === kind).length
    return count === 0 ? [] : [counted(count, noun)]
  }
  return [...of('approval', 'approval'), ...of('question', 'question'), ...of('call', 'call')].join(', ')
}

/** Returns the US dollars spent by an agent itself, and with everything below it, at the moment that is shown; 0 if no price is known. Pure. */
export function costsOf(
  { spent, ownCostUsd, at }: AgentViewState,
  summary: AgentSummary | undefined,
): { readonly own: number; readonly tree: number } {
  const live = at === null ? (summary?.treeSpent?.costUsd ?? 0) : 0
  return { own: ownCostUsd, tree: Math.max(spent.costUsd, live) }
}

/** Returns the usage of sub-agents that have not answered yet: it is in no run of the log. Pure. */
export function usedBelow(
  { spent, at }: Pick<AgentViewState, 'spent' | 'at'>,
  summary: Pick<AgentSummary, 'treeSpent'> | undefined,
): { readonly tokens: number; readonly costUsd: number } {
  const live = at === null ? summary?.treeSpent : undefined
  if (live === undefined) return { tokens: 0, costUsd: 0 }
  return {
    tokens: Math.max(0, totalTokens(live.usage) - totalTokens(spent.usage)),
    costUsd: Math.max(0, live.costUsd - spent.costUsd),
  }
}

/** Returns the facts about the agent at work; `now` in epoch milliseconds. Pure. */
export function viewNow(view: AgentViewState, summary: AgentSummary | undefined, now: number): NowFacts {
  const { records, lastSeq, run } = view
  const calls = callsUnderWay(records, lastSeq)
  const since = calls?.since ?? records[lastSeq - 1]?.time
  return {
    doing: standingWords(viewStanding(view, summary)),
    ...(run?.turnIndex === undefined ? {} : { turnIndex: run.turnIndex }),
    ...(since === undefined ? {} : { forMs: Math.max(0, now - since) }),
    ...(calls === null ? {} : { children: calls.children.length }),
    ...(summary?.contextTokens === undefined ? {} : { contextTokens: withoutGaps(summary.contextTokens) }),
    costUsd: costsOf(view, summary).tree,
    ...(run === null ? {} : { limits: run.limits }),
  }
}

/**
 * Describes how an agent at rest ended its last run, or how far it had come: `last run completed · 12 turns · 1.9 s
 * · $0.03`. `took`: times of its runs. Pure.
 */
export function restWords(
  { run, last }: Pick<AgentViewState, 'run' | 'last'>,
  took: ReadonlyMap<string, Took> = new Map(),
): string {
  if (run === null) return 'no run yet'
  const turns = counted(run.turns, 'turn')
  if (last === undefined) return `${turns} into a run`
  const why = last.error === undefined ? '' : `: ${oneLine(last.error.message)}`
  return [
    `last run ${endWords[last.stopReason]}${why}`,
    turns,
    ...(run.endedAt === undefined
      ? []
      : [tookWords(took.get(run.id) ?? { ms: run.endedAt - run.startedAt, waitedMs: 0 })]),
    ...(run.costUsd === 0 ? [] : [dollars(run.costUsd)]),
  ].join(' · ')
}

const endWords: { readonly [R in LastRun['stopReason']]: string } = {
  stop: 'completed',
  length: 'completed',
  refusal: 'rejected',
  paused: 'paused',
  aborted: 'aborted',
  error: 'failed',
}

const withoutGaps = ({ used, window }: NonNullable<AgentSummary['contextTokens']>) => ({
  used,
  ...(window === undefined ? {} : { window }),
})
