import { createHash } from 'node:crypto'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { findFork, writeFork } from '../../../sessions/src/forkSession.ts'
import type { AgentAccess } from './agentAccess.ts'
import type { Bridge } from './bridge.ts'

/** Maximum length of a definition's name in the id of a fork, which leaves room for the random part. */
const mostNameChars = 100

/** Returns the id of a fork, derived from the id of its request, so that a repeated request finds the same fork. */
export function forkIdOf(definition: string, requestId: string): string {
  const hash = createHash('sha256').update(requestId).digest('hex').slice(0, 16)
  return `${definition.slice(0, mostNameChars)}-${hash}`
}

/**
 * Begins a session that shares the past of an agent up to the step of a node, as `forkSession` does. The agent
 * may be running and is not disturbed. Rejects with `AGENT_NOT_FOUND`, `NODE_NOT_FOUND`, `AGENT_INCOGNITO`, and
 * with `BRIDGE_FORBIDDEN` if the agent or the fork would be out of the client's reach.
 */
export async function forkAgent(
  bridge: Bridge,
  access: AgentAccess,
  { agentId, at }: { readonly agentId: string; readonly at: string },
  requestId: string,
): Promise<{ readonly agentId: string }> {
  const running = access.find(agentId)
  if (running !== undefined) {
    access.check(running)
    if (running.incognito)
      throw new RuntimeError('AGENT_INCOGNITO', `Agent "${agentId}" has no log that can be shared.`)
    // What was just said is in the store before it is looked for there; a store that fails is a matter of the agent.
    try {
      await running.durable()
    } catch {
      // Its events say so.
    }
  }
  const { definition, metadata } = await bridge.agents.created(agentId, access)
  const id = forkIdOf(definition, requestId)
  if (!access.reach({ id, path: [], metadata }))
    throw new RuntimeError(
      'BRIDGE_FORBIDDEN',
      'This token reaches certain agents only, and the fork is not among them.',
    )
  try {
    const fork = await findFork(bridge.store, agentId, at, { id, clock: bridge.clock })
    access.checkAdmitted()
    return await writeFork(bridge.store, fork)
  } catch (thrown) {
    if (thrown instanceof RuntimeError && thrown.code === 'AGENT_EXISTS') return { agentId: id }
    throw thrown
  }
}
