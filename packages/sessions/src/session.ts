import type { BrakeChange } from '../../words/src/brakes/brakeWords.ts'
import type { RevertCategory } from '../../../src/protocol/braking.ts'
import type { Economics } from '../../../src/protocol/economics.ts'
import type { ErrorInfo } from '../../../src/protocol/errors.ts'
import type { LastRun } from '../../../src/protocol/runs/lastRun.ts'
import type { NodeId } from '../../../src/protocol/ids.ts'
import type { SyntheticReason, Usage, UserSource } from '../../../src/protocol/messages.ts'
import type { Metadata } from '../../../src/protocol/metadata.ts'
import type { ParentLink } from '../../../src/protocol/parentLink.ts'
import type { PauseReason, RecordOf } from '../../../src/protocol/records.ts'
import type { Limits } from '../../../src/protocol/runs/runLimits.ts'
import type { ModelSnapshot } from '../../../src/protocol/ports/model.ts'

/**
 * State of a session, a run or a turn. `running`: the log has no end for it, so it is under way or its process died.
 * `rejected`: the model refused. `paused`: something is outstanding, and `resume` or a decision continues it.
 */
export type SessionStatus = 'running' | 'completed' | 'aborted' | 'rejected' | 'paused' | 'failed'

/** A person's message as the input of a turn. */
export interface TurnInput {
  readonly nodeId: NodeId
  readonly role: 'user'
  readonly source: UserSource
}

/** A tool call of a reply. `held` waits for approval; `pending` has not started. Its end belongs to the turn that made it, however late. */
export interface SessionCall {
  readonly callId: string
  readonly name: string
  /** Deterministic id of the call. Known once the call has started or ended. */
  readonly key?: string
  readonly status: 'pending' | 'held' | 'running' | 'ended'
  readonly isError?: boolean
  /** Reason why the runtime answered in place of the tool. */
  readonly synthetic?: SyntheticReason
  /** Id of the sub-agent that carries it out. */
  readonly childId?: string
  /** Node of the result, once the call has ended. */
  readonly nodeId?: NodeId
}

/** Copies of abandoned steps on the trunk. */
interface Copying {
  readonly type: BrakeChange['type']
  readonly applied: boolean
  /** The new nodes, each with the node that it repeats. */
  readonly copies: readonly { readonly nodeId: NodeId; readonly from: NodeId }[]
  readonly economics?: Economics
  readonly reason?: string
}

/** Summary of a change of the trunk. `reason` says why it was not made. */
export type TrunkChange =
  | {
      readonly type: 'revert'
      readonly applied: boolean
      readonly category: RevertCategory
      /** The new head, unless messages of a person were appended again after it. */
      readonly target?: NodeId
      /** The new nodes of those messages. */
      readonly rebased?: readonly NodeId[]
      /** Name of the policy that planned it. */
      readonly policy?: string
      readonly economics?: Economics
      readonly reason?: string
    }
  | Copying
  | {
      readonly type: 'prune'
      readonly applied: boolean
      readonly steps: readonly NodeId[]
      readonly tokens: number
      /** True if the steps are shown without the contents of their results. */
      readonly masked?: true
      /** True if hidden or masked steps are shown again. */
      readonly shown?: true
      /** Name of the policy that chose the steps. */
      readonly policy?: string
      readonly economics?: Economics
      readonly reason?: string
    }
  | {
      readonly type: 'compaction'
      readonly applied: boolean
      /** The summary's node, and the nodes it replaces. */
      readonly nodeId?: NodeId
      readonly from?: NodeId
      readonly to?: NodeId
      readonly tokensBefore: number
      readonly tokensAfter: number
      readonly economics?: Economics
      readonly reason?: string
    }

/** One request to the model and its consequences. Times are epoch milliseconds. */
export interface Turn {
  /** Index over all turns of the agent, including the shared past of a fork. */
  readonly index: number
  readonly status: SessionStatus
  readonly startedAt: number
  readonly endedAt?: number
  /** Messages from people since the previous turn, in order. */
  readonly input: readonly TurnInput[]
  /** Node of the model's message. */
  readonly reply?: NodeId
  readonly toolCalls: readonly SessionCall[]
  /** Number of attempts at the reply, including the one under way. */
  readonly attempts: number
  readonly usage: Usage
  readonly costUsd: number
  readonly changes: readonly TrunkChange[]
}

/** One run of an agent, from its cause until the agent rests again. Times are epoch milliseconds. */
export interface SessionRun {
  /** The run's `runId`. */
  readonly id: string
  readonly cause: RecordOf<'run.start'>['cause']
  readonly requestId: string
  /** Id of the paused run that it continues. In a fork this may be a run of the source. */
  readonly resumedFrom?: string
  readonly status: SessionStatus
  readonly startedAt: number
  readonly endedAt?: number
  readonly model?: ModelSnapshot
  readonly limits: Limits
  readonly turns: readonly Turn[]
  readonly usage: Usage
  readonly costUsd: number
  /** Reason for the pause. */
  readonly reason?: PauseReason
  readonly error?: ErrorInfo
}

/** History of an agent according to its log. A fork has only its own part, because the shared part was paid for by its source. */
export interface Session {
  /** The agent's id; empty before the log's first record. */
  readonly id: string
  /** Present for the log of a kept machine. `definition` is then the machine's name. */
  readonly kind?: 'machine'
  /** Ids of the ancestors, root first. */
  readonly path: readonly string[]
  readonly definition: string
  readonly model: string
  /** The agent that called or spawned it, and how. */
  readonly parent?: ParentLink
  readonly forkedFrom?: NonNullable<RecordOf<'agent.created'>['forkedFrom']>
  /** Metadata that the application gave when it spawned the agent. */
  readonly metadata?: Metadata
  /** Epoch milliseconds of the first and the last record. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Status of the last run; `completed` if there is none. */
  readonly status: SessionStatus
  /** True if it ended for good and cannot be resumed. */
  readonly isStopped: boolean
  readonly runs: readonly SessionRun[]
  /** Ids of its sub-agents, in the order of their start. */
  readonly children: readonly string[]
  /** Reverts and prunes that people asked for while no turn was under way. */
  readonly changes: readonly TrunkChange[]
  /** Subject on one line: the task given by its caller, or its first prompt. */
  readonly title?: string
  /** End of its last run, or the reason why it waits. Missing while a run is under way. */
  readonly last?: LastRun
  /** Tokens used by all runs and changes. */
  readonly usage: Usage
  readonly costUsd: number
}
