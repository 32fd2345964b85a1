import { RuntimeError } from '../../src/protocol/errors.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'

/** A store whose lease of one log is over at a certain point, as after a process was frozen there: the store reports it only when asked. */
export interface LosingStore extends Store {
  /** Records of appends after the lease was over. */
  readonly late: readonly LogRecord[]
  /** Ends the lease. */
  lose(): void
}

/** `isLast` chooses the record of agent `a1` after which the lease is over. */
export function losingStore(isLast: (record: LogRecord) => boolean = () => false): LosingStore {
  const inner = memoryStore()
  const late: LogRecord[] = []
  let isOver = false
  return {
    ...inner,
    late,
    lose: () => (isOver = true),
    holds: () => !isOver,
    open: async (agentId, options) => {
      const lease = await inner.open(agentId, options)
      const { lastSeq, epoch } = lease
      return {
        agentId,
        lastSeq,
        repairedBytes: 0,
        ...(epoch === undefined ? {} : { epoch }),
        release: () => lease.release(),
      }
    },
    append: (agentId, records, epoch) => {
      if (isOver) {
        late.push(...records)
        return Promise.reject(new RuntimeError('STORE_LEASE_LOST', 'Another writer has it.'))
      }
      const answer = inner.append(agentId, records, epoch)
      if (agentId === 'a1' && records.some(isLast)) isOver = true
      return answer
    },
  }
}
