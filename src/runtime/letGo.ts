import { type ErrorInfo, RuntimeError } from '../protocol/errors.ts'
import type { AgentBody } from './agents/agentBody.ts'
import type { TreeAgent } from './children/treeAgent.ts'
import { checkStored } from './resumable.ts'

/**
 * Checks that an agent can be released by itself.
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

/** Returns the root of an agent's tree. A process that has the log of one agent has taken the whole tree, or a part that the rest needs. Pure. */
export const rootOf = (agent: TreeAgent): TreeAgent => (agent.parent === undefined ? agent : rootOf(agent.parent))

/** Returns an agent with all living agents below it. Pure. */
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
  /** Releases every agent like `detach`, instead of aborting its run. Default `false`. */
  readonly detach?: boolean
}

/** Functions that release the bodies of agents. */
interface BodyOwner {
  release(agent: TreeAgent): Promise<void>
  releaseBody(body: AgentBody): Promise<void>
}

/** Releases an agent without a parent. An incognito agent is closed. Rejects as the store does. */
export async function detachBody(body: AgentBody, owner: BodyOwner): Promise<void> {
  if (body.incognito !== true && (body.isLoaded || body.unseen > 0))
    return await body.loaded((host) => letGo(host, detachedHere(body.agentId), owner))
  await body.end('close')
  await owner.releaseBody(body)
}

/** Returns the error for an agent that was detached. */
const detachedHere = (agentId: string): ErrorInfo => ({
  code: 'AGENT_DETACHED',
  message: `Agent "${agentId}" was let go of here; it goes on from its log where it is opened.`,
})
