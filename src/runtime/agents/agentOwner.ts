import type { AgentBody } from './agentBody.ts'

/** Holder of an agent's body, which may be unloaded and loaded again. */
export interface AgentSlot {
  readonly body: AgentBody
}

/** Functions of the runtime that an agent uses. */
export interface AgentOwner<Agent> {
  newId(): string
  /** Releases a stopped agent and its log. */
  release(body: AgentBody): Promise<void>
  /** A listener was removed: an idle agent may be unloaded now. */
  unheard(body: AgentBody): void
  agent(agentId: string): Agent | undefined
}
