import type { BrakeEvent, BrakeQueues } from '../protocol/brakes/brakeTable.ts'
import type { CompactionRequest, PolicyRequest, PolicyStart } from '../protocol/braking.ts'
import type { ErrorInfo } from '../protocol/errors.ts'
import type { Refusal } from '../protocol/guarding.ts'
import type { NodeId } from '../protocol/ids.ts'
import type { GivenAnswer, InnerDecision, InnerRequest } from '../protocol/parts/inner/innerDecisions.ts'
import type { Question } from '../protocol/questions.ts'
import type { Undoing } from '../protocol/undoLedger.ts'
import type { Metadata } from '../protocol/metadata.ts'
import type { PlainBlock, ToolCallBlock, Usage } from '../protocol/messages.ts'
import type { ModelSnapshot } from '../protocol/ports/model.ts'
import type { ParentLink } from '../protocol/parentLink.ts'
import type { QueuedMessage } from '../protocol/runs/queue.ts'
import type { PauseReason, RecordOf, RunStopReason, Spent } from '../protocol/records.ts'
import type { Limits } from '../protocol/runs/runLimits.ts'
import type { LimitReason, TurnUse } from '../protocol/bridge/turns.ts'
import type { Grant } from '../protocol/parts/permissions/permissionRecords.ts'
import type { AgentPolicy } from './agentPolicy.ts'
import type { PartDraft, PartStates } from './partStates.ts'
import type { CallStatus } from './callStatus.ts'
import type { Reporter } from './reporters.ts'
import type { InnerEvent } from './innerEvents.ts'
import type { TimeEvent } from './schedulePlans.ts'
import type { CallOutput, CallReturn, HookOutput, ReplyFailure, SleepInput, Handoff } from './effectTypes.ts'

export interface CallState {
  readonly callId: string
  readonly name: string
  readonly input: unknown
  /** Set if the model made the call through `call_tool`. */
  readonly via?: ToolCallBlock['via']
  /** Deterministic id of the call: only a result with this key counts. */
  readonly key: string
  readonly nodeId: NodeId
  readonly status: CallStatus
  /** Time until which the call sleeps, in epoch milliseconds. */
  readonly until?: number
  /** Set if the call runs again at that time. */
  readonly goesOn?: true
  /** The last question that the tool asked. */
  readonly question?: Question
  /** Set while the result that a client gave is under review. */
  readonly returned?: RecordOf<'tool.end'>['returned']
  /** Answers to the earlier questions, in order: given to a call that runs again. */
  readonly answers?: readonly GivenAnswer[]
  /** Inner call that waits for an approval, while this call waits for the inner one. */
  readonly asks?: InnerRequest
  /** Decisions about inner calls, given to a call that runs again. */
  readonly decided?: readonly InnerDecision[]
  /** Reason not to run the call, whatever people decide: its reply was incomplete. */
  readonly unfit?: string
  /** Set once `beforeTool` has let the call through. */
  readonly beforeTool?: true
  /** The rule by which the call runs or waits, once decided. */
  readonly rule?: string
  /** Rules that would allow a call that waits for an approval. */
  readonly suggest?: readonly string[]
  /** Set if an approval was requested and the effect of the call cannot be undone. */
  readonly irreversible?: true
  /** Source of the last change to the input. `tool`: the tool's schema. */
  readonly edited?: 'tool' | 'hook' | 'person'
  /** Id of the sub-agent that executes the call, and the share of the run's limits that it may use. */
  readonly childId?: string
  readonly allowance?: Limits
  /** Set if that sub-agent works on its own and answers with a report. */
  readonly reports?: true
  /** Id by which the model knows the call in the background, if it continues there. */
  readonly background?: string
  /** Set if the arguments do not fit, so that the call is answered at once, not in the background. */
  readonly misfits?: true
  /** Set if the report came before the call had its result. */
  readonly reported?: true
  /** Sub-agent usage counted on runs that their limit ended and, if paused (`used`), still to be counted on the current run. */
  readonly counted?: Spent
  readonly used?: Spent
  /** Set if the call's result hands the conversation over, which happens once the step has ended. */
  readonly handsOver?: true
  /** Set if the call could have ended the run, but failed. */
  readonly failsToEnd?: true
  /** A person's decision about an approval. */
  readonly decision?: { readonly type: 'approve' | 'deny'; readonly reason?: string }
}

/** A child spawned by code, or by a running call. */
export interface AttachedChild {
  readonly childId: string
  readonly slot: string
  readonly key: string
  /** Share of the run's limits, for a child that a running call called. */
  readonly allowance?: Limits
}

export interface RunState {
  readonly runId: string
  readonly requestId: string
  readonly limits: Limits
  /** Number of messages that start the run but are not in the log yet. */
  readonly unsaid: number
  readonly turns: number
  readonly usage: Usage
  readonly costUsd: number
  /** Turns of sub-agents, which count towards the limit. */
  readonly childTurns: number
  /** Absolute end of the wall-time allowance, in epoch milliseconds; `null` without one. */
  readonly deadline: number | null
  readonly deadlinePassed: boolean
  /** Number of times the deadline timer was set or stopped. The end of an older timer no longer counts. */
  readonly timers: number
  /** Number of times the conversation was handed over; missing if never. */
  readonly handoffs?: number
  /** Attempts made at the current reply. */
  readonly attempt: number
  /** Time at which the next attempt may start, in epoch milliseconds. */
  readonly retryAt: number
  readonly overflowed: boolean
  /** Attempts at the current reply whose answer did not match `output`. */
  readonly badAnswers: number
  /** Number of failed attempts at the current reply that were repeated at once by another model or without a rejected part. */
  readonly fallbacks: number
  /** Error of the last failed attempt. */
  readonly lastError: ErrorInfo | null
  /** Usage and cost of the current turn. */
  readonly turnUsage: Usage
  readonly turnCostUsd: number
  readonly lastStopReason: RunStopReason
  /** Number of consecutive replies that were cut off in their calls; missing if the last was not. */
  readonly cutReplies?: number
  /** Refusal by a guard, with which the run ends. */
  readonly refusal?: Refusal
  /** Id of the command that aborts the run, if it came from a remote client. */
  readonly abortedBy: string | null
  /** Limits given by the run's prompt; for a run that continues another, those given to the first run. */
  readonly given?: Limits
  /** Limit that was reached and after which the run is to answer. `isAsked`: the turn for that answer, which is the last, has begun. */
  readonly answer?: { readonly limit: LimitReason; readonly isAsked: boolean }
}

/** State of the agent's request parameters, in addition to its definition. */
export interface FrameState {
  readonly use: TurnUse | null
  /** The newest instructions in the log. */
  readonly instructions: string | null
  /** Names of the tools and sub-agents that the current turn offers; `null`: all of them. */
  readonly offered: readonly string[] | null
}

/** State that follows from the records of an agent. Only their fold changes it, except for its live fields. */
export interface LoggedContext {
  readonly runs: number
  /** Turns started in the agent's lifetime; the current one's index is this minus one. */
  readonly turns: number
  readonly isTurnOpen: boolean
  /** True if the trunk ends with something that the model has not answered. */
  readonly owesReply: boolean
  /** Newest result on the trunk, if it ends the run and no message has followed. */
  readonly endedBy: NonNullable<RecordOf<'run.end'>['endedBy']> | null
  /** Last node up to which the input guards have decided about people's messages. */
  readonly guardedTo?: NodeId
  readonly run: RunState | null
  /** Request parameters beyond the definition; `null` while only the definition decides. */
  readonly frame: FrameState | null
  /** Run that a pause ended and that may be continued. */
  readonly pausedRun: string | null
  /** Limits that the paused run may still use, if it did not end on its own. */
  readonly pausedLimits: Limits | null
  /** Limits given by the prompt of the run that a pause or a failure ended. */
  readonly givenLimits: Limits | null
  /** The last run, if it failed and its prompt is still to be answered. */
  readonly failedRun: string | null
  readonly calls: readonly CallState[]
  /** Number of sub-agents started in the agent's lifetime, which is the next one's number. */
  readonly children: number
  /** Number of calls that went to the background in the agent's lifetime; missing if none did. */
  readonly backgrounds?: number
  /** Agents and background calls whose reports are to come. */
  readonly reporters: readonly Reporter[]
  readonly pause: PauseReason | null
  readonly isCompacting: boolean
  /** Compactions started in the agent's lifetime. */
  readonly compactions: number
  /** Time of the newest reply, in epoch milliseconds; `null` before the first. */
  readonly repliedAt: number | null
  /** Undo in progress for the last revert. */
  readonly undoing: Undoing | null
  /** States of the parts that have records. */
  readonly parts: PartStates
  /** Policy that has fired and has not ended. */
  readonly consulting: { readonly policy: string; readonly requestId?: string } | null
}

/** State that dies with the process or is restored from elsewhere, and is set directly. Brake queues hold requests not yet drained. */
export interface LiveContext extends BrakeQueues {
  readonly agentId: string
  readonly path: readonly string[]
  readonly definition: string
  readonly model: ModelSnapshot
  readonly policy: AgentPolicy
  /** Set if rules of an agent above this one also decide about its calls. */
  readonly isGoverned?: true
  /** `seq` of the last record. */
  readonly seq: number
  /** The node that the next message is appended to, and the highest id used so far. */
  readonly head: NodeId | null
  readonly lastNodeId: NodeId
  /** Command that continues the failed run as soon as the agent at rest has nothing else to do. */
  readonly resuming: { readonly id: string; readonly limits?: Limits } | null
  readonly attached: readonly AttachedChild[]
  /** Background calls that run in this process, by key, each in a slot of its own. */
  readonly background: readonly { readonly key: string; readonly slot: string }[]
  /** The definition that takes the conversation over once the step has ended. */
  readonly handoff: Handoff | null
  /** Request for which a sub-agent exists. The sub-agent ends with the run of that request. */
  readonly task: string | null
  readonly isTaskOver: boolean
  /** True if the agent was restored and is not yet woken, so that nothing starts automatically. */
  readonly isAsleep: boolean
  readonly steering: readonly QueuedMessage[]
  readonly followUps: readonly QueuedMessage[]
  readonly prompts: readonly QueuedMessage[]
  /** The latest time carried by an event, in epoch milliseconds: the machine has no clock of its own. */
  readonly now: number
  /** Time since which the run's wall time has been stopped for approvals, in epoch milliseconds. */
  readonly heldAt: number
  readonly storeError: ErrorInfo | null
  /** True if this process is about to release the agent: calls in progress end, and none begins. */
  readonly isLeaving: boolean
  /** Tokens of the last request and of the messages after it. */
  readonly contextTokens: number
  /** `contextTokens` after the last compaction attempt. */
  readonly compactedAt: number
  readonly compactionCause: 'headroom' | 'overflow' | 'requested'
  /** Request to end once the run is settled: for good (`stop`), or to be resumed from the log (`close`). */
  readonly ending: 'stop' | 'close' | null
  /** Request tokens above which a drain checks whether to fold; `null` with the switch off. */
  readonly foldAt: number | null
  readonly compactRequests: readonly CompactionRequest[]
  /** Queued requests for policies; `null` without policies. */
  readonly policyRequests: readonly PolicyRequest[] | null
  /** Number of policies asked since the last turn ended, or since the agent came to rest after that turn. */
  readonly consulted: { readonly turns: number; readonly atRest: boolean; readonly count: number }
  /** `seq` of the last record before the current drain, and the ids of the requests in that drain. */
  readonly drainedAt: number
  readonly drained: readonly string[]
}

export interface AgentContext extends LoggedContext, LiveContext {}

/** Fields of a run that no record states. */
export type LiveRun = Pick<
  RunState,
  | 'deadline'
  | 'deadlinePassed'
  | 'timers'
  | 'retryAt'
  | 'overflowed'
  | 'lastError'
  | 'abortedBy'
  // Said only once the turn begins.
  | 'answer'
>

/** Fields of a call that no record states, or not yet. */
export type LiveCall = Pick<
  CallState,
  'input' | 'edited' | 'beforeTool' | 'rule' | 'returned' | 'allowance' | 'used' | 'misfits'
> & {
  readonly status: 'ready' | 'checking' | 'asking' | 'running' | 'paused'
}

/** Pauses that the chart sets directly. */
export type LivePause = Extract<PauseReason, { readonly type: 'approvals' | 'timer' | 'store' | 'interrupted' }>

export interface AgentInput {
  readonly agentId: string
  readonly path: readonly string[]
  readonly definition: string
  readonly model: ModelSnapshot
  readonly policy: AgentPolicy
  /** Set if rules of an agent above this one also decide about its calls. */
  readonly isGoverned?: true
  readonly parent?: ParentLink
  readonly metadata?: Metadata
  /** Request for which a sub-agent exists. */
  readonly task?: string
  /** Set when continuing from a log: the state folded from it, and the tools whose calls may run again. */
  readonly restored?: {
    readonly context: Partial<AgentContext>
    readonly mayRerun: readonly string[]
    /** Calls whose arguments the log holds only in redacted form. */
    readonly redacted: readonly string[]
    /** Calls that may need an approval that has not been requested yet. */
    readonly unapproved: readonly string[]
    /** True if nothing that is waiting starts before `resume`. */
    readonly staysPaused?: boolean
    /** True if everything still open was begun by another party, and therefore ends. */
    readonly isForeign?: boolean
  }
}

interface Said extends Omit<QueuedMessage, 'limits'> {
  /** Time of the message, in epoch milliseconds. */
  readonly at: number
}

export type AgentMachineEvent =
  | ({ readonly type: 'prompt'; readonly limits?: Limits; readonly interrupt?: true } & Said)
  | ({ readonly type: 'steer' } & Said)
  | ({ readonly type: 'followUp' } & Said)
  /** Aborts the run. `background`: `false` leaves background calls at work; `run` ends only those of the run. */
  | { readonly type: 'abort'; readonly requestId?: string; readonly background?: false | 'run' }
  /** Ends the background call `id`. */
  | { readonly type: 'cancelCall'; readonly id: string; readonly at: number }
  /** Ends the run of the request `id`, or withdraws the request while it waits. */
  | { readonly type: 'withdraw'; readonly id: string; readonly requestId?: string }
  | { readonly type: 'resume'; readonly id: string; readonly limits?: Limits; readonly at: number }
  | ({
      readonly type: 'decide'
      readonly callId: string
      /** Id of the command, if it came from a remote client. */
      readonly requestId?: string
      readonly at: number
    } & CallDecision)
  /** The tool of the call under `key` asks people a question. */
  | { readonly type: 'ask'; readonly key: string; readonly question: Question; readonly at: number }
  | InnerEvent
  | { readonly type: 'stop' | 'close' }
  /** Reports the outcome of the call under `key`, whose agent worked on its own. */
  | { readonly type: 'report'; readonly key: string; readonly content: readonly PlainBlock[]; readonly at: number }
  /** Starts the waiting work of an agent restored from its log. `staysPaused`: only after `resume`. */
  | { readonly type: 'wake'; readonly staysPaused?: boolean }
  | ({ readonly type: 'spawn'; readonly at: number } & Spawning)
  | BrakeEvent
  | { readonly type: 'compact'; readonly request: CompactionRequest; readonly at: number }
  /** Changes the values in use. `null` resets a field, or all of them, to the definition. */
  | { readonly type: 'use'; readonly id: string; readonly use: UseEvent | null; readonly at: number }
  | { readonly type: 'brake'; readonly request: PolicyRequest; readonly at: number }
  | TimeEvent
  /** Records of parts, to be made in one step. */
  | { readonly type: 'record'; readonly records: readonly PartDraft[]; readonly at: number }
  /** A policy fired in the consultation under `key`. */
  | { readonly type: 'policy.fired'; readonly key: string; readonly start: PolicyStart; readonly at: number }
  /** The first token of the reply under `key` arrived. */
  | { readonly type: 'reply.started'; readonly key: string }
  /** The model that answered under `key` failed, and `next` answers instead, under the key of the next attempt. */
  | { readonly type: 'reply.replaced'; readonly key: string; readonly failure: ReplyFailure; readonly next: string }
  /** The request for the reply under `key`, to be recorded. */
  | { readonly type: 'request.captured'; readonly key: string; readonly capture: RequestCapture }
  | { readonly type: 'store.failed'; readonly error: ErrorInfo }
  /** Lets calls in progress end and no other begin, before this process releases the agent. */
  | { readonly type: 'leave' }
  | { readonly type: 'xstate.done.actor.deadline'; readonly output: SleepInput }
  | { readonly type: `xstate.done.actor.call.${number}`; readonly output: CallOutput }
  | { readonly type: `xstate.done.actor.hook.${number}`; readonly output: HookOutput | null }
  | { readonly type: `xstate.error.actor.hook.${number}`; readonly error: unknown; readonly actorId: string }
  | { readonly type: `xstate.done.actor.background.${number}`; readonly output: CallOutput | null }
  | { readonly type: `xstate.error.actor.background.${number}`; readonly error: unknown; readonly actorId: string }
  | { readonly type: `xstate.done.actor.child.${number}`; readonly output: CallOutput; readonly actorId: string }
  | { readonly type: `xstate.error.actor.child.${number}`; readonly error: unknown; readonly actorId: string }
  | { readonly type: `xstate.error.actor.call.${number}`; readonly error: unknown; readonly actorId: string }
  | { readonly type: `xstate.error.actor.${string}`; readonly error: unknown }

/** Decision on a call that waits for people. */
export type CallDecision =
  | { readonly decision: 'approve'; readonly reason?: string; readonly input?: unknown; readonly grant?: Grant }
  | { readonly decision: 'deny'; readonly reason?: string; readonly grant?: Grant }
  | { readonly decision: 'answer'; readonly value: unknown }
  | { readonly decision: 'return'; readonly result: CallReturn }

/** Fields of `TurnUse`; `null` resets a field to the definition. */
export type UseEvent = { readonly [K in keyof TurnUse]: TurnUse[K] | null }

/** A child that code asks for. */
type Spawning = { readonly childId: string; readonly name: string; readonly incognito?: true }

export type EventOfType<T extends AgentMachineEvent['type']> = Extract<AgentMachineEvent, { readonly type: T }>

/** A `turn.captured` record without its header. */
export type RequestCapture = Omit<RecordOf<'turn.captured'>, 'v' | 'seq' | 'time' | 'type' | 'runId' | 'turnIndex'>
