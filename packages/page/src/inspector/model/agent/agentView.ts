import type { ListedSchedule } from '../../../../../../src/protocol/parts/schedules/scheduleOptions.ts'
import type { Permissions } from '../../../../../../src/protocol/parts/permissions/permissionState.ts'
import type { SourceInfo } from '../../../../../../src/protocol/toolsChange.ts'
import type { TurnUse } from '../../../../../../src/protocol/bridge/turns.ts'
import type { Conversation } from '../../../../../../src/conversation/tree/conversation.ts'
import type { CapturedRequest } from '../../../../../../src/conversation/request/captureRequest.ts'
import type { PolicyInfo, PolicyStart } from '../../../../../../src/protocol/braking.ts'
import type { ErrorInfo } from '../../../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { Pending } from '../../../../../../src/protocol/runs/pending.ts'
import type { QueuedMessage, QueueName } from '../../../../../../src/protocol/runs/queue.ts'
import type { LogRecord, PauseReason, RecordOf, Spent } from '../../../../../../src/protocol/records.ts'
import type { ReadonlySignal } from '@preact/signals'
import type { LastRun } from '../../../../../../src/protocol/runs/lastRun.ts'
import type { NewestRun } from './newestRun.ts'

/** `loading`: the log is being read; `live`: the newest moment is shown; `past`: an earlier one; `error`: it cannot be shown. */
export type AgentViewStatus = 'loading' | 'live' | 'past' | 'error'

/** A request as the model got it. `request` and `provenance` are assembled when they are read: read them once per rendering. */
export interface RequestView extends CapturedRequest {
  /** True if the request was seen live and is not in the log. It is gone after a reload. */
  readonly isLive: boolean
}

/** A policy that was consulted and has not ended. */
export type Consultation = Pick<PolicyStart, 'policy' | 'why' | 'requestId'>

/** The reply under way. */
export interface PartialReply {
  readonly turnIndex: number
  readonly text: string
  readonly thinking: string
}

/** A source of an agent's tools. Its condition is known only for the newest moment. */
export type SourceView = Pick<SourceInfo, 'source' | 'tools'> & Partial<SourceInfo>

/** State of one agent as the page shows it at one moment. Each change makes a new object, at most one per animation frame. */
export interface AgentViewState {
  readonly agentId: string
  readonly definition: string
  /** First record of the agent's log, as of `at`. */
  readonly created: RecordOf<'agent.created'> | null
  /** Title according to the agent's own log, as of `at`. */
  readonly title?: string
  readonly status: AgentViewStatus
  readonly error?: ErrorInfo
  /** Records that a fork shares with its sources, each list from its beginning; always the same array. */
  readonly past: readonly (readonly LogRecord[])[]
  /** The newest records, which can be shown while the log is `loading`. Empty until they arrive. */
  readonly tail: readonly LogRecord[]
  /** The whole log, later records included; the array is the same as long as it only grows. */
  readonly records: readonly LogRecord[]
  /** `seq` of the moment shown; `null`: the newest. */
  readonly at: number | null
  /** `seq` of the last record. */
  readonly lastSeq: number
  /** Conversation as of `at`. The same object may have changed: recompute with every new state. */
  readonly conversation: Conversation
  /** The newest run as of `at`; `null` if there was none. */
  readonly run: NewestRun | null
  /** End of that run, or the reason why it waits, as of `at`. Absent while it goes on. */
  readonly last?: LastRun
  /** Path of the machine's active state as of `at`, such as `replying.streaming`; empty when not known. */
  readonly chartState: string
  /** True if the agent is open in a process, at rest or not. `false`: its log is shown as it was left. */
  readonly isRunning: boolean
  /** Policies that can be asked by name; `null` if the server does not know them, or is too old to say. */
  readonly policies: readonly PolicyInfo[] | null
  /** Rules for the agent's calls, as the server last sent them; `null` if it has none. */
  readonly permissions: Permissions | null
  /** The policy that is being asked as of `at`. */
  readonly consulting: Consultation | null
  /** The model, tools and other options that the agent was told to use, as of `at`. */
  readonly use: TurnUse | null
  /** Tool sources of the agent that come and go, as of `at`. */
  readonly sources: readonly SourceView[]
  /** Its schedules as of `at`, the next one first. */
  readonly schedules: readonly ListedSchedule[]
  /** The instructions of the sources in the system prompt, by source, as of `at`. */
  readonly instructions: ReadonlyMap<string, string>
  /** Id of the model that a call waits for because of the runtime's limits. `null` in the past. */
  readonly waitsFor: string | null
  /** Requests as of `at`, oldest first. */
  readonly requests: readonly RequestView[]
  /** False while captured requests are known by their turns only: `readRequests` reads the rest. */
  readonly areRequestsRead: boolean
  /** The reply under way. `null` in the past and between replies. */
  readonly partial: PartialReply | null
  /** Approvals and questions that wait for a person, of the agent or of one below it. Empty in the past. */
  readonly pending: readonly Pending[]
  /** Messages to the agent that are not in its conversation yet, oldest first, as of `at`. */
  readonly queues: Readonly<Record<QueueName, readonly QueuedMessage[]>>
  /** Reason of the agent's pause. */
  readonly pause: PauseReason | null
  /** Ids of the agent's sub-agents as of `at`, in the order they were started. */
  readonly children: readonly string[]
  /** Tokens and cost as of `at`. Those of sub-agents are as the sub-agents reported them. */
  readonly spent: Spent
  /** US dollars of `spent` without those of sub-agents. */
  readonly ownCostUsd: number
  /** Everything seen, oldest first: records, and events seen live beside them; no deltas. They cover all times, as `records` does. */
  readonly events: readonly AgentEvent[]
  /** Number of `events` that had happened as of `at`. */
  readonly eventCount: number
}
/** One agent as the page shows it. */
export interface AgentView {
  readonly agentId: string
  /** State of the agent. It has a new value at most once per animation frame. */
  readonly state: ReadonlySignal<AgentViewState>
  /** Reads the content of captured requests, which reading the log leaves out. `areRequestsRead` tells when it is there. Idempotent. */
  readRequests(): void
}
