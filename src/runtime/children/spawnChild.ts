import { z } from 'zod'
import { onlyFields } from '../../protocol/checks/onlyFields.ts'
import { lazily } from '../../protocol/lazily.ts'
import { subAgentOf, type SubAgentEntry } from '../../actors/define/subAgents.ts'
import { aliveChildren } from '../../machines/allowances.ts'
import { checkedBy, RuntimeError, toErrorInfo, quoted } from '../../protocol/errors.ts'
import { isAgentId } from '../../protocol/ids.ts'
import type { Children } from './children.ts'
import { runDepsOf } from './runDeps.ts'
import type { GivenDeps, SpawnOptions } from './spawnOptions.ts'
import type { TreeAgent } from './treeAgent.ts'

const optionsSchema = lazily(() => onlyFields({ id: z.string(), incognito: z.boolean(), deps: z.unknown() }).partial())

/** Returns the number of further sub-agents that an agent may have alive. `children`: the sub-agents that it has had. */
export const roomFor = ({ view, machine }: TreeAgent, children: Children | undefined): number =>
  Math.max(0, view.definition.policy.maxChildren - aliveChildren(machine.context) - (children?.unseen ?? 0))

/** Starts a child requested by code; resolves once it is running. Throws as `Agent.spawn` does. */
export async function spawnChild(
  parent: TreeAgent,
  children: Children,
  entry: SubAgentEntry,
  { options, isTaken }: { readonly options: SpawnOptions & GivenDeps<unknown>; isTaken(agentId: string): boolean },
): Promise<TreeAgent> {
  const agent = subAgentOf(entry, 'spawn')
  const checked = checkedBy(optionsSchema(), options, 'spawn')
  // A separate kind of id, because a call may be given the next number in the same step.
  const childId = checked.id ?? `${parent.agentId}.s${parent.machine.context.children + children.unseen + 1}`
  if (!isAgentId(childId)) throw new RuntimeError('INVALID_ID', `${quoted(childId)} is not an agent id.`)
  if (/^\.\d+$/.test(childId.replace(parent.agentId, '')))
    throw new RuntimeError(
      'INVALID_ID',
      `${childId} has the form of an id reserved for sub-agents that the model calls.`,
    )
  if (parent.machine.isStopped) throw new RuntimeError('AGENT_STOPPED', `Agent "${parent.agentId}" has stopped.`)
  // One that crashed or closed keeps its place until the agent has taken leave of it.
  const isAttached = parent.machine.context.attached.some((child) => child.childId === childId)
  if (isAttached || isTaken(childId) || children.isWanted(childId))
    throw new RuntimeError('AGENT_EXISTS', `Agent "${childId}" is running already.`)
  if (roomFor(parent, children) <= 0) {
    const { maxChildren } = parent.view.definition.policy
    const what = `Agent "${parent.agentId}" has ${maxChildren} sub-agents alive, the most allowed.`
    throw new RuntimeError('CHILD_REFUSED', what)
  }
  try {
    // Below an incognito agent all are.
    const deps = runDepsOf(agent.definition, options.deps, 'spawn')
    const incognito = checked.incognito === true && !parent.incognito
    const opened = children.want(childId, agent, { incognito, deps })
    const { name } = agent.definition
    const mark = incognito ? ({ incognito } as const) : {}
    parent.machine.send({ type: 'spawn', childId, name, ...mark, at: parent.shared.clock.now() })
    return await opened
  } catch (thrown) {
    if (thrown instanceof RuntimeError) throw thrown
    const { message } = toErrorInfo(thrown, 'CHILD_REFUSED')
    throw new RuntimeError('CHILD_REFUSED', message, { cause: thrown })
  }
}
