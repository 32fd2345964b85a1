import type { CompactOptions, Decision, PruneOptions, RevertCommandOptions, SayOptions } from '../protocol/commands.ts'
import type { AgentEvent } from '../protocol/events.ts'
import type { ConversationView } from '../conversation/conversationView.ts'
import type { Content } from '../protocol/saidContent.ts'
import type { Pending } from '../protocol/pending.ts'
import type { PauseReason, Spent } from '../protocol/records.ts'
import type { UseChange } from '../protocol/turns.ts'
import type { Run } from '../runs/run.ts'

/**
 * An agent as a chat needs it, in this process or on a server. Where a local one throws, one on a server rejects; a run that it
 * refuses ends with the error as its result.
 */
export interface ChatAgent {
  readonly id: string
  /** Name of the chart's active state. */
  readonly state: string
  readonly pause: PauseReason | null
  /** Whether its last run failed, and can be gone on with. */
  readonly hasFailed: boolean
  /** What waits for people. */
  pending(): readonly Pending[]
  prompt(content: Content, options?: SayOptions): Run
  resume(): Run
  steer(text: string): Promise<void> | void
  followUp(text: string): Promise<void> | void
  abort(): Promise<void> | void
  prune(options: PruneOptions): Promise<void> | void
  graft(steps: readonly string[]): Promise<void> | void
  revert(step: string, options: RevertCommandOptions): Promise<void> | void
  compact(options: CompactOptions): Promise<void> | void
  pin(step: string): Promise<void> | void
  unpin(step: string): Promise<void> | void
  brake(policy: string): Promise<void> | void
  use(use: UseChange | null): Promise<void> | void
  /** Own calls by `callId`, those of sub-agents by `key`. */
  decide(call: string, decision: Decision, reason?: string): Promise<void> | void
  /** Calls with every event from now on; returns a function that ends it. */
  subscribe(listener: (event: AgentEvent) => void): () => void
}

/** A conversation as a chat shows it. */
export type ChatConversation = Pick<ConversationView, 'trunk' | 'abandoned'>

/** What a chat can tell of its agent, and do with its log, beside commands. */
export interface ChatAbout {
  /** As it is now. Rejects if the server does not answer. */
  conversation(): Promise<ChatConversation>
  /** Over its life, its sub-agents included. Rejects if the server does not answer. */
  spent(): Promise<Spent>
  /** Begins a session at a step, such as n12; resolves with its id and how to go on with it. Default: it cannot be done here. */
  fork?(step: string): Promise<string>
}

/** Whether a message would start a run: a new prompt replaces a run that is paused between turns. */
export const isWaiting = ({ state, pause }: Pick<ChatAgent, 'state' | 'pause'>): boolean =>
  state === 'idle' || pause?.type === 'limit' || pause?.type === 'stall' || pause?.type === 'interrupted'

/** Decides something that waits. Rejects with what the agent throws. */
export const decideCall = async (
  agent: ChatAgent,
  { agentId, callId, key }: Pick<Pending, 'agentId' | 'callId' | 'key'>,
  decision: Decision,
  reason?: string,
): Promise<void> => agent.decide(agentId === agent.id ? callId : key, decision, reason)
