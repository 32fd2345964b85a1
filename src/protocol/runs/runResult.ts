import type { ErrorInfo } from '../errors.ts'
import type { Refusal } from '../guarding.ts'
import type { Usage } from '../messages.ts'
import type { PauseReason } from '../records.ts'
import type { LimitReason } from '../bridge/turns.ts'

/** Fields that every result of a run has. */
interface RunTotals {
  /** The text of the last reply. */
  readonly text: string
  /** Id of the run; empty if the run never started. */
  readonly runId: string
  /** The agent's own model turns in this run. */
  readonly turns: number
  /** Model turns of the sub-agents that the run called. Together with `turns` they count towards `limits.turns`. */
  readonly childTurns: number
  /** Tokens used by the run and by the sub-agents that it called. */
  readonly usage: Usage
  /** Cost of everything in `usage`, in US dollars; 0 without prices. */
  readonly costUsd: number
}

/** Result of a run in which the agent gave its answer. */
export interface AnsweredRun<Output = unknown> extends RunTotals {
  readonly stopReason: 'stop'
  /** The answer as data; `undefined` for an agent without an `output` schema. */
  readonly output: Output
  /** The limit that was reached, if the answer was given because of `onLimit: 'answer'`. */
  readonly reason?: LimitReason | undefined
  readonly error?: undefined
}

/** Result of a run that is paused and can be continued with `agent.resume()`. */
export interface PausedRun extends RunTotals {
  readonly stopReason: 'paused'
  /** Reason for the pause. */
  readonly reason: PauseReason
  /** Error of the store, if that is the reason for the pause. */
  readonly error?: ErrorInfo | undefined
  readonly output?: undefined
}

/** Result of a run that failed, or was refused before it began. */
export interface FailedRun extends RunTotals {
  readonly stopReason: 'error'
  readonly error: ErrorInfo
  readonly reason?: undefined
  readonly output?: undefined
}

/** Result of a run without a complete answer. `length`: the reply was cut off at its maximum length. `refusal`: the model or a guard refused. */
export interface UnansweredRun extends RunTotals {
  readonly stopReason: 'length' | 'refusal'
  /** Refusal by a guard, with its reason; missing if the model refused. `text` has a line about it, or is empty. */
  readonly refusal?: Refusal
  /** The reached limit, if this is the outcome of the run's last turn. */
  readonly reason?: LimitReason | undefined
  readonly error?: undefined
  readonly output?: undefined
}

/** Result of a run that was aborted, or dropped before it began. */
export interface AbortedRun extends RunTotals {
  readonly stopReason: 'aborted'
  readonly error?: ErrorInfo | undefined
  readonly reason?: undefined
  readonly output?: undefined
}

/**
 * Result of a run, distinguished by `stopReason`. A failed model is a result, never a rejection.
 *
 * @example
 * ```ts
 * const result = await agent.prompt('Rate this answer').result
 * if (result.stopReason === 'stop') console.log(result.output)
 * else if (result.stopReason === 'paused') console.log(result.reason.type)
 * else console.log(result.stopReason, result.error?.message)
 * ```
 */
export type RunResult<Output = unknown> = AnsweredRun<Output> | PausedRun | FailedRun | UnansweredRun | AbortedRun
