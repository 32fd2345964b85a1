import { noUsage } from '../protocol/messages.ts'
import type { Limits } from '../protocol/runs/runLimits.ts'
import type { RunState } from './agentTypes.ts'

/** A run at its start. */
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

/** State of an agent without a run that waits to be continued. */
export const nothingPaused = { pause: null, pausedRun: null, pausedLimits: null, givenLimits: null } as const
