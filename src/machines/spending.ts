import { addUsage } from '../protocol/text/messageText.ts'
import type { Spent } from '../protocol/records.ts'
import type { RunState } from './agentTypes.ts'
import type { Draft } from './draft.ts'

/** Returns the sum of two usages. */
export const addSpent = (a: Spent, b: Spent): Spent => ({
  usage: addUsage(a.usage, b.usage),
  costUsd: a.costUsd + b.costUsd,
  turns: a.turns + b.turns,
})

/** Counts the usage of a model call towards the turn and the run. */
export function spend(draft: Draft, usage: RunState['usage'], costUsd: number): void {
  const run = draft.context.run
  if (run === null) return
  draft.setRun({
    usage: addUsage(run.usage, usage),
    costUsd: run.costUsd + costUsd,
    turnUsage: addUsage(run.turnUsage, usage),
    turnCostUsd: run.turnCostUsd + costUsd,
  })
}

/** Counts the usage of a sub-agent. */
export function spendByChild(draft: Draft, { usage, costUsd, turns }: Spent): void {
  spend(draft, usage, costUsd)
  draft.setRun({ childTurns: (draft.context.run?.childTurns ?? 0) + turns })
}
