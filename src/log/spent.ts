import type { Fold } from './fold.ts'
import type { Usage } from '../protocol/messages.ts'
import { addUsage, noUsage } from '../protocol/text/messageText.ts'
import type { LogRecord, Spent } from '../protocol/records.ts'

export const noneSpent: Spent = Object.freeze({ usage: noUsage, costUsd: 0, turns: 0 })

/** Returns the sum of two usages. */
export const addSpent = (a: Spent, b: Spent): Spent => ({
  usage: addUsage(a.usage, b.usage),
  costUsd: a.costUsd + b.costUsd,
  turns: a.turns + b.turns,
})

/** Usage of an agent, without the current run. */
export interface SpentSoFar {
  readonly spent: Spent
  readonly isInRun: boolean
}

export const notSpent: SpentSoFar = { spent: noneSpent, isInRun: false }

/**
 * Returns the usage of an agent once this record is in its log. A run's total lacks only the turns of sub-agents it called; other children belong
 * to no run.
 */
export function spentAfter(before: SpentSoFar, record: LogRecord): SpentSoFar {
  const { spent, isInRun } = before
  switch (record.type) {
    case 'run.start':
      return { spent, isInRun: true }
    case 'run.end': {
      const { unfinished = [], turns, usage, costUsd } = record
      const all = unfinished.reduce((sum, call) => sum + call.spent.turns, turns)
      return { spent: addSpent(spent, { usage, costUsd, turns: all }), isInRun: false }
    }
    case 'child.ended':
      if (record.inRun === true) return { spent: { ...spent, turns: spent.turns + record.spent.turns }, isInRun }
      return { spent: addSpent(spent, record.spent), isInRun }
    case 'tool.end':
      if (record.spent === undefined) return before
      return { spent: { ...spent, turns: spent.turns + record.spent.turns }, isInRun }
    case 'compaction.end':
    case 'revert.applied':
    case 'policy.end':
      return isInRun ? before : { spent: addSpent(spent, of(record.usage, record.costUsd)), isInRun }
    default:
      return before
  }
}

/** Fold over an agent's own log; leaves out the current run. */
export const spentFold: Fold<SpentSoFar> = { name: 'spent', isOwn: true, initial: () => notSpent, each: spentAfter }

/** Returns the difference between two amounts. */
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

/** Usage of an agent, including the current run. */
export interface SpentFold {
  readonly before: Spent
  /** Usage of the current run. */
  readonly run: Spent
}

export const nothingYet: SpentFold = { before: noneSpent, run: noneSpent }

const of = (usage: Usage = noUsage, costUsd = 0): Spent => ({ usage, costUsd, turns: 0 })

export const totalSpent = ({ before, run }: SpentFold): Spent => addSpent(before, run)

/** Returns the usage stated by a record. Leaves out the turns of a sub-agent, which count as its own. Pure. */
export function spentBy(record: LogRecord): Spent | undefined {
  switch (record.type) {
    case 'turn.start':
      return { ...noneSpent, turns: 1 }
    case 'reply.end':
      return of(record.message.usage, record.costUsd)
    case 'tool.end':
    case 'child.ended':
      return record.spent === undefined ? undefined : of(record.spent.usage, record.spent.costUsd)
    // The sum of a turn's or a run's own records.
    case 'turn.end':
    case 'run.end':
      return undefined
    default:
      return 'costUsd' in record ? of(record.usage, record.costUsd) : undefined
  }
}

/** Adds the usage of one more record. The end of a run states its total cost, which may exceed the sum of its parts. Pure. */
export function foldSpent(fold: SpentFold, record: LogRecord): SpentFold {
  if (record.type === 'run.start') return { before: totalSpent(fold), run: noneSpent }
  if (record.type === 'run.end') {
    const isMore = record.costUsd >= fold.run.costUsd
    const run = isMore ? { ...fold.run, usage: record.usage, costUsd: record.costUsd } : fold.run
    return { before: addSpent(fold.before, run), run: noneSpent }
  }
  const spent = spentBy(record)
  return spent === undefined ? fold : { ...fold, run: addSpent(fold.run, spent) }
}

/** Fold over a log; includes the current run. */
export const totalFold: Fold<SpentFold> = { name: 'total', initial: () => nothingYet, each: foldSpent }
