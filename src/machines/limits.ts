import { addUsage, noUsage, totalTokens } from '../protocol/messages.ts'
import type { Limits } from '../protocol/runs/runLimits.ts'
import type { LimitReason } from '../protocol/bridge/turns.ts'
import type { AgentContext, RunState } from './agentTypes.ts'
import type { ReplyFailure } from './effectTypes.ts'

/** Returns the state of a run at its start. */
export const newRun = (runId: string, requestId: string, limits: Limits, now: number): RunState => ({
  runId,
  requestId,
  limits,
  unsaid: 0,
  turns: 0,
  usage: noUsage,
  costUsd: 0,
  childTurns: 0,
  deadline: limits.ms === undefined ? null : now + limits.ms,
  deadlinePassed: false,
  timers: 0,
  attempt: 0,
  retryAt: 0,
  overflowed: false,
  badAnswers: 0,
  fallbacks: 0,
  lastError: null,
  turnUsage: noUsage,
  turnCostUsd: 0,
  lastStopReason: 'stop',
  abortedBy: null,
})

/** State of an agent that has no run waiting to be continued. */
export const nothingPaused = { pause: null, pausedRun: null, pausedLimits: null, givenLimits: null } as const

/** Returns the limits that a run may still use, so that a crash gives no fresh allowance. Never zero, because the next check pauses the run. */
export function remainingLimits(run: RunState, now: number): Limits {
  const { limits, turns, childTurns, usage, costUsd, deadline } = run
  const left: Limits = limits.onLimit === undefined ? {} : { onLimit: limits.onLimit }
  if (limits.turns !== undefined) left.turns = Math.max(1, limits.turns - turns - childTurns)
  if (limits.tokens !== undefined) left.tokens = Math.max(1, limits.tokens - totalTokens(usage))
  if (limits.costUsd !== undefined) left.costUsd = Math.max(Number.EPSILON, limits.costUsd - costUsd)
  if (deadline !== null) left.ms = Math.max(1, deadline - now)
  return left
}

/** Returns the limit reached by an answer that does not match and is then not requested again. Leaves out turns, which are counted per turn. */
export function limitAfter(
  { limits, ...run }: RunState,
  { usage = noUsage, costUsd = 0 }: ReplyFailure,
): LimitReason | undefined {
  const { turns: _, ...rest } = limits
  return reachedLimit({ ...run, limits: rest, usage: addUsage(run.usage, usage), costUsd: run.costUsd + costUsd })
}

/**
 * Returns the limits that a sub-agent may still use. A root stops after the reply that exceeds a limit; a sub-agent, whose caller pays, before it.
 */
export function budgetLeft({ task, run }: AgentContext): { left?: Pick<Limits, 'tokens' | 'costUsd'> } {
  // The last answer is asked for whatever is left.
  if (task === null || run === null || run.answer?.isAsked === true) return {}
  const { tokens, costUsd } = run.limits
  if (tokens === undefined && costUsd === undefined) return {}
  return {
    left: {
      ...(tokens === undefined ? {} : { tokens: Math.max(0, tokens - totalTokens(run.usage)) }),
      ...(costUsd === undefined ? {} : { costUsd: Math.max(0, costUsd - run.costUsd) }),
    },
  }
}

/** Returns the first limit that the run has reached, if any. */
export function reachedLimit(run: RunState): LimitReason | undefined {
  if (run.answer !== undefined) return run.answer.limit
  const used = { turns: run.turns + run.childTurns, tokens: totalTokens(run.usage), costUsd: run.costUsd } as const
  for (const limit of ['turns', 'tokens', 'costUsd'] as const) {
    const allowed = run.limits[limit]
    if (allowed !== undefined && used[limit] >= allowed) return { type: 'limit', limit, allowed, used: used[limit] }
  }
  return run.deadlinePassed ? deadlineReason(run) : undefined
}

/** Returns true if the run has a last turn to answer after a limit, and has not begun it. */
export const mayAnswer = ({ limits, answer }: RunState): boolean =>
  limits.onLimit === 'answer' && answer?.isAsked !== true

export const deadlineReason = (run: RunState): LimitReason => ({
  type: 'limit',
  limit: 'ms',
  allowed: run.limits.ms ?? 0,
  used: run.limits.ms ?? 0,
})
