import { rebuildConversation } from '../../../src/conversation/tree/rebuildConversation.ts'
import { readHistory } from '../../../src/log/readHistory.ts'
import { wakeAt } from '../../../src/machines/schedules.ts'
import { rebuildContext } from '../../../src/machines/rebuildContext.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'

/**
 * Rewrites an agent's time in its store's index from its log, and returns it; `null` if it need not be woken. Does nothing in a store
 * without `timers`. The log is open meanwhile. Rejects as the store's `open` and `read` do.
 */
export async function restoreTime(store: Store, agentId: string): Promise<number | null> {
  if (store.timers === undefined) return null
  const lease = await store.open(agentId)
  try {
    const { past, records } = await readHistory(store, agentId)
    const { prompts } = rebuildConversation(records, { past }).queues
    const due = wakeAt({ ...rebuildContext(records, past), prompts })
    await store.timers.set(agentId, due, lease.epoch)
    return due
  } finally {
    await lease.release()
  }
}
