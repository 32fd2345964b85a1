import { RuntimeError } from '../../../src/protocol/errors.ts'
import { type Store, isErasable } from '../../../src/protocol/ports/store.ts'
import { checkAgentId } from '../../../src/protocol/ids.ts'
import { allLogs, pagesOf } from '../../stores/src/logPages.ts'
import { createdRecord } from '../../../src/log/readHistory.ts'

/**
 * Removes a session permanently, readable or not. A session that others were forked from is kept, as they share its log.
 *
 * @throws RuntimeError `INVALID_ID`, `AGENT_NOT_FOUND`, `SESSION_IN_USE` (naming the forks), `STORE_LOCKED` (it is running),
 * `STORE_DELETE_FAILED` (also from a store that cannot delete)
 */
export async function deleteSession(store: Store, agentId: string): Promise<void> {
  checkAgentId(agentId)
  if (!isErasable(store))
    throw new RuntimeError('STORE_DELETE_FAILED', `Agent "${agentId}" was not deleted: its store has no delete().`)
  const pages = pagesOf(store)
  if ((await pages({ ids: [agentId], limit: 1 })).logs.length === 0)
    throw new RuntimeError('AGENT_NOT_FOUND', `There is no log of agent "${agentId}" in this store.`)
  const forks: string[] = []
  for await (const { id, origin } of allLogs(pages, { limit: 1_000 })) {
    if (id === agentId) continue
    const source = origin === undefined ? await sourceOf(store, id) : origin.forkedFrom
    if (source === agentId) forks.push(id)
  }
  if (forks.length > 0) {
    const what = `Agent "${agentId}" was not deleted: ${forks.toSorted().join(', ')} ${forks.length === 1 ? 'is' : 'are'} forked from it.`
    throw new RuntimeError('SESSION_IN_USE', what)
  }
  await store.delete(agentId)
}

/** Returns the agent from which another was forked. A log whose beginning is unreadable cannot be resumed, so it does not keep its source. */
async function sourceOf(store: Store, agentId: string): Promise<string | undefined> {
  try {
    const created = await createdRecord(store, agentId)
    return created?.forkedFrom?.agentId
  } catch (thrown) {
    if (thrown instanceof RuntimeError && thrown.code === 'LOG_CORRUPT') return undefined
    throw thrown
  }
}
