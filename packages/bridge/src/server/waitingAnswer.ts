import type { Metadata } from '../../../../src/protocol/metadata.ts'
import type { WaitingAgent } from '../../../../src/protocol/runs/pending.ts'
import { inOrder, waitingAgent, type PlacedWaiting } from '../../../waking/src/waitingList.ts'
import type { AgentAccess } from './agentAccess.ts'
import type { Bridge } from './bridge.ts'
import { defaultLimit } from './listPages.ts'
import { visiblePending } from './visible.ts'

/** Returns true if no ancestor is within reach. Otherwise the agent is listed with that ancestor. */
const isTopmost = ({ path, metadata }: PlacedWaiting, { reach }: AgentAccess): boolean =>
  !path.some((id, depth) => reach({ id, path: path.slice(0, depth), metadata }))

/**
 * Returns everything that waits for people at the agents within a client's reach, running or not, as far as it may see that. No agent is woken.
 * Rejects with `STORE_READ_FAILED`.
 */
export async function waitingFor(
  bridge: Bridge,
  access: AgentAccess,
  { metadata, limit = defaultLimit }: { readonly metadata?: Metadata; readonly limit?: number },
): Promise<{ readonly waiting: readonly WaitingAgent[]; readonly total: number }> {
  const found: WaitingAgent[] = []
  for await (const one of bridge.waiting.find(access.waitingQuery(metadata))) {
    const { agentId: id, path } = one
    if (!access.reach({ id, path, metadata: one.metadata }) || !isTopmost(one, access)) continue
    if (access.isHidden(id, path)) continue
    const pending = one.waiting.map(({ pending: each }) => access.redact(visiblePending(each, access.view)))
    found.push(waitingAgent({ ...one, isRunning: one.isRunning || access.runElsewhere.has(id) }, pending))
  }
  return { waiting: inOrder(found).slice(0, limit), total: found.length }
}
