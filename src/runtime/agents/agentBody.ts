import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import type { ConversationView } from '../../conversation/conversation.ts'
import type { AgentContext, AgentMachineEvent } from '../../machines/agentTypes.ts'
import type { Clock } from '../../protocol/clock.ts'
import type { ErrorInfo } from '../../protocol/errors.ts'
import type { GrowingReply } from '../../protocol/events.ts'
import type { Limits, Spent } from '../../protocol/records.ts'
import type { RunHandle } from '../../runs/run.ts'
import type { Children } from '../children/children.ts'
import type { TreeAgent } from '../children/treeAgent.ts'
import type { AgentListener } from '../events/observers.ts'
import type { InspectionListener } from './inspections.ts'

/** What of a machine's context is known of an agent that is not loaded too. */
export type RestingContext = Pick<
  AgentContext,
  'pause' | 'run' | 'calls' | 'prompts' | 'steering' | 'followUps' | 'reverts'
>

/** What an `Agent` asks for: its host, or what stands in for the host while the agent is unloaded. */
export interface AgentBody {
  readonly agentId: string
  readonly isLoaded: boolean
  readonly definition: AgentDefinition
  /** Ids of its ancestors, root first. */
  readonly path: readonly string[]
  readonly parent: TreeAgent | undefined
  /** Sub-agents that are alive, oldest first. */
  readonly liveChildren: readonly TreeAgent[]
  /** How many more sub-agents it may have alive. */
  readonly room: number
  /** Name of the chart's active state. */
  readonly state: string
  readonly context: RestingContext
  readonly conversation: ConversationView
  readonly growingReply: GrowingReply | undefined
  /** `seq` of its last record. */
  readonly lastSeq: number
  readonly spent: Spent
  /** Bytes of a torn last line that opening the log cut off. */
  readonly repairedBytes: number
  readonly clock: Clock
  /** Stopped, or asked to. */
  readonly isStopped: boolean
  /** Its log can never be written on as it is: it can only be ended. */
  readonly isStuck: boolean
  /** Commands sent that the context does not show yet. */
  readonly unseen: number
  readonly announcer: {
    subscribe(listener: AgentListener, options: { readonly descendants: boolean }): () => void
    /** A command that may start a run was given. */
    requested(requestId: string): void
    /** A JSON value without the secrets that the application named. */
    clean<T>(value: T): T
  }
  readonly runs: {
    /** The handle of the run that the request of this id will start. */
    expect(requestId: string): RunHandle
    /** Goes on after a pause, once the log is written. */
    resume(run: RunHandle, limits: Limits | undefined): Promise<void>
  }
  send(event: AgentMachineEvent): void
  durable(): Promise<void> | undefined
  inspect(listener: InspectionListener): () => void
  /** Calls `close` when no more events can come; returns a function that forgets it. */
  onEnd(close: (crash: ErrorInfo | null) => void): () => void
  /** Reports something that went wrong beside the run. */
  fail(thrown: unknown): void
  /** Ends it, for good or to be resumed from the log. Idempotent; the first call decides. */
  end(how: 'stop' | 'close'): Promise<void>
  /** Works with the loaded agent, at once where it is loaded. Rejects when its log cannot be opened or read. */
  loaded<T>(work: (agent: LoadedAgent) => Promise<T>): Promise<T>
}

/** An agent whose machine runs. */
export interface LoadedAgent extends TreeAgent {
  readonly isStopped: boolean
  /** Somebody listens, or waits for the end. */
  readonly isAttended: boolean
  /** Commands sent that the context does not show yet. */
  readonly unseen: number
  /** Its sub-agents, alive or to be. */
  readonly family: Children
  /** What its log says it was asked for. */
  readonly requests: { has(requestId: string): boolean }
}
