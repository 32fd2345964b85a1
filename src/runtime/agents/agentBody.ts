import type { PricedModel } from '../../actors/turn/turnOptions.ts'
import type { SharedLessons } from '../../conversation/brakes/lessons/sharedLessons.ts'
import type { ConversationView } from '../../conversation/tree/conversationView.ts'
import type { AgentContext } from '../../machines/agentTypes.ts'
import type { BrakeQueue } from '../../protocol/brakes/brakeTable.ts'
import { type ErrorCode, type ErrorInfo, RuntimeError } from '../../protocol/errors.ts'
import type { GrowingReply } from '../../protocol/events.ts'
import type { SourceInfo } from '../../protocol/toolsChange.ts'
import type { Children } from '../children/children.ts'
import type { TreeAgent } from '../children/treeAgent.ts'
import type { Announcer } from '../events/announcer.ts'
import type { Runs } from '../events/runs.ts'
import type { RunDeps } from '../children/runDeps.ts'
import type { Outline } from '../../log/outline.ts'
import type { InspectionListener } from './inspections.ts'
import type { AgentActor } from './machineHost.ts'

/** The part of a machine's context that is known even of an unloaded agent. */
export type RestingContext = Pick<
  AgentContext,
  | 'pause'
  | 'run'
  | 'failedRun'
  | 'resuming'
  | 'ending'
  | 'calls'
  | 'prompts'
  | 'steering'
  | 'followUps'
  | BrakeQueue
  | 'compactRequests'
  | 'policyRequests'
  | 'frame'
>

/** Fields that an agent has whether it is loaded or not. */
type Known =
  | 'agentId'
  | 'path'
  | 'definition'
  | 'parent'
  | 'listedChildren'
  | 'state'
  | 'waitsFor'
  | 'spent'
  | 'totals'
  | 'store'
  | 'clock'
  | 'send'
  | 'durable'
  | 'onEnd'
  | 'end'
  | 'fail'
  | 'incognito'
  | 'metadata'
  | 'answers'
  | 'deps'

/** Target that an `Agent` delegates to: its host, or a stand-in for the host while the agent is unloaded. */
export interface AgentBody extends Pick<TreeAgent, Known> {
  readonly isLoaded: boolean
  /** Name of the definition that answers. */
  readonly active: string
  /** The actor that runs the chart. */
  readonly ref: AgentActor | undefined
  /** How many more sub-agents it may have alive. */
  readonly room: number
  readonly context: RestingContext
  readonly conversation: ConversationView
  readonly growingReply: GrowingReply | undefined
  /** Dependencies that the application gives the agent; `undefined` while it gives none. */
  given: RunDeps | undefined
  /** Replaced by another object after each change of the agent or of its living sub-agents. */
  readonly version: object
  /** Outline of the agent's log. */
  readonly outline: Outline
  /** `seq` of its last record. */
  readonly lastSeq: number
  /** How many bytes of a torn last line were cut off when the log was opened. */
  readonly repairedBytes: number
  /** Stopped, or asked to. */
  readonly isStopped: boolean
  /** Why it was ended here without a record; `undefined`: it was not. */
  readonly wasLetGo: ErrorInfo | undefined
  /** True if the agent's log can no longer be appended to: the agent can only be ended. */
  readonly isStuck: boolean
  /** Commands sent that the context does not show yet. */
  readonly unseen: number
  readonly announcer: Pick<Announcer, 'subscribe' | 'requested' | 'clean'>
  readonly runs: Pick<Runs, 'expect' | 'resume'>
  /** How the sources of its tools are. */
  readonly sources: readonly SourceInfo[]
  /** Models that code gave it to use, by id. */
  readonly lent: ReadonlyMap<string, PricedModel> | undefined
  /** Keeps a model that `use` names by its id. */
  lend(model: PricedModel): void
  /** Takes part in a group of agents; only those that are loaded do. */
  joinGroup(group: SharedLessons): void
  inspect(listener: InspectionListener): () => void
  /** Runs `work` on the loaded agent, at once if it is loaded. Rejects if its log cannot be opened or read. */
  loaded<T>(work: (agent: LoadedAgent) => Promise<T>): Promise<T>
}

/** An agent whose machine is running. */
export interface LoadedAgent extends TreeAgent {
  readonly isStopped: boolean
  /** True if anyone listens, or waits for the end. */
  readonly isAttended: boolean
  /** Calls `look` after each change of the agent or of those below it, perhaps in the middle of a step; returns a function that ends it. */
  watch(look: () => void): () => void
  /** Its sub-agents, living or about to start. */
  readonly family: Children
  /** The requests that its log contains. */
  readonly requests: { has(requestId: string): boolean }
}

/** The error of a command for an agent that takes none any more. */
export const stoppedError = ({ agentId, wasLetGo }: AgentBody): RuntimeError =>
  wasLetGo === undefined
    ? new RuntimeError('AGENT_STOPPED', `Agent "${agentId}" has stopped.`)
    : new RuntimeError(wasLetGo.code as ErrorCode, wasLetGo.message)
