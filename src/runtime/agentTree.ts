import type { SubAgentEntry } from '../actors/subAgents.ts'
import { subAgentOf } from '../actors/subAgents.ts'
import { aliveChildren } from '../machines/allowances.ts'
import { RuntimeError, toErrorInfo } from '../protocol/errors.ts'
import { agentIdSchema } from '../protocol/ids.ts'
import type { Agent, AgentOwner } from './agent.ts'
import type { AgentHost } from './agentHost.ts'

/** An agent and what is alive below it. */
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
  /** Unique over all agents: any ancestor decides the call by it. */
  readonly key: string
  readonly name: string
  readonly input: unknown
}

export const treeOf = (host: AgentHost): AgentTree => ({
  id: host.agentId,
  definition: host.definition.name,
  state: host.state,
  children: host.liveChildren.map(treeOf),
})

/** The host of an agent in the tree below this one, itself included. */
export function hostOf(host: AgentHost, agentId: string): AgentHost | undefined {
  if (host.agentId === agentId) return host
  for (const child of host.liveChildren) {
    const found = hostOf(child, agentId)
    if (found !== undefined) return found
  }
  return undefined
}

export function approvalsOf(host: AgentHost): PendingApproval[] {
  const { calls, run } = host.context
  const own = run === null ? [] : calls.filter(({ status }) => status === 'held')
  return [
    ...own.map(({ callId, key, name, input }) => ({ agentId: host.agentId, callId, key, name, input })),
    ...host.liveChildren.flatMap(approvalsOf),
  ]
}

/** Begins a child that code asks for, and gives its façade. */
export async function spawnChild(
  parent: AgentHost,
  owner: AgentOwner,
  entry: SubAgentEntry,
  { id }: { readonly id?: string },
): Promise<Agent> {
  const agent = subAgentOf(entry, 'spawn')
  const { context, children } = parent
  const childId = id ?? `${parent.agentId}.${context.children + children.wanted.size + 1}`
  if (!agentIdSchema.safeParse(childId).success) {
    throw new RuntimeError('INVALID_ID', `${JSON.stringify(childId)} is no agent id.`)
  }
  if (parent.isStopped) throw new RuntimeError('AGENT_STOPPED', `Agent "${parent.agentId}" has stopped.`)
  if (owner.agentById(childId) !== undefined || children.wanted.has(childId))
    throw new RuntimeError('AGENT_EXISTS', `Agent "${childId}" is running already.`)
  const { maxChildren } = parent.definition.policy
  if (aliveChildren(context) + children.wanted.size >= maxChildren) {
    throw new RuntimeError('CHILD_REFUSED', `Agent "${parent.agentId}" has ${maxChildren} sub-agents alive, the most allowed.`)
  }
  const opened = Promise.withResolvers<AgentHost>()
  children.wanted.set(childId, { agent, opened })
  try {
    parent.send({ type: 'spawn', childId, name: agent.definition.name, at: parent.clock.now() })
    const host = await opened.promise
    return owner.agentOf(host)!
  } catch (thrown) {
    if (thrown instanceof RuntimeError) throw thrown
    const { message } = toErrorInfo(thrown, 'CHILD_REFUSED')
    throw new RuntimeError('CHILD_REFUSED', message, { cause: thrown })
  } finally {
    children.wanted.delete(childId)
  }
}

