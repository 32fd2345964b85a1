import { savingsOf, treeSavings } from '../../../sessions/src/savings/savings.ts'
import { recallName } from '../../../../src/conversation/tree/stepText.ts'
import { WorkTimes } from '../../../charts/src/workTimes.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { LogRecord, RecordOf } from '../../../../src/protocol/records.ts'
import type { TrialMetrics } from '../results.ts'
import { prefixBreaks } from './prefixBreaks.ts'
import { repeatedAbandoned } from './repeatedAbandoned.ts'

/** Predicates of the records that are counted, by metric. */
const counters: Readonly<Record<Counted, (record: LogRecord) => boolean>> = {
  turns: ({ type }) => type === 'turn.start',
  calls: ({ type }) => type === 'tool.start',
  failedCalls: (record) =>
    record.type === 'tool.end' && record.message.isError && record.message.synthetic === undefined,
  recalls: (record) => record.type === 'tool.start' && record.name === recallName,
  reverts: (record) => record.type === 'revert.applied' && record.applied,
  prunes: (record) => record.type === 'prune.applied' && record.applied && record.by === undefined,
  folds: (record) => record.type === 'prune.applied' && record.applied && record.by === 'runtime',
  compactions: (record) => record.type === 'compaction.end' && record.applied,
  stalls: ({ type }) => type === 'stall.detected',
}
type Counted = 'turns' | 'calls' | 'failedCalls' | 'recalls' | 'reverts' | 'prunes' | 'folds' | 'compactions' | 'stalls'

/**
 * Measures a trial by its logs. The first log is that of its agent, the others are those of the agents below it, in any order. Costs are those that
 * the runs recorded, by their prices at the time; `isPriced`: the runs had prices. Pure.
 *
 * @throws RuntimeError `LOG_CORRUPT` if a record does not follow from those before it.
 */
export function metricsOf(
  logs: readonly (readonly LogRecord[])[],
  { isPriced }: { readonly isPriced: boolean },
): TrialMetrics {
  const { spent, tokens, usd } = treeSavings(logs.map(savingsOf))
  const { requests, usage, costUsd } = spent
  const input = usage.input + usage.cacheRead + usage.cacheWrite
  const breaks = logs.flatMap((records) => prefixBreaks(records) ?? [])
  return {
    ...countsIn(logs),
    requests,
    usage,
    costUsd: isPriced ? costUsd : null,
    savedTokens: tokens,
    savedUsd: usd,
    peakTokens: peakOf(logs),
    cachedShare: input === 0 ? 0 : usage.cacheRead / input,
    repeatedAbandoned: logs.reduce((sum, records) => sum + repeatedAbandoned(records, pastOf(records, logs)), 0),
    prefixBreaks: breaks.length === 0 ? null : breaks.reduce((sum, count) => sum + count, 0),
    runMs: runTime(logs[0] ?? []),
  }
}

function countsIn(logs: readonly (readonly LogRecord[])[]): Pick<TrialMetrics, Counted> {
  const names = Object.keys(counters) as Counted[]
  const counts = Object.fromEntries(names.map((name) => [name, 0])) as Record<Counted, number>
  for (const records of logs)
    for (const record of records) for (const name of names) if (counters[name](record)) counts[name] += 1
  return counts
}

function peakOf(logs: readonly (readonly LogRecord[])[]): number {
  let peak = 0
  for (const records of logs)
    for (const record of records) if (record.type === 'reply.end') peak = Math.max(peak, sizeOf(record))
  return peak
}

/** Returns the size of a request in tokens: the provider's count, else the estimate. */
function sizeOf({ message, estimatedTokens }: RecordOf<'reply.end'>): number {
  const { input, cacheRead, cacheWrite } = message.usage
  return input + cacheRead + cacheWrite || estimatedTokens
}

/** Returns the milliseconds of all runs together, without waits for people. */
function runTime(records: readonly LogRecord[]): number {
  const times = new WorkTimes()
  let ms = 0
  for (const record of records) {
    const took = times.take(record as AgentEvent)
    if (record.type === 'run.end' && took !== undefined) ms += took.ms
  }
  return ms
}

/** Returns the records that a fork shares with its sources, as far as the sources' logs are given. */
function pastOf([first]: readonly LogRecord[], logs: readonly (readonly LogRecord[])[]): readonly LogRecord[] {
  const forkedFrom = first?.type === 'agent.created' ? first.forkedFrom : undefined
  const source = logs.find(([other]) => other?.type === 'agent.created' && other.agentId === forkedFrom?.agentId)
  if (forkedFrom === undefined || source === undefined) return []
  return [...pastOf(source, logs), ...source.filter(({ seq }) => seq <= forkedFrom.seq)]
}
