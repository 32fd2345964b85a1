import type { ConversationView } from '../../conversation/conversation.ts'
import type { AgentContext } from '../../machines/agentTypes.ts'
import type { GrowingReply } from '../../protocol/events.ts'
import type { Children } from '../children/children.ts'
import type { TreeAgent } from '../children/treeAgent.ts'
import type { Announcer } from '../events/announcer.ts'
import type { Runs } from '../events/runs.ts'
import type { InspectionListener } from './inspections.ts'

/** What of a machine's context is known of an agent that is not loaded too. */
export type RestingContext = Pick<
  AgentContext,
  'pause' | 'run' | 'calls' | 'prompts' | 'steering' | 'followUps' | 'reverts'
>

/** What of an agent is there whether it is loaded or not. */
type Known =
  | 'agentId'
  | 'path'
  | 'definition'
  | 'parent'
  | 'liveChildren'
  | 'state'
  | 'spent'
  | 'clock'
  | 'send'
  | 'durable'
  | 'onEnd'
  | 'fail'

/** What an `Agent` asks for: its host, or what stands in for the host while the agent is unloaded. */
export interface AgentBody extends Pick<TreeAgent, Known> {
  readonly isLoaded: boolean
  /** How many more sub-agents it may have alive. */
  readonly room: number
  readonly context: RestingContext
  readonly conversation: ConversationView
  readonly growingReply: GrowingReply | undefined
  /** `seq` of its last record. */
  readonly lastSeq: number
  /** Bytes of a torn last line that opening the log cut off. */
  readonly repairedBytes: number
  /** Stopped, or asked to. */
  readonly isStopped: boolean
  /** Its log can never be written on as it is: it can only be ended. */
  readonly isStuck: boolean
  /** Commands sent that the context does not show yet. */
  readonly unseen: number
  readonly announcer: Pick<Announcer, 'subscribe' | 'requested' | 'clean'>
  readonly runs: Pick<Runs, 'expect' | 'resume'>
  inspect(listener: InspectionListener): () => void
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
