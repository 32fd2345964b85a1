import type {
  CompactOptions,
  DecideOptions,
  Decision,
  PruneOptions,
  RevertCommandOptions,
  SayOptions,
} from '../../../../src/protocol/bridge/commands.ts'
import type { PermissionMode } from '../../../../src/protocol/parts/permissions/permissionModes.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { ConversationView } from '../../../../src/conversation/tree/conversationView.ts'
import type { Content } from '../../../../src/protocol/text/saidContent.ts'
import type { Pending } from '../../../../src/protocol/runs/pending.ts'
import type { Savings } from '../../../sessions/src/savings/savings.ts'
import type { PauseReason, Spent } from '../../../../src/protocol/records.ts'
import type { ChatParts } from './slashCommands.ts'
import type { UseChange } from '../../../../src/protocol/bridge/turns.ts'
import type { Run } from '../../../../src/protocol/runs/run.ts'

/**
 * An agent in the form that a chat needs, in this process or on a server. Where a local agent throws, a remote one rejects. A refused run
 * ends with the error as its result.
 */
export interface ChatAgent {
  readonly id: string
  /** Name of the chart's active state. */
  readonly state: string
  readonly pause: PauseReason | null
  /** True if the last run failed and can be continued. */
  readonly hasFailed: boolean
  /** Approvals, questions and calls that wait for people. */
  pending(): readonly Pending[]
  prompt(content: Content, options?: SayOptions): Run
  resume(): Run
  steer(text: string): Promise<void> | void
  followUp(text: string): Promise<void> | void
  abort(): Promise<void> | void
  prune(options: PruneOptions): Promise<void> | void
  fold(): Promise<void> | void
  graft(steps: readonly string[]): Promise<void> | void
  revert(step: string, options: RevertCommandOptions): Promise<void> | void
  compact(options: CompactOptions): Promise<void> | void
  pin(step: string): Promise<void> | void
  unpin(step: string): Promise<void> | void
  brake(policy: string): Promise<void> | void
  use(use: UseChange | null): Promise<void> | void
  /** Decides a waiting call. `call`: the `callId` for the agent's own calls, the `key` for those of sub-agents. */
  decide(call: string, decision: Decision, how?: string | DecideOptions): Promise<void> | void
  setMode(mode: PermissionMode): Promise<void> | void
  /** Calls `listener` with every further event; returns an unsubscribe function. */
  subscribe(listener: (event: AgentEvent) => void): () => void
}

/** A conversation in the form that a chat shows. */
export type ChatConversation = Pick<ConversationView, 'trunk' | 'abandoned'>

/** Facts about an agent, and commands on its log, for a chat in addition to `ChatAgent`. */
export interface ChatAbout {
  /** Tells which commands are available. */
  readonly has: ChatParts
  /** Returns the current conversation. Rejects if the server does not answer. */
  conversation(): Promise<ChatConversation>
  /** Returns the agent's total spending, including sub-agents. Rejects if the server does not answer. */
  spent(): Promise<Spent>
  /** Returns the savings from the agent's own brakes. Missing if its log cannot be read from here. */
  savings?(): Promise<Savings>
  /** Forks the session at a step, such as n12. Resolves with its id and how to continue it. Missing if sessions cannot be forked here. */
  fork?(step: string): Promise<string>
}

/** Returns true if a message would start a run: a new prompt replaces a run that is paused between turns. */
export const isWaiting = ({ state, pause }: Pick<ChatAgent, 'state' | 'pause'>): boolean =>
  state === 'idle' || pause?.type === 'limit' || pause?.type === 'stall' || pause?.type === 'interrupted'

/** Decides a waiting call. Rejects with the error that the agent throws. */
export const decideCall = async (
  agent: ChatAgent,
  { agentId, callId, key }: Pick<Pending, 'agentId' | 'callId' | 'key'>,
  decision: Decision,
  how?: string | DecideOptions,
): Promise<void> => agent.decide(agentId === agent.id ? callId : key, decision, how)
