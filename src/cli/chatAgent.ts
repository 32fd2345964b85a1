import type { CompactOptions, Decision, PruneOptions, RevertCommandOptions } from '../protocol/commands.ts'
import type { AgentEvent } from '../protocol/events.ts'
import type { Pending } from '../protocol/pending.ts'
import type { PauseReason } from '../protocol/records.ts'
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
  /** What waits for people. */
  pending(): readonly Pending[]
  prompt(text: string): Run
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
