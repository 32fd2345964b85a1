import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import type { ParentLink } from '../../protocol/records.ts'
import type { StoreLease } from '../../protocol/store.ts'
import type { AgentHost } from '../agents/agentHost.ts'
import type { History } from '../../sessions/readHistory.ts'

/** What the sub-agents of an agent need of the runtime. */
export interface Nursery {
  /** Opens a log. Rejects as the store does, and with `RUNTIME_CLOSED`. */
  openLog(agentId: string): Promise<StoreLease>
  /** Makes the host of an agent and registers it. */
  adopt(options: {
    readonly agentId: string
    readonly definition: AgentDefinition
    readonly lease: StoreLease
    readonly history: History | undefined
    readonly parent?: AgentHost
    readonly link: ParentLink
    readonly task?: string
  }): AgentHost
  /** Writes what is left of its log, and lets it go. */
  release(host: AgentHost): Promise<void>
}
