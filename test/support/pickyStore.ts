import { RuntimeError } from '../../src/protocol/errors.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'

/** A store in memory that can never take a record of more than so many characters; its data outlives `close`. */
export function pickyStore(maxChars: number): Store {
  const inner = memoryStore()
  return {
    append: async (agentId, records) => {
      const { length } = records.map((record) => JSON.stringify(record)).find((json) => json.length > maxChars) ?? ''
      if (length > 0) throw new RuntimeError('RECORD_TOO_LARGE', `A record of ${length} characters is too large.`)
      await inner.append(agentId, records)
    },
    read: (agentId, fromSeq) => inner.read(agentId, fromSeq),
    list: () => inner.list(),
    open: (agentId) => inner.open(agentId),
    close: async () => {},
  }
}
