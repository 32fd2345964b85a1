import { limitUses, type LimitUse } from '../../../../../charts/src/limitUse.ts'
import { WorkTimes } from '../../../../../charts/src/workTimes.ts'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import { totalTokens } from '../../../../../../src/protocol/text/messageText.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import type { Limits } from '../../../../../../src/protocol/runs/runLimits.ts'
import { foldSpent, nothingYet, totalSpent } from '../../../../../../src/log/spent.ts'

/**
 * Returns the limits of the last run in the first `end` records, and how much of each is used at `now` (epoch milliseconds), sub-agents that reported
 * included. Empty without a run or limits. Time that calls waited for people does not count. Pure.
 */
export function limitsUse(records: readonly LogRecord[], end: number, now: number): readonly LimitUse[] {
  const last = Math.min(end, records.length)
  let start = last - 1
  while (start >= 0 && records[start]!.type !== 'run.start') start -= 1
  const first = records[start]
  if (first?.type !== 'run.start') return []
  const limits: Limits = first.limits
  if (limitUses(limits, { turns: 0, tokens: 0, costUsd: 0, ms: 0 }).length === 0) return []
  const times = new WorkTimes()
  let spent = nothingYet
  let ms: number | undefined
  let childTurns = 0
  for (let at = start; at < last; at += 1) {
    const record = records[at]!
    const took = times.take(record as AgentEvent)
    // Of sub-agents that code started no run pays.
    const isPaid = record.type !== 'child.ended' || record.inRun === true
    if (isPaid) spent = foldSpent(spent, record)
    if (record.type === 'tool.end' || (record.type === 'child.ended' && isPaid)) childTurns += record.spent?.turns ?? 0
    if (record.type !== 'run.end') continue
    childTurns += (record.unfinished ?? []).reduce((sum, call) => sum + call.spent.turns, 0)
    ms = took?.ms
    break
  }
  const { usage, costUsd, turns } = totalSpent(spent)
  const used = {
    turns: turns + childTurns,
    tokens: totalTokens(usage),
    costUsd,
    ms: ms ?? times.runUntil(now)?.ms ?? 0,
  }
  return limitUses(limits, used)
}
