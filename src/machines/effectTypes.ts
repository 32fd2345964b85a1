import type { GraftRequest, PruneRequest, RevertRequest } from '../protocol/braking.ts'
import type { ErrorInfo } from '../protocol/errors.ts'
import type { GuardVerdict } from '../protocol/guarding.ts'
import type { NodeId } from '../protocol/ids.ts'
import type { AssistantMessage, Block, PlainBlock, ToolResultMessage, Usage } from '../protocol/messages.ts'
import type { ModelErrorKind, ModelSnapshot, RefusedPart } from '../protocol/model.ts'
import type { ToolsChange } from '../protocol/toolsChange.ts'
import type { AgentPolicy } from './agentPolicy.ts'
import type { Answer } from '../protocol/questions.ts'
import type { MemoryExtraction } from '../protocol/memoryExtraction.ts'
import type { ContextMessage } from '../protocol/queue.ts'
import type { RecordOf, RunStopReason, Spent } from '../protocol/records.ts'
import type { Limits } from '../protocol/runLimits.ts'
import type { LimitReason, PreparedTurn, TurnUse } from '../protocol/turns.ts'

export interface ReplyInput {
  readonly agentId: string
  readonly key: string
  readonly runId: string
  readonly turnIndex: number
  readonly attempt: number
  /** What a sub-agent may still use: a request that would exceed it is not made. */
  readonly left?: Pick<Limits, 'tokens' | 'costUsd'>
  /** One that said nothing was asked again already: whatever comes now stands. */
  readonly acceptsEmpty?: true
  /** Set with input guards: what people said after this node they have not looked at yet. */
  readonly guardedTo?: NodeId
}

/** What guards decided while a reply was made. */
interface Guarded {
  readonly guards?: readonly GuardVerdict[]
}

export interface PrepareInput {
  readonly agentId: string
  readonly key: string
  readonly runId: string
  readonly turnIndex: number
  /** Its number in the run, from 1. */
  readonly turn: number
  /** Of the run so far. */
  readonly spent: Spent
  readonly limits: Limits
  /** How the reply before it in this run ended. */
  readonly lastStopReason?: RunStopReason
  readonly use: TurnUse | null
  /** The run's last turn: it is to answer with what it has. */
  readonly limit?: LimitReason
}

/** What the sources of the agent's tools have for the turn, and what that makes of the machine. */
export interface TakenTools {
  readonly change?: ToolsChange
  readonly policy: AgentPolicy
}

/** What the agent's memory has for the turn, and what was put into it. */
export interface TakenMemory {
  /** Messages that follow what people said. */
  readonly recalled: readonly ContextMessage[]
  readonly extracted?: MemoryExtraction
}

/** What code decided about one turn. */
export type TurnDecision = Pick<PreparedTurn, 'by' | 'instructions' | 'tools' | 'model' | 'settings'>

export type PrepareOutput =
  | {
      readonly key: string
      readonly ok: true
      readonly decision: TurnDecision
      /** Missing without sources of tools. */
      readonly tools?: TakenTools
      /** Missing where the memory has nothing. */
      readonly memory?: TakenMemory
      readonly at: number
    }
  | { readonly key: string; readonly ok: false; readonly error: ErrorInfo; readonly at: number }

export interface PlannedCall {
  readonly callId: string
  readonly name: string
  readonly input: unknown
  /** The input is the model's as the tool gets it. */
  readonly isSettled?: true
  readonly needsApproval: boolean
}

export interface ReplyFailure {
  readonly kind: ModelErrorKind | 'badAnswer' | 'empty' | 'overBudget' | 'refused' | 'unguarded'
  readonly error: ErrorInfo
  /** The limit that the request would have exceeded. */
  readonly limit?: 'tokens' | 'costUsd'
  readonly retryAfterMs?: number
  /** The part that the provider refused the request for: it can do without. */
  readonly without?: RefusedPart
  /** The words to the model about an answer that does not match `output`, or is empty. */
  readonly repair?: string
  /** What a reply that arrived but could not be used cost. */
  readonly usage?: Usage
  readonly costUsd?: number
}

/** `at` is when it ended; `jitter` is a random number from 0 to 1 for the machine, which makes none itself. */
export type ReplyOutput =
  | ({
      readonly key: string
      readonly ok: true
      readonly message: AssistantMessage
      readonly calls: readonly PlannedCall[]
      readonly costUsd: number
      readonly estimatedTokens: number
      readonly contextTokens: number
      /** Missing with folding off. */
      readonly foldAt?: number
      /** What the answer was before a guard refused it. */
      readonly withheld?: NonNullable<RecordOf<'reply.end'>['withheld']>
      /** It is an answer that fits the agent's output schema. */
      readonly answer?: true
      readonly at: number
    } & Guarded)
  | ({
      readonly key: string
      readonly ok: false
      readonly failure: ReplyFailure
      readonly at: number
      readonly jitter: number
    } & Guarded)

export interface CallInput {
  readonly agentId: string
  readonly key: string
  readonly runId: string
  readonly turnIndex: number
  readonly callId: string
  readonly name: string
  readonly input: unknown
  /** To the questions that it asked before, in order, when it runs again. */
  readonly answers?: readonly Answer[]
  /** What a client returned for it: it is not run, only reviewed. */
  readonly returned?: Returned
}

/** A result that is not the machine's yet. */
export interface Returned extends Pick<CallOutput, 'content' | 'isError'> {
  /** The value of which the content shows a part. */
  readonly large?: { readonly value: unknown }
}

/** What a client returned for a call. */
export interface CallReturn extends Returned, Pick<CallOutput, 'tokens'> {
  /** A hook is to review it, or what it does not show is to be kept. */
  readonly isReviewed?: true
}

/** What `beforeTool` decides about a call: it runs, with its own or other arguments, or it is answered without being run. */
export type CallVerdict =
  | { readonly type: 'allowed'; readonly needsApproval: boolean }
  | { readonly type: 'edited'; readonly input: unknown; readonly needsApproval: boolean }
  | { readonly type: 'denied'; readonly reason: string }
  | { readonly type: 'answered'; readonly content: readonly PlainBlock[] }
  | { readonly type: 'failed'; readonly error: ErrorInfo }

export interface HookInput extends CallInput {
  /** Of the call; `key` is that of the question. */
  readonly callKey: string
}

export interface HookOutput {
  readonly key: string
  readonly verdict: CallVerdict
  /** What the answer adds to the next request. */
  readonly tokens: number
  readonly at: number
  /** The store failed before it could be asked. */
  readonly notStarted?: ErrorInfo
}

/** A definition that takes the conversation over. */
export interface Handoff {
  readonly to: string
  readonly policy: AgentPolicy
  readonly model: ModelSnapshot
}

export interface CallOutput {
  readonly key: string
  readonly content: readonly PlainBlock[]
  readonly isError: boolean
  readonly tokens: number
  readonly at: number
  /** The store failed before the call could start: it has not run yet. */
  readonly notStarted?: ErrorInfo
  /** Files the tool changed. */
  readonly changed?: readonly string[]
  /** What the tool kept to undo the call with. */
  readonly receipt?: NonNullable<ToolResultMessage['receipt']>
  /** The last block of the content is the runtime's, not the tool's. */
  readonly hasLesson?: true
  /** Said by a tool of the runtime, which brings nothing in from outside. */
  readonly ofRuntime?: true
  /** What of it is kept apart from the log. */
  readonly artifacts?: NonNullable<ToolResultMessage['artifacts']>
  /** Of an answer whose content is cut: all of it, for the effect that keeps it. */
  readonly whole?: string
  /** What `afterTool` did to the result. */
  readonly hook?: 'replaced' | 'withheld'
  /** The step is to stay in sight of the model. */
  readonly pins?: true
  /** Who is to have the conversation, and what that makes of the machine. */
  readonly handoff?: Handoff
  /** Waiting reports that the content holds. */
  readonly delivers?: readonly string[]
  /** What a brake tool requests; decided between turns. */
  readonly brake?: BrakeCall
  /** Used by a sub-agent since the last run that counted it. */
  readonly spent?: Spent
  /** The sub-agent used up what its caller gave it; with more it can continue. */
  readonly isOverAllowance?: boolean
  /** Why a child spawned by code is gone, if it did not end on its own. */
  readonly error?: ErrorInfo
  /** It was stopped or closed on purpose. */
  readonly stopped?: boolean
}

/** A sub-agent to be supervised, with the call that started it, or no call if code did. */
export interface SubAgentInput extends Omit<CallInput, 'callId'> {
  readonly callId: string | null
  readonly childId: string
  readonly allowance: Limits
}

/** A call of `revert_to_state`, `prun` or `graft`. */
export type BrakeCall =
  | ({ readonly type: 'revert' } & Omit<RevertRequest, 'id' | 'by'>)
  | ({ readonly type: 'prune' } & Omit<PruneRequest, 'id' | 'by'>)
  | ({ readonly type: 'graft' } & Omit<GraftRequest, 'id' | 'by'>)

export interface SettleInput {
  readonly agentId: string
  readonly key: string
  /** The reply that was in progress. */
  readonly replyKey: string | null
}

export interface SettleOutput {
  readonly key: string
  readonly at: number
  /** The part of the reply that had arrived, with its estimated usage. */
  readonly partial: {
    readonly content: readonly Block[]
    readonly usage: Usage
    readonly costUsd: number
    /** Id of the model that it is of, if that is not the agent's. */
    readonly model?: string
  } | null
  /** What aborted sub-agents had used, by the key of their call. */
  readonly spent: { readonly [key: string]: Spent }
}

export interface SleepInput {
  readonly key: string
  /** Epoch milliseconds. */
  readonly until: number
}
