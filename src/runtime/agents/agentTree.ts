import type { CallState } from '../../machines/agentTypes.ts'
import type { AgentBody } from './agentBody.ts'

/** An agent in its tree. */
export type TreeNode = Pick<
  AgentBody,
  'agentId' | 'definition' | 'deps' | 'state' | 'context' | 'listedChildren' | 'send' | 'answers'
>

/** An agent and the living agents below it. */
export interface AgentTree {
  readonly id: string
  readonly definition: string
  /** Name of the chart's active state. */
  readonly state: string
  readonly children: readonly AgentTree[]
}

/** A call that waits for a decision. */
export interface PendingApproval {
  readonly agentId: string
  readonly callId: string
  /** Unique across all agents; any ancestor can decide the call by it. */
  readonly key: string
  readonly name: string
  readonly input: unknown
}

export const treeOf = (host: TreeNode): AgentTree => ({
  id: host.agentId,
  definition: host.definition.name,
  state: host.state,
  children: host.listedChildren.map(treeOf),
})

/** The host of an agent in the tree below this one, itself included. */
export function hostOf(host: TreeNode, agentId: string): TreeNode | undefined {
  if (host.agentId === agentId) return host
  for (const child of host.listedChildren) {
    const found = hostOf(child, agentId)
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns true if nothing below continues before people decide something. */
export function waitsForPeople({ state, children }: AgentTree): boolean {
  const busy = children.filter((child) => child.state !== 'idle' && child.state !== 'stopped')
  return busy.every(waitsForPeople) && (state === 'paused' || (state === 'executing' && busy.length > 0))
}

/** Returns true if nothing can continue before something is decided, in the agent or in the sub-agents it waits for. */
export const awaitsDecision = (agent: { pending(): readonly unknown[]; tree(): AgentTree }): boolean =>
  agent.pending().length > 0 && waitsForPeople(agent.tree())

/** Returns the agent's own calls that wait for an approval; none while their run waits for `resume`. */
const heldIn = ({ context: { calls, run } }: Pick<TreeNode, 'context'>): readonly CallState[] =>
  run === null ? [] : calls.filter(({ status }) => status === 'held')

export function approvalsOf(host: TreeNode): PendingApproval[] {
  return [
    ...heldIn(host).map(({ callId, key, name, input }) => ({ agentId: host.agentId, callId, key, name, input })),
    ...host.listedChildren.flatMap(approvalsOf),
  ]
}
