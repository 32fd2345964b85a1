import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { ErrorInfo } from '../../protocol/errors.ts'
import type { Metadata } from '../../protocol/metadata.ts'
import type { ParentLink } from '../../protocol/parentLink.ts'
import type { LeaseOptions, Store, StoreLease } from '../../protocol/ports/store.ts'
import type { History } from '../../log/readHistory.ts'
import type { RunDeps } from './runDeps.ts'
import type { TreeAgent } from './treeAgent.ts'

/** Creates and releases the hosts of an agent's sub-agents. */
export interface ChildHosts {
  newId(): string
  incognitoStore(): Store
  /** Returns an agent of the runtime, loaded or not, and perhaps from another tree. */
  find(agentId: string): Pick<TreeAgent, 'machine' | 'log'> | undefined
  /** Opens a log. Rejects with the store's errors, and with `RUNTIME_CLOSED`. */
  openLog(agentId: string, store: Store, leasing?: LeaseOptions): Promise<StoreLease>
  /** Makes the host of an agent and registers it. @throws RuntimeError `AGENT_EXISTS` */
  adopt(options: {
    readonly agentId: string
    readonly definition: AgentDefinition
    readonly lease: StoreLease
    readonly history: History | undefined
    readonly parent?: TreeAgent
    readonly link: ParentLink
    readonly task?: string
    readonly incognito?: Store | undefined
    readonly isUnattended?: boolean
    readonly deps?: RunDeps | undefined
    readonly metadata: Metadata | undefined
  }): TreeAgent
  /** Ends the agent's whole tree here, because another writer has its log. */
  lost(host: TreeAgent, why: ErrorInfo): void
  /** Writes the rest of the agent's log, and releases it. */
  release(host: TreeAgent): Promise<void>
}
