import { addSpent } from '../machines/spending.ts'
import { noUsage } from '../protocol/messages.ts'
import type { LogRecord, Spent } from '../protocol/records.ts'

export const noneSpent: Spent = Object.freeze({ usage: noUsage, costUsd: 0, turns: 0 })

/** What an agent has spent once this record is in its log. A run tells all but the turns of sub-agents it called; children that code gave are in no run. */
export function spentAfter(spent: Spent, record: LogRecord): Spent {
  if (record.type === 'run.end') {
    const { unfinished = [], turns, usage, costUsd } = record
    return addSpent(spent, { usage, costUsd, turns: unfinished.reduce((sum, call) => sum + call.spent.turns, turns) })
  }
  if (record.type === 'child.ended') return addSpent(spent, record.spent)
  if (record.type !== 'tool.end') return spent
  return record.spent === undefined ? spent : { ...spent, turns: spent.turns + record.spent.turns }
}

/** What was spent since. */
export const lessSpent = (after: Spent, before: Spent): Spent => ({
  usage: {
    input: after.usage.input - before.usage.input,
    output: after.usage.output - before.usage.output,
    cacheRead: after.usage.cacheRead - before.usage.cacheRead,
    cacheWrite: after.usage.cacheWrite - before.usage.cacheWrite,
    ...(after.usage.reasoning === undefined
      ? {}
      : { reasoning: after.usage.reasoning - (before.usage.reasoning ?? 0) }),
    ...(after.usage.estimated === true ? { estimated: true } : {}),
  },
  costUsd: Math.max(0, after.costUsd - before.costUsd),
  turns: after.turns - before.turns,
})
