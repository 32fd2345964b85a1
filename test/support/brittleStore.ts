import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'

/** A store in memory that can be told to fail. */
export interface BrittleStore extends Store {
  /** Value that all later appends reject with; `undefined`: they work again. */
  fail: unknown
  /** True if a failing append stores its records all the same, so that only the answer is lost. */
  storesFirst: boolean
  /** Looks at a batch before it is written; may set `fail`. */
  onAppend: ((records: readonly LogRecord[]) => void) | undefined
}

/** Makes a store that works. */
export function brittleStore(): BrittleStore {
  const inner = memoryStore()
  const store: BrittleStore = {
    fail: undefined,
    storesFirst: false,
    onAppend: undefined,
    append: async (agentId, records) => {
      store.onAppend?.(records)
      // Failing takes its time, as with a real disk.
      await new Promise((resolve) => setImmediate(resolve))
      if (store.storesFirst) await inner.append(agentId, records)
      // oxlint-disable-next-line typescript/only-throw-error -- stores may reject with anything
      if (store.fail !== undefined) throw store.fail
      if (!store.storesFirst) await inner.append(agentId, records)
    },
    read: (agentId, fromSeq) => inner.read(agentId, fromSeq),
    list: () => inner.list(),
    open: (agentId) => inner.open(agentId),
    close: () => inner.close(),
  }
  return store
}
