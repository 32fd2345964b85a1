import type { Store } from '../../src/protocol/ports/store.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import type { Dice } from './dice.ts'

/** A store in memory that takes its time, fails when told to, and knows who holds what. */
export interface ChaosStore extends Store {
  /** Failures of a hundred appends. */
  failures: number
  /** Ids of agents whose log is open. */
  readonly openLogs: ReadonlySet<string>
  /** Appends that failed. */
  readonly failed: number
}

/** Makes one; `delay` is the most turns of the event loop that an operation takes. */
export function chaosStore(dice: Dice, delay: number): ChaosStore {
  const inner = memoryStore()
  const held = new Set<string>()
  const takeTime = async (): Promise<void> => {
    for (let left = delay === 0 ? 0 : dice.int(0, delay); left > 0; left -= 1)
      await new Promise((resolve) => setImmediate(resolve))
  }
  let failed = 0
  const store: ChaosStore = {
    ...inner,
    failures: 0,
    openLogs: held,
    get failed() {
      return failed
    },
    async append(agentId, records) {
      await takeTime()
      if (dice.percent(store.failures)) {
        failed += 1
        throw new Error('the disk is full')
      }
      await inner.append(agentId, records)
    },
    async open(agentId) {
      await takeTime()
      const lease = await inner.open(agentId)
      held.add(agentId)
      return {
        agentId,
        lastSeq: lease.lastSeq,
        repairedBytes: 0,
        release: async () => {
          await takeTime()
          held.delete(agentId)
          await lease.release()
        },
      }
    },
  }
  return store
}
