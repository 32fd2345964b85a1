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
  /** Until when it sleeps, in epoch milliseconds. */
  readonly until?: number
  /** Set if it runs again at that time. */
  readonly goesOn?: true
  /** The last question of its tool. */
  readonly question?: Question
  /** Set while the result that a client gave is under review. */
  readonly returned?: RecordOf<'tool.end'>['returned']
  /** Answers to the earlier questions, in order: given to a call that runs again. */
  readonly answers?: readonly GivenAnswer[]
  /** The call that it makes and that waits for an approval, while it waits for that. */
  readonly asks?: InnerRequest
  /** Decisions about calls that it makes: given to a call that runs again. */
  readonly decided?: readonly InnerDecision[]
  /** Why the call is not to run, whatever people decide: its reply was not whole. */
  readonly unfit?: string
  /** Set once `beforeTool` has let the call through. */
  readonly beforeTool?: true
  /** The rule by which it runs or waits, once that is decided. */
  readonly rule?: string
  /** Rules that would allow a call that waits for an approval. */
  readonly suggest?: readonly string[]
  /** Set if an approval was requested and the effect of the call cannot be undone. */
  readonly irreversible?: true
  /** Source of the last change of the input; `tool`: its schema. */
  readonly edited?: 'tool' | 'hook' | 'person'
  /** Id of the sub-agent that executes the call, and the share of the run's limits that it may use. */
  readonly childId?: string
  readonly allowance?: Limits
  /** Set if that sub-agent works on its own, and its answer comes as a report. */
  readonly reports?: true
  /** Set if it goes on in the background, by its id for the model. */
  readonly background?: string
  /** Set if its arguments do not fit, which is told at once. */
  readonly misfits?: true
  /** Set if the report came before the call had its result. */
  readonly reported?: true
  /** How much of that sub-agent's use was counted on runs that their limit ended and, if it is paused, is to be counted on the current run. */
  readonly counted?: Spent
  readonly used?: Spent
  /** Set if its result hands the conversation over, which happens once the step has ended. */
  readonly handsOver?: true
  /** Set if it could have ended the run, and failed. */
  readonly failsToEnd?: true
  /** Decision of a person about an approval. */
  readonly decision?: { readonly type: 'approve' | 'deny'; readonly reason?: string }
}

/** A child spawned by code, or by a running call. */
export interface AttachedChild {
  readonly childId: string
  readonly slot: string
  readonly key: string
  /** Share of the run's limits, of one that a running call called. */
  readonly allowance?: Limits
}

export interface RunState {
  readonly runId: string
  readonly requestId: string
  readonly limits: Limits
  /** Messages that start the run but are not in the log, because the process died between two records. */
  readonly unsaid: number
  readonly turns: number
  readonly usage: Usage
  readonly costUsd: number
  /** Turns of sub-agents, which count towards the limit. */
  readonly childTurns: number
  /** Absolute end of the wall-time allowance, in epoch milliseconds; `null` without one. */
  readonly deadline: number | null
  readonly deadlinePassed: boolean
  /** How often the timer was set or stopped: the end of an older one no longer counts. */
  readonly timers: number
  /** How often the conversation was handed over; missing if never. */
  readonly handoffs?: number
  /** Attempts made at the current reply. */
  readonly attempt: number
  /** When the next attempt may start, in epoch milliseconds. */
  readonly retryAt: number
  readonly overflowed: boolean
  /** Attempts at the current reply whose answer did not match `output`. */
  readonly badAnswers: number
  /** Attempts at the current reply that failed, and another model took over at once. */
  readonly fallbacks: number
  /** Why the last attempt failed. */
  readonly lastError: ErrorInfo | null
  /** Usage and cost of the current turn. */
  readonly turnUsage: Usage
  readonly turnCostUsd: number
  readonly lastStopReason: RunStopReason
  /** How many replies in a row were cut off in their calls; missing if the last was not. */
  readonly cutReplies?: number
  /** Refusal by a guard: the run ends with it. */
  readonly refusal?: Refusal
  /** Id of the command that aborts the run, if it came from a remote client. */
  readonly abortedBy: string | null
  /** The limits that its prompt gave; for a run that continues another, those of the first. */
  readonly given?: Limits
  /** Limit that was reached and after which the run is to answer; `isAsked`: that turn has begun, and is the last. */
  readonly answer?: { readonly limit: LimitReason; readonly isAsked: boolean }
}

/** State of the parameters of the agent's requests beside its definition. */
export interface FrameState {
  readonly use: TurnUse | null
  /** The newest instructions in the log. */
  readonly instructions: string | null
  /** Names of the tools and sub-agents that the current turn offers; `null`: all of them. */
  readonly offered: readonly string[] | null
}

/** State that follows from the records of an agent: their fold, which changes it, and nothing else but for what is live in it. */
export interface LoggedContext {
  readonly runs: number
  /** Turns started in the agent's lifetime; the current one's index is this minus one. */
  readonly turns: number
  readonly isTurnOpen: boolean
  /** True if the trunk ends with something that the model has not answered. */
  readonly owesReply: boolean
  /** The newest result on the trunk that ends the run, as nothing was said since. */
  readonly endedBy: NonNullable<RecordOf<'run.end'>['endedBy']> | null
  /** The last node up to which the input guards have decided about messages of people. */
  readonly guardedTo?: NodeId
  readonly run: RunState | null
  /** `null` while only the definition decides. */
  readonly frame: FrameState | null
  /** The run that a pause ended, to be continued. */
  readonly pausedRun: string | null
  /** Limits that the paused run may still use, if it did not end on its own. */
  readonly pausedLimits: Limits | null
  /** Limits given by the prompt of the run that a pause or a failure ended. */
  readonly givenLimits: Limits | null
  /** The last run, if it failed: its prompt is still to be answered. */
  readonly failedRun: string | null
  readonly calls: readonly CallState[]
  /** Number of sub-agents started in the agent's lifetime, which is the next one's number. */
  readonly children: number
  /** How many calls went to the background in the agent's lifetime; missing if none did. */
  readonly backgrounds?: number
  /** Agents and background calls whose reports are to come. */
  readonly reporters: readonly Reporter[]
  readonly pause: PauseReason | null
  readonly isCompacting: boolean
  /** Compactions started in the agent's lifetime. */
  readonly compactions: number
  /** Time of the newest reply, in epoch milliseconds; `null` before. */
  readonly repliedAt: number | null
  /** The undoing of the last revert. */
  readonly undoing: Undoing | null
  /** States of the parts that have records. */
  readonly parts: PartStates
  /** A policy that has fired and has not come to an end. */
  readonly consulting: { readonly policy: string; readonly requestId?: string } | null
}

/** State that dies with the process, or is restored from elsewhere: changed by hand. The queues of brakes hold requests that are not yet drained. */
export interface LiveContext extends BrakeQueues {
  readonly agentId: string
  readonly path: readonly string[]
  readonly definition: string
  readonly model: ModelSnapshot
  readonly policy: AgentPolicy
  /** Set if rules of an agent above it decide about its calls, too. */
  readonly isGoverned?: true
  /** `seq` of the last record. */
  readonly seq: number
  /** The node that the next message is appended to, and the highest id used so far. */
  readonly head: NodeId | null
  readonly lastNodeId: NodeId
  /** The command that continues the failed run, as soon as nothing else is done at rest. */
  readonly resuming: { readonly id: string; readonly limits?: Limits } | null
  readonly attached: readonly AttachedChild[]
  /** Background calls that run here, by key, each in a place of its own. */
  readonly background: readonly { readonly key: string; readonly slot: string }[]
  /** The definition that takes the conversation over once the step has ended. */
  readonly handoff: Handoff | null
  /** The request a sub-agent exists for: it ends with that run. */
  readonly task: string | null
  readonly isTaskOver: boolean
  /** Restored and not yet woken: nothing starts automatically. */
  readonly isAsleep: boolean
  readonly steering: readonly QueuedMessage[]
  readonly followUps: readonly QueuedMessage[]
  readonly prompts: readonly QueuedMessage[]
  /** The latest time carried by an event, in epoch milliseconds: the machine has no clock of its own. */
  readonly now: number
  /** Since when the run's wall time has been stopped for approvals. */
  readonly heldAt: number
  readonly storeError: ErrorInfo | null
  /** It is about to be let go of here: calls under way end, and none begins. */
  readonly isLeaving: boolean
  /** Tokens of the last request and of the messages after it. */
  readonly contextTokens: number
  /** `contextTokens` after the last compaction attempt. */
  readonly compactedAt: number
  readonly compactionCause: 'headroom' | 'overflow' | 'requested'
  /** Asked to end once the run is settled: for good, or to be resumed from its log. */
  readonly ending: 'stop' | 'close' | null
  /** Tokens of a request above which the drain looks whether to fold; `null` with the switch off. */
  readonly foldAt: number | null
  readonly compactRequests: readonly CompactionRequest[]
  /** `null` without policies, when the queue does not exist. */
  readonly policyRequests: readonly PolicyRequest[] | null
  /** How many policies were asked since this turn ended, or since the agent came to rest after it. */
  readonly consulted: { readonly turns: number; readonly atRest: boolean; readonly count: number }
  /** The requests of the current drain, and the last record before it. */
  readonly drainedAt: number
  readonly drained: readonly string[]
}

export interface AgentContext extends LoggedContext, LiveContext {}

/** Fields of a run that no record tells. */
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

/** Fields of a call that no record tells, or none yet. */
export type LiveCall = Pick<
  CallState,
  'input' | 'edited' | 'beforeTool' | 'rule' | 'returned' | 'allowance' | 'used' | 'misfits'
> & {
  readonly status: 'ready' | 'checking' | 'asking' | 'running' | 'paused'
}

/** Pauses of the chart alone. */
export type LivePause = Extract<PauseReason, { readonly type: 'approvals' | 'timer' | 'store' | 'interrupted' }>

export interface AgentInput {
  readonly agentId: string
  readonly path: readonly string[]
  readonly definition: string
  readonly model: ModelSnapshot
  readonly policy: AgentPolicy
  /** Set if rules of an agent above it decide about its calls, too. */
  readonly isGoverned?: true
  readonly parent?: ParentLink
  readonly metadata?: Metadata
  /** The request a sub-agent exists for. */
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
    /** True if everything open was begun by another party: it ends. */
    readonly isForeign?: boolean
  }
}

interface Said extends Omit<QueuedMessage, 'limits'> {
  /** Epoch milliseconds. */
  readonly at: number
}

export type AgentMachineEvent =
  | ({ readonly type: 'prompt'; readonly limits?: Limits; readonly interrupt?: true } & Said)
  | ({ readonly type: 'steer' } & Said)
  | ({ readonly type: 'followUp' } & Said)
  /** `background`: false leaves the calls in the background at work. */
  | { readonly type: 'abort'; readonly requestId?: string; readonly background?: false | 'run' }
  /** Ends the background call `id`. */
  | { readonly type: 'cancelCall'; readonly id: string; readonly at: number }
  /** Ends the run of the request `id`, or withdraws the request while it waits. */
  | { readonly type: 'withdraw'; readonly id: string; readonly requestId?: string }
  | { readonly type: 'resume'; readonly id: string; readonly limits?: Limits; readonly at: number }
  | ({
      readonly type: 'decide'
      readonly callId: string
      /** The command, if it came from a remote client. */
      readonly requestId?: string
      readonly at: number
    } & CallDecision)
  /** The tool of the call under `key` asks people a question. */
  | { readonly type: 'ask'; readonly key: string; readonly question: Question; readonly at: number }
  | InnerEvent
  | { readonly type: 'stop' | 'close' }
  /** The outcome of the call under `key`, whose agent worked on its own. */
  | { readonly type: 'report'; readonly key: string; readonly content: readonly PlainBlock[]; readonly at: number }
  /** Starts what is waiting in an agent restored from its log; `staysPaused`: not before `resume`. */
  | { readonly type: 'wake'; readonly staysPaused?: boolean }
  | ({ readonly type: 'spawn'; readonly at: number } & Spawning)
  | BrakeEvent
  | { readonly type: 'compact'; readonly request: CompactionRequest; readonly at: number }
  /** Changes of the values in use: `null` resets a field, or all of them, to the definition. */
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
  /** Calls under way may end, and no other begins: the agent is let go of here afterwards. */
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
