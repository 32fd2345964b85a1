import { addUsage, noUsage, type Usage } from '../../protocol/messages.ts'
import type { LogRecord, Spent } from '../../protocol/records.ts'

/** What an agent spent, a record at a time. */
export interface SpentFold {
  /** Of runs that are over, and of what happened between runs. */
  readonly before: Spent
  /** Of the run under way. */
  readonly run: Spent
}

const nothing: Spent = { usage: noUsage, costUsd: 0, turns: 0 }

export const nothingSpent: SpentFold = { before: nothing, run: nothing }

const plus = (a: Spent, b: Spent): Spent => ({
  usage: addUsage(a.usage, b.usage),
  costUsd: a.costUsd + b.costUsd,
  turns: a.turns + b.turns,
})

const of = (usage: Usage = noUsage, costUsd = 0): Spent => ({ usage, costUsd, turns: 0 })

/** All of it. */
export const totalSpent = ({ before, run }: SpentFold): Spent => plus(before, run)

/** What one record says was spent; of a sub-agent without its turns, which are its own. */
function spentBy(record: LogRecord): Spent | undefined {
  switch (record.type) {
    case 'turn.start':
      return { ...nothing, turns: 1 }
    case 'reply.end':
      return of(record.message.usage, record.costUsd)
    case 'reply.reset':
      return of(record.usage, record.costUsd)
    case 'compaction.end':
    case 'revert.applied':
      return of(record.usage, record.costUsd)
    case 'tool.end':
    case 'child.ended':
      return record.spent === undefined ? undefined : of(record.spent.usage, record.spent.costUsd)
    default:
      return undefined
  }
}

/** What was spent after one more record. The end of a run says what the run cost, which may be more than its parts told. Pure. */
export function foldSpent(fold: SpentFold, record: LogRecord): SpentFold {
  if (record.type === 'run.end') {
    const isMore = record.costUsd >= fold.run.costUsd
    const run = isMore ? { ...fold.run, usage: record.usage, costUsd: record.costUsd } : fold.run
    return { before: plus(fold.before, run), run: nothing }
  }
  const spent = spentBy(record)
  return spent === undefined ? fold : { ...fold, run: plus(fold.run, spent) }
}
