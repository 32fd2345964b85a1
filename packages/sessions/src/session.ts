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
 * How far a session, a run or a turn got. `running`: the log has no end for it, so it is under way or its process died;
 * `rejected`: the model refused; `paused`: something is outstanding, and `resume` or a decision continues it.
 */
export type SessionStatus = 'running' | 'completed' | 'aborted' | 'rejected' | 'paused' | 'failed'

/** Something a person said, as the input of a turn. */
export interface TurnInput {
  readonly nodeId: NodeId
  readonly role: 'user'
  readonly source: UserSource
}

/** A tool call of a reply. `held` waits for approval; `pending` has not started. It ends in the turn that made it, however late. */
export interface SessionCall {
  readonly callId: string
  readonly name: string
  /** Deterministic id of the call; known once it started or ended. */
  readonly key?: string
  readonly status: 'pending' | 'held' | 'running' | 'ended'
  readonly isError?: boolean
  /** Why the runtime answered in place of the tool. */
  readonly synthetic?: SyntheticReason
  /** The sub-agent that carries it out. */
  readonly childId?: string
  /** The result's node, once it ended. */
  readonly nodeId?: NodeId
}

/** Abandoned steps that were copied to the trunk. */
interface Copying {
  readonly type: BrakeChange['type']
  readonly applied: boolean
  /** The new nodes, each with the node that it repeats. */
  readonly copies: readonly { readonly nodeId: NodeId; readonly from: NodeId }[]
  readonly economics?: Economics
  readonly reason?: string
}

/** How the trunk was reshaped, in short; `reason` says why it was not. */
export type TrunkChange =
  | {
      readonly type: 'revert'
      readonly applied: boolean
      readonly category: RevertCategory
      /** The new head, unless messages of a person were appended again after it. */
      readonly target?: NodeId
      /** The new nodes of those messages. */
      readonly rebased?: readonly NodeId[]
      /** The policy that planned it. */
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
      /** The policy that chose the steps. */
      readonly policy?: string
      readonly economics?: Economics
      readonly reason?: string
    }
  | {
      readonly type: 'compaction'
      readonly applied: boolean
      /** The summary's id, and the nodes it stands for. */
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
  /** Counts over the agent's life, the shared past of a fork included. */
  readonly index: number
  readonly status: SessionStatus
  readonly startedAt: number
  readonly endedAt?: number
  /** Messages of people since the turn before, in order. */
  readonly input: readonly TurnInput[]
  /** Node of the model's message. */
  readonly reply?: NodeId
  readonly toolCalls: readonly SessionCall[]
  /** Attempts at the reply, the one under way included. */
  readonly attempts: number
  readonly usage: Usage
  readonly costUsd: number
  readonly changes: readonly TrunkChange[]
}

/** One run of an agent, from its cause until the agent was at rest again. Times are epoch milliseconds. */
export interface SessionRun {
  /** The run's `runId`. */
  readonly id: string
  readonly cause: RecordOf<'run.start'>['cause']
  readonly requestId: string
  /** The paused run it continues; in a fork it may be one of the source's. */
  readonly resumedFrom?: string
  readonly status: SessionStatus
  readonly startedAt: number
  readonly endedAt?: number
  readonly model?: ModelSnapshot
  readonly limits: Limits
  readonly turns: readonly Turn[]
  readonly usage: Usage
  readonly costUsd: number
  /** Why it is paused. */
  readonly reason?: PauseReason
  readonly error?: ErrorInfo
}

/** The life of an agent as its log tells it. A fork has only its own part: its source paid for the part that they share. */
export interface Session {
  /** The agent's id; empty before the log's first record. */
  readonly id: string
  /** Present for the log of a machine that is kept: `definition` is then its name. */
  readonly kind?: 'machine'
  /** Ids of the ancestors, root first. */
  readonly path: readonly string[]
  readonly definition: string
  readonly model: string
  /** The agent that called or spawned it. */
  readonly parent?: ParentLink
  readonly forkedFrom?: NonNullable<RecordOf<'agent.created'>['forkedFrom']>
  /** Metadata that the application gave at the spawn. */
  readonly metadata?: Metadata
  /** Epoch milliseconds of the first and the last record. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Status of the last run; `completed` without one, as nothing was asked for. */
  readonly status: SessionStatus
  /** Ended for good: it cannot be resumed. */
  readonly isStopped: boolean
  readonly runs: readonly SessionRun[]
  /** Ids of its sub-agents, in the order they were started. */
  readonly children: readonly string[]
  /** Reverts and prunes that people asked for while no turn was under way. */
  readonly changes: readonly TrunkChange[]
  /** Subject on one line: the task its caller gave it, or its first prompt. */
  readonly title?: string
  /** How its last run ended, or why it waits; missing while a run is under way. */
  readonly last?: LastRun
  /** Tokens used by all runs and changes. */
  readonly usage: Usage
  readonly costUsd: number
}
