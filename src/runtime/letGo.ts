import { type ErrorInfo, RuntimeError } from '../protocol/errors.ts'
import type { AgentBody } from './agents/agentBody.ts'
import type { TreeAgent } from './children/treeAgent.ts'
import { checkStored } from './resumable.ts'

/**
 * Refuses to release an agent that cannot be released by itself.
 *
 * @throws RuntimeError `AGENT_NOT_FOUND`, `AGENT_INCOGNITO`, `INVALID_OPTION` for a sub-agent
 */
export function checkDetachable(agentId: string, body: AgentBody | undefined): asserts body is AgentBody {
  if (body === undefined) throw new RuntimeError('AGENT_NOT_FOUND', `No agent "${agentId}" runs here.`)
  checkStored(body, 'detach')
  const { parent } = body
  if (parent !== undefined)
    throw new RuntimeError(
      'INVALID_OPTION',
      `detach: "${agentId}" is a sub-agent of "${parent.agentId}", with which it goes.`,
    )
}

/**
 * Returns the agent at the top of a tree: a process that has the log of one agent has taken the tree, or a part that the rest cannot do
 * without. Pure.
 */
export const rootOf = (agent: TreeAgent): TreeAgent => (agent.parent === undefined ? agent : rootOf(agent.parent))

/** An agent with all that is alive below it. Pure. */
const treeOf = (agent: TreeAgent): TreeAgent[] => [agent, ...agent.liveChildren.flatMap(treeOf)]

/**
 * Ends an agent here with everything alive below it, even in the middle of their work, without a record in their logs: effects are aborted, and
 * callers that wait for a run are told why. Resolves once their logs are written as far as they had come, and free. Rejects as `release` does.
 */
export async function letGo(
  agent: TreeAgent,
  why: ErrorInfo,
  hosts: { release(agent: TreeAgent): Promise<void> },
): Promise<void> {
  const tree = treeOf(agent)
  agent.letGo(why)
  await Promise.all(tree.flatMap((one) => one.childrenReleased() ?? []))
  await hosts.release(agent)
}

/** How a runtime is closed. */
export interface ClosingOptions {
  /** Lets go of every agent as `detach` does, instead of aborting its run. Default `false`. */
  readonly detach?: boolean
}

/** Functions that release the bodies of agents. */
interface BodyOwner {
  release(agent: TreeAgent): Promise<void>
  releaseBody(body: AgentBody): Promise<void>
}

/** Lets go of an agent without a parent; one of which nothing is stored is closed. Rejects as the store does. */
export async function detachBody(body: AgentBody, owner: BodyOwner): Promise<void> {
  if (body.incognito !== true && (body.isLoaded || body.unseen > 0))
    return await body.loaded((host) => letGo(host, detachedHere(body.agentId), owner))
  await body.end('close')
  await owner.releaseBody(body)
}

/** Why an agent is no longer here that `detach` was called for. */
const detachedHere = (agentId: string): ErrorInfo => ({
  code: 'AGENT_DETACHED',
  message: `Agent "${agentId}" was let go of here; it goes on from its log where it is opened.`,
})
