import { addSpent } from '../log/spent.ts'
import { addUsage } from '../protocol/text/messageText.ts'
import type { Spent } from '../protocol/records.ts'
import type { RunState } from './agentTypes.ts'
import type { Draft } from './draft.ts'

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

/** Adds usage of a sub-agent to what runs have counted of its call. */
export const withCounted = <C extends { readonly counted?: Spent }>(
  call: C,
  used: Spent,
): C & { readonly counted: Spent } => ({
  ...call,
  counted: call.counted === undefined ? used : addSpent(call.counted, used),
})
