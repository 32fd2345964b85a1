import { z } from 'zod'
import { isAgentDefinition } from '../../actors/agentDefinition.ts'
import type { SubAgentEntry } from '../../actors/subAgents.ts'
import { subAgentOf } from '../../actors/subAgents.ts'
import { aliveChildren } from '../../machines/allowances.ts'
import { describeIssues, RuntimeError, toErrorInfo } from '../../protocol/errors.ts'
import { isAgentId } from '../../protocol/ids.ts'
import type { Agent, AgentBody, AgentOwner } from './agent.ts'
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

const optionsSchema = z.strictObject({ id: z.string() }).partial()

export const treeOf = (host: AgentBody): AgentTree => ({
  id: host.agentId,
  definition: host.definition.name,
  state: host.state,
  children: host.liveChildren.map(treeOf),
})

/** The host of an agent in the tree below this one, itself included. */
export function hostOf(host: AgentBody, agentId: string): AgentBody | undefined {
  if (host.agentId === agentId) return host
  for (const child of host.liveChildren) {
    const found = hostOf(child, agentId)
    if (found !== undefined) return found
  }
  return undefined
}

export function approvalsOf(host: AgentBody): PendingApproval[] {
  const { calls, run } = host.context
  const own = run === null ? [] : calls.filter(({ status }) => status === 'held')
  return [
    ...own.map(({ callId, key, name, input }) => ({ agentId: host.agentId, callId, key, name, input })),
    ...host.liveChildren.flatMap(approvalsOf),
  ]
}

/** Children asked for that the machine has not heard of: from inside a listener it is in the middle of a step. */
function unseenOf({ context, family }: AgentHost): number {
  const seen = new Set(context.attached.map(({ childId }) => childId))
  return [...family.wanted.keys()].filter((childId) => !seen.has(childId)).length
}

/** How many more sub-agents an agent may have alive. */
export const roomOf = (host: AgentHost): number =>
  Math.max(0, host.definition.policy.maxChildren - aliveChildren(host.context) - unseenOf(host))

/** Gives the conversation to another agent, which knows all of it. */
export async function handOver(
  parent: AgentHost,
  owner: AgentOwner,
  entry: SubAgentEntry,
  { afterwards = 'wait' }: { readonly afterwards?: 'wait' | 'end' },
): Promise<Agent> {
  const options = isAgentDefinition(entry) ? { definition: entry } : entry
  const heir = await spawnChild(parent, owner, { context: 'fork', ...options, detach: afterwards === 'end' }, {})
  if (afterwards === 'end') await owner.agentOf(parent)?.close()
  return heir
}

/** Begins a child that code asks for, and gives its façade. */
export async function spawnChild(
  parent: AgentHost,
  owner: AgentOwner,
  entry: SubAgentEntry,
  options: { readonly id?: string },
): Promise<Agent> {
  const agent = subAgentOf(entry, 'spawn')
  const checked = optionsSchema.safeParse(options)
  if (!checked.success) throw new RuntimeError('INVALID_OPTION', `spawn: ${describeIssues(checked.error)}.`)
  const { id } = checked.data
  const { context, family: children } = parent
  // An id of its own kind: a call may be given the next number in the same step.
  const childId = id ?? `${parent.agentId}.s${context.children + unseenOf(parent) + 1}`
  if (!isAgentId(childId)) {
    throw new RuntimeError('INVALID_ID', `${JSON.stringify(childId)} is no agent id.`)
  }
  if (/^\.\d+$/.test(childId.replace(parent.agentId, '')))
    throw new RuntimeError('INVALID_ID', `${childId} is an id as sub-agents get that the model calls.`)
  if (parent.isStopped) throw new RuntimeError('AGENT_STOPPED', `Agent "${parent.agentId}" has stopped.`)
  if (owner.agentById(childId) !== undefined || children.wanted.has(childId))
    throw new RuntimeError('AGENT_EXISTS', `Agent "${childId}" is running already.`)
  if (roomOf(parent) <= 0) {
    const { maxChildren } = parent.definition.policy
    const what = `Agent "${parent.agentId}" has ${maxChildren} sub-agents alive, the most allowed.`
    throw new RuntimeError('CHILD_REFUSED', what)
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
