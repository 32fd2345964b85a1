import type { ErrorInfo } from '../protocol/errors.ts'
import type { AgentInput, CallOutput, SubAgentInput } from './agentTypes.ts'

/** What becomes of a sub-agent that crashed: a thrown defect, a lost process, a stall. */
export interface RestartPolicy {
  /** `permanent` also begins a child anew that ended by itself, unless it was a call's. */
  readonly restart: 'never' | 'transient' | 'permanent'
  /** More crashes than this within `windowMs` and it is given up. */
  readonly maxRestarts: number
  readonly windowMs: number
  /** The first wait; each further one in the window doubles. */
  readonly backoffMs: number
}

export interface OpenInput extends SubAgentInput {
  /** How often it was begun before. */
  readonly life: number
}

/** The agent to be run, or what the call is answered with instead. */
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
  /** When it crashed last, in epoch milliseconds: no more than restarts are allowed. */
  readonly crashes: readonly number[]
  readonly lives: number
  readonly isAborted: boolean
  readonly retryAt: number
  /** What the call is answered with if nothing better comes. */
  readonly output: CallOutput
}

export type SupervisorEvent =
  | { readonly type: 'abort' | 'stop' | 'close' }
  | { readonly type: 'xstate.done.actor.agent' }
  | { readonly type: 'xstate.error.actor.agent'; readonly error: unknown }
