import type { ErrorInfo } from '../protocol/errors.ts'
import type { RestartPolicy } from '../protocol/runs/restarts.ts'
import type { AgentInput } from './agentTypes.ts'
import type { CallOutput, SubAgentInput } from './effectTypes.ts'

export interface OpenInput extends SubAgentInput {
  /** Number of earlier starts. */
  readonly life: number
}

/** The agent to run, or the answer to the call instead. */
export type OpenOutput =
  | { readonly ok: true; readonly agent: AgentInput; readonly policy: RestartPolicy }
  | { readonly ok: false; readonly output: CallOutput }

export type WatchOutput =
  | { readonly type: 'ended'; readonly output: CallOutput; readonly at: number }
  | { readonly type: 'crashed'; readonly error: ErrorInfo; readonly output: CallOutput; readonly at: number }

export interface SupervisorContext {
  readonly call: SubAgentInput
  readonly agent: AgentInput | null
  readonly policy: RestartPolicy | null
  /** Times of the last crashes, in epoch milliseconds, at most as many as restarts are allowed. */
  readonly crashes: readonly number[]
  readonly lives: number
  readonly isAborted: boolean
  readonly retryAt: number
  /** Answer to the call unless a better one comes. */
  readonly output: CallOutput
}

export type SupervisorEvent =
  | { readonly type: 'abort' | 'stop' | 'close' }
  | { readonly type: 'xstate.done.actor.agent' }
  | { readonly type: 'xstate.error.actor.agent'; readonly error: unknown }
