import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import type { ParentLink } from '../../protocol/records.ts'
import type { StoreLease } from '../../protocol/store.ts'
import type { History } from '../../sessions/readHistory.ts'
import type { TreeAgent } from './treeAgent.ts'

/** Makes and lets go of what runs the sub-agents of an agent. */
export interface ChildHosts {
  /** Opens a log. Rejects as the store does, and with `RUNTIME_CLOSED`. */
  openLog(agentId: string): Promise<StoreLease>
  /** Makes the host of an agent and registers it. */
  adopt(options: {
    readonly agentId: string
    readonly definition: AgentDefinition
    readonly lease: StoreLease
    readonly history: History | undefined
    readonly parent?: TreeAgent
    readonly link: ParentLink
    readonly task?: string
  }): TreeAgent
  /** Writes what is left of its log, and lets it go. */
  release(host: TreeAgent): Promise<void>
}
