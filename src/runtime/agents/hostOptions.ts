import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { LimitedModels } from '../../actors/models/openStream.ts'
import type { Model } from '../../protocol/ports/model.ts'
import type { agentMachine } from '../../machines/agentMachine.ts'
import type { AgentInput } from '../../machines/agentTypes.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import type { Metadata } from '../../protocol/metadata.ts'
import type { ParentLink } from '../../protocol/parentLink.ts'
import type { SnapshotStore } from '../../protocol/ports/snapshots.ts'
import type { LeaseOptions, Store, StoreLease } from '../../protocol/ports/store.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'
import type { ChildHosts } from '../children/childHosts.ts'
import type { TreeAgent } from '../children/treeAgent.ts'
import type { OpenedLog } from './keptAgent.ts'
import type { RunDeps } from '../children/runDeps.ts'
import type { Resources } from './resources.ts'
import type { Sources } from './sources.ts'
import type { IdleUnloader } from './idleUnloader.ts'
import type { UnderActor } from '../children/spawnOptions.ts'
import type { Tracer } from '../../protocol/ports/tracer.ts'

/** Parts that the agents of one runtime share. */
export interface HostShared {
  readonly machine: typeof agentMachine
  readonly createActor: Interpreter['createActor']
  readonly store: Store
  /** Snapshots, for a store that keeps none. */
  readonly snapshots: SnapshotStore
  readonly clock: Clock
  /** Random numbers from 0 to 1 for the jitter of retries. */
  readonly random: () => number
  /** Tracing and logging, whose errors harm no run; set when there is a tracer or a logger. */
  readonly instrumentation?: Required<Tracer> | undefined
  /** Sources of tools, and the redactor, once there are secrets to blank. */
  readonly sources: Sources
  /** Returns a session as the lines of an export file. */
  readonly exportSession: (store: Store, agentId: string) => AsyncIterable<string>
  /** Resources that tools have opened. */
  readonly resources: Resources
  /** Returns true once the store can no longer be read, because the runtime made it itself and is closing. */
  readonly isStoreOver: () => boolean
  /** Reports a checkpoint that could not be written. No data is lost with it. */
  readonly checkpointFailed: (agentId: string, thrown: unknown) => void
  /** Reports that a function of the application failed. `place` names the function. */
  readonly callbackFailed: (place: string, thrown: unknown, fields: object) => void
  readonly childHosts: ChildHosts
  /** Limits on model calls; set when there are any. */
  readonly models?: LimitedModels | undefined
  /** Key of the metadata whose values group agents that take turns in the queue for models. */
  readonly modelTurns?: string | undefined
  /** Returns the model that answers in place of another, in the tree of the agent `root`; for evaluations, which record and replay. */
  readonly instead?: ((model: Model, root: string) => Model) | undefined
  /** Unloader of idle agents; set with `idleUnloadMs`. */
  readonly unloader?: IdleUnloader | undefined
  /**
   * Loads an agent from its log again, and then calls `begin`, which starts it. Rejects with the store's errors, and
   * with `RUNTIME_CLOSED`, `AGENT_STOPPED`, `AGENT_NOT_FOUND`; then the log is released.
   */
  readonly reload: (agentId: string, begin: () => void) => Promise<void>
}

/** The log that an agent continues from. */
export interface LogOptions {
  readonly lease: StoreLease
  /** The agent's log to continue from; for a fork, preceded by the past it shares. */
  readonly history?: OpenedLog | undefined
  /** True if calls that its log left open start only once the agent is resumed. */
  readonly staysPaused?: boolean
  readonly link?: ParentLink
  readonly task?: AgentInput['task']
}

export interface HostOptions extends LogOptions {
  readonly agentId: string
  readonly definition: AgentDefinition
  /** Options with which the lease was opened; by default its parent's. */
  readonly leasing?: LeaseOptions | undefined
  /** Store in memory that makes the agent incognito: its log is in no other store. */
  readonly incognito?: Store | undefined
  /** True if no agent above can decide its calls. */
  readonly isUnattended?: boolean
  /** Metadata of a new agent; an existing agent has it in its log. */
  readonly metadata?: Metadata | undefined
  /** The application's own actor that is to be the parent of a root agent's actor. */
  readonly under?: UnderActor | undefined
  /** Dependencies that the application gives the agent. */
  readonly deps?: RunDeps | undefined
  /** Parent of a sub-agent. */
  readonly parent?: TreeAgent
}
