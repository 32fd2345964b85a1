import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'

const later = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** A store in memory whose answers come later, as those of a database do. */
export function lateStore(inner: Store = memoryStore()): Store {
  return {
    append: async (agentId, records) => {
      await later()
      await inner.append(agentId, records)
      await later()
    },
    async *read(agentId, fromSeq) {
      await later()
      for await (const record of inner.read(agentId, fromSeq)) {
        await new Promise((resolve) => setImmediate(resolve))
        yield record
      }
    },
    list: async () => {
      await later()
      return inner.list()
    },
    open: async (agentId) => {
      await later()
      const lease = await inner.open(agentId)
      await later()
      return lease
    },
    close: () => inner.close(),
  }
}

/** A late store that holds these logs: what is left when a process dies. */
export async function lateStoreOf(logs: { readonly [agentId: string]: readonly LogRecord[] }): Promise<Store> {
  const inner = memoryStore()
  for (const [agentId, records] of Object.entries(logs)) {
    const lease = await inner.open(agentId)
    await inner.append(agentId, records)
    await lease.release()
  }
  return lateStore(inner)
}
