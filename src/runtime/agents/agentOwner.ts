import type { AgentHost } from './agentHost.ts'

/** Functions of the runtime that an agent uses. */
export interface AgentOwner<Agent> {
  newId(): string
  /** Releases a stopped agent and its log. */
  release(host: AgentHost): Promise<void>
  /** A listener was removed: an idle agent may be unloaded now. */
  unheard(host: AgentHost): void
  agent(agentId: string): Agent | undefined
}
