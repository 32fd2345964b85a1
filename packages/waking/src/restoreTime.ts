import { rebuildConversation } from '../../../src/conversation/tree/rebuildConversation.ts'
import { readHistory } from '../../../src/log/readHistory.ts'
import { wakeAt } from '../../../src/machines/schedules.ts'
import { rebuildContext } from '../../../src/machines/rebuildContext.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'

/**
 * Writes the time of an agent into the index of its store anew, from its log, and returns it; `null`: it wants to be woken at no time. Does nothing in a
 * store without `timers`. The log is open meanwhile. Rejects as `open` and `read` of the store do.
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
