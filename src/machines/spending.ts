import { addUsage } from '../protocol/text/messageText.ts'
import type { Usage } from '../protocol/messages.ts'
import type { Spent } from '../protocol/records.ts'
import type { AgentContext, CallState, RunState } from './agentTypes.ts'

/** Returns a run with a usage added to the run and its turn. */
export const withUsage = (run: RunState, usage: Usage, costUsd: number): RunState => ({
  ...run,
  usage: addUsage(run.usage, usage),
  costUsd: run.costUsd + costUsd,
  turnUsage: addUsage(run.turnUsage, usage),
  turnCostUsd: run.turnCostUsd + costUsd,
})

/** Returns a run with the usage of a sub-agent added. */
export const withSpent = (run: RunState, { usage, costUsd, turns }: Spent): RunState => ({
  ...withUsage(run, usage, costUsd),
  childTurns: run.childTurns + turns,
})

/** Returns the usage of a paused call, which no record states before the call or the run has ended. */
export const untold = ({ status, used }: CallState): Spent | undefined => (status === 'paused' ? used : undefined)

/** Returns the run with everything spent in it, including paused calls. */
export function spentRun({ run, calls }: Pick<AgentContext, 'run' | 'calls'>): RunState | null {
  if (run === null) return null
  return calls.reduce((sum, call) => {
    const spent = untold(call)
    return spent === undefined ? sum : withSpent(sum, spent)
  }, run)
}
