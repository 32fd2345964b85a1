import type { AskedBrake, RequestOf } from '../protocol/brakes/brakeTable.ts'
import type { CallEffects } from '../protocol/callEffects.ts'
import type { ErrorInfo } from '../protocol/errors.ts'
import type { GuardVerdict } from '../protocol/guarding.ts'
import type { NodeId } from '../protocol/ids.ts'
import type { AssistantMessage, Block, PlainBlock, ToolResultMessage, Usage } from '../protocol/messages.ts'
import type { ModelErrorKind, ModelSnapshot, RefusedPart } from '../protocol/ports/model.ts'
import type { DataApart } from '../protocol/resultData.ts'
import type { ToolsChange } from '../protocol/toolsChange.ts'
import type { AgentPolicy } from './agentPolicy.ts'
import type { GivenAnswer, InnerDecision } from '../protocol/parts/inner/innerDecisions.ts'
import type { MemoryExtraction } from '../protocol/ports/memoryExtraction.ts'
import type { ContextMessage } from '../protocol/runs/queue.ts'
import type { RecordOf, RunStopReason, Spent } from '../protocol/records.ts'
import type { Limits } from '../protocol/runs/runLimits.ts'
import type { LimitReason, PreparedTurn, TurnUse } from '../protocol/bridge/turns.ts'

export interface ReplyInput {
  readonly agentId: string
  readonly key: string
  readonly runId: string
  readonly turnIndex: number
  readonly attempt: number
  /** Limits that a sub-agent may still use: a request that would exceed them is not made. */
  readonly left?: Pick<Limits, 'tokens' | 'costUsd'>
  /** Set once the model was asked again after an empty reply. The next reply then stands, whatever it is. */
  readonly acceptsEmpty?: true
  /** Set with input guards: the node up to which they have checked people's messages. */
  readonly guardedTo?: NodeId
}

/** Verdicts of guards made along with a reply. */
interface Guarded {
  readonly guards?: readonly GuardVerdict[]
}

export interface PrepareInput {
  readonly agentId: string
  readonly key: string
  readonly runId: string
  readonly turnIndex: number
  /** Number of the turn in the run, from 1. */
  readonly turn: number
  /** Usage of the run so far. */
  readonly spent: Spent
  readonly limits: Limits
  /** Stop reason of the previous reply in this run. */
  readonly lastStopReason?: RunStopReason
  readonly use: TurnUse | null
  /** Set in the run's last turn: the model is to answer with the results so far. */
  readonly limit?: LimitReason
}

/** Tools that the agent's sources offer for the turn, and the machine's policy with these tools. */
export interface TakenTools {
  readonly change?: ToolsChange
  readonly policy: AgentPolicy
}

/** Memories recalled for the turn, and those that were added to the agent's memory. */
export interface TakenMemory {
  /** Messages that follow people's messages. */
  readonly recalled: readonly ContextMessage[]
  readonly extracted?: MemoryExtraction
}

/** Decisions of code about one turn. */
export type TurnDecision = Pick<PreparedTurn, 'by' | 'instructions' | 'tools' | 'model' | 'settings'>

export type PrepareOutput =
  | {
      readonly key: string
      readonly ok: true
      readonly decision: TurnDecision
      /** Tools for the turn; missing without tool sources. */
      readonly tools?: TakenTools
      /** Memories for the turn; missing if there are none. */
      readonly memory?: TakenMemory
      readonly at: number
    }
  | { readonly key: string; readonly ok: false; readonly error: ErrorInfo; readonly at: number }

export interface PlannedCall {
  readonly callId: string
  readonly name: string
  readonly input: unknown
  /** Set if the input differs from the model's because the tool's schema changed it. */
  readonly isSettled?: true
  readonly needsApproval: boolean
  /** Reason, for the model, why the call would be in vain. The call is answered with it instead of being approved or run. */
  readonly mistake?: string
  /** Set if the call's arguments do not fit, so that it does not go to the background. */
  readonly misfits?: true
}

export interface ReplyFailure {
  readonly kind: ModelErrorKind | 'badAnswer' | 'empty' | 'overBudget' | 'refused' | 'unguarded'
  readonly error: ErrorInfo
  /** The limit that the request would have exceeded. */
  readonly limit?: 'tokens' | 'costUsd'
  readonly retryAfterMs?: number
  /** The part for which the provider refused the request, and which can be left out. */
  readonly without?: RefusedPart
  /** Message to the model about an answer that does not match `output`, or is empty. */
  readonly repair?: string
  /** Usage and cost of a reply that arrived but could not be used. */
  readonly usage?: Usage
  readonly costUsd?: number
}

/** Outcome of a reply. `at` is when it ended; `jitter` is a random number from 0 to 1 for the machine, which makes none itself. */
export type ReplyOutput =
  | ({
      readonly key: string
      readonly ok: true
      readonly message: AssistantMessage
      readonly calls: readonly PlannedCall[]
      readonly costUsd: number
      readonly estimatedTokens: number
      readonly contextTokens: number
      /** Window and prices of the model that answered, for the record of the reply. */
      readonly rates?: Pick<RecordOf<'reply.end'>, 'window' | 'prices'>
      /** Request tokens above which old steps are folded; missing with folding off. */
      readonly foldAt?: number
      /** The answer before a guard refused it. */
      readonly withheld?: NonNullable<RecordOf<'reply.end'>['withheld']>
      /** Set if the reply is an answer that fits the agent's output schema. */
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
  /** Answers to the tool's earlier questions, in order, when it runs again. */
  readonly answers?: readonly GivenAnswer[]
  /** Decisions about inner calls that it made before, when it runs again. */
  readonly decided?: readonly InnerDecision[]
  /** Id by which the model knows the call, if it works in the background. */
  readonly background?: string
  /** Result that a client returned for the call, which is then only reviewed, not run. */
  readonly returned?: Returned
}

/** A result that has not been passed to the machine yet. */
export interface Returned extends Pick<CallOutput, 'content' | 'isError'> {
  /** The whole value, if the content shows only a part of it. */
  readonly large?: { readonly value: unknown }
  /** The value, for a tool with `output` or `toModel`, and the data that came with it. */
  readonly given?: { readonly value: unknown; readonly data?: unknown }
}

/** A client's result for a call. */
export interface CallReturn extends Returned, Pick<CallOutput, 'tokens'> {
  /** Set if a hook is to review the result, or the part that the content does not show is to be kept. */
  readonly isReviewed?: true
}

/** The rule that decided about a call, if any. `suggest`: rules that would have allowed it. */
interface Ruled {
  readonly rule?: string
  /** `seq` of the last change to people's permission rules at the time of the verdict. */
  readonly judgedAt?: number
  readonly suggest?: readonly string[]
}

/**
 * Decision of the rules and of `beforeTool` about a call. The call runs, with its own or other arguments, or is
 * answered without being run. `refused`: by a rule; `mistaken`: by the check of its tool.
 */
export type CallVerdict =
  | ({ readonly type: 'allowed'; readonly needsApproval: boolean } & Ruled)
  | ({ readonly type: 'edited'; readonly input: unknown; readonly needsApproval: boolean } & Ruled)
  | { readonly type: 'refused' | 'mistaken'; readonly text: string }
  | { readonly type: 'denied'; readonly reason: string }
  | { readonly type: 'answered'; readonly content: readonly PlainBlock[] }
  | { readonly type: 'failed'; readonly error: ErrorInfo }

export interface HookInput extends CallInput {
  /** Key of the call; `key` is the key of the question. */
  readonly callKey: string
}

export interface HookOutput {
  readonly key: string
  readonly verdict: CallVerdict
  /** Tokens that the answer adds to the next request. */
  readonly tokens: number
  readonly at: number
  /** Error of a store that failed before the hook could be asked. */
  readonly notStarted?: ErrorInfo
}

/** A definition that takes the conversation over. */
export interface Handoff {
  readonly to: string
  readonly policy: AgentPolicy
  readonly model: ModelSnapshot
}

export interface CallOutput extends CallEffects {
  readonly key: string
  readonly content: readonly PlainBlock[]
  readonly isError: boolean
  readonly tokens: number
  readonly at: number
  /** Error of a store that failed before the call could start. The call has not run yet. */
  readonly notStarted?: ErrorInfo
  /** Set if the last block of the content is the runtime's, not the tool's. */
  readonly hasLesson?: true
  /** Set if the content comes from a tool of the runtime, which brings nothing in from outside. */
  readonly ofRuntime?: true
  /** Data for the application, which no request to a model contains. */
  readonly data?: unknown
  readonly dataApart?: DataApart
  /** Set if the result ends the run. `answer`: set if it also fits the agent's output schema. */
  readonly endsRun?: boolean
  readonly answer?: true
  /** Value of a call that ends the run, if `data` has more than the value. */
  readonly value?: unknown
  /** The whole content of an answer that is cut, for the effect that keeps it. */
  readonly whole?: string
  /** Effect of `afterTool` on the result. */
  readonly hook?: 'replaced' | 'withheld'
  /** Set if the step is to stay visible to the model. */
  readonly pins?: true
  /** The definition that takes the conversation over, with its policy for the machine. */
  readonly handoff?: Handoff
  /** Waiting reports that the content holds. */
  readonly delivers?: readonly string[]
  /** Request of a brake tool; decided between turns. */
  readonly brake?: BrakeCall
  /** Usage of a sub-agent since the last run that counted it. */
  readonly spent?: Spent
  /** True if the sub-agent used up its caller's allowance; with more it can continue. */
  readonly isOverAllowance?: boolean
  /** Error of a child spawned by code that did not end on its own. */
  readonly error?: ErrorInfo
  /** True if the child was stopped or closed on purpose. */
  readonly stopped?: boolean
}

/** A sub-agent to be supervised, with the call that started it; `callId` is `null` if code did. */
export interface SubAgentInput extends Omit<CallInput, 'callId'> {
  readonly callId: string | null
  readonly childId: string
  readonly allowance: Limits
  /** Set if a running call calls the sub-agent. That call reviews the answer. */
  readonly isInner?: true
}

/** A call of a brake's tool, such as `revert_to_state`. */
export type BrakeCall = {
  readonly [K in AskedBrake]: { readonly type: K } & Omit<RequestOf<K>, 'id' | 'by'>
}[AskedBrake]

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
    /** Id of the model that made the partial reply, if it is not the agent's. */
    readonly model?: string
  } | null
  /** Printed output of aborted calls, for the model, by call id. */
  readonly printed?: { readonly [callId: string]: string }
  /** Receipts of aborted calls, by call id. */
  readonly receipts?: { readonly [callId: string]: NonNullable<ToolResultMessage['receipt']> }
  /** Usage of aborted sub-agents, by the key of their call. */
  readonly spent: { readonly [key: string]: Spent }
}

export interface SleepInput {
  readonly key: string
  /** End of the sleep, in epoch milliseconds. */
  readonly until: number
}
