import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { LogEntry } from '../../../../src/protocol/ports/logPages.ts'
import { LogUses } from '../../../sessions/src/spend/logUses.ts'
import {
  readUses,
  sumSpend,
  usesIn,
  type ReadUses,
  type SpendOptions,
  type StoreSpend,
} from '../../../sessions/src/spend/spendOf.ts'
import type { WantedSessions } from './sessionIndex.ts'

/** Length of a time slice, in milliseconds. With whole slices, a log of a day is a few hundred numbers. */
export const sliceMs = 300_000

/** Maximum number of uses that are kept for a log, and of logs. */
const mostUses = 128
const mostLogs = 20_000

interface Known {
  readonly log: Pick<LogEntry, 'size' | 'writtenAt'>
  readonly uses: LogUses
}

/**
 * Spending in the logs of a store, for the clients of one server, one query at a time. Results of a log are
 * kept in slices of time, so that only new records are read again.
 */
export class SpendIndex {
  readonly #store: Store
  readonly #known = new Map<string, Known>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(store: Store) {
    this.#store = store
  }

  /** Sums spending. Rejects as `spendOf` does. */
  sum({ query, choose }: Omit<WantedSessions, 'running'>, options: SpendOptions): Promise<StoreSpend> {
    const since = Math.floor((options.since ?? 0) / sliceMs) * sliceMs
    const sum = this.#last.then(() =>
      sumSpend(this.#store, query, { ...options, since }, (log) => this.#read(log, since), choose),
    )
    this.#last = sum.catch(() => {})
    return sum
  }

  async #read(log: LogEntry, since: number): Promise<ReadUses> {
    const known = this.#known.get(log.id)
    const isSame = known?.log.size === log.size && known.log.writtenAt === log.writtenAt
    // One that has become shorter was replaced.
    const uses = known !== undefined && log.size >= known.log.size ? known.uses : newUses()
    if (!isSame) {
      this.#known.delete(log.id)
      const { error } = await readUses(this.#store, log.id, uses)
      if (error !== undefined) return { ...usesIn(uses), error }
    }
    this.#known.set(log.id, { log: { size: log.size, writtenAt: log.writtenAt }, uses })
    if (this.#known.size > mostLogs) this.#known.delete(this.#known.keys().next().value!)
    // Of what was joined, the times are not known any more.
    if (since > 0 && since < uses.joinedUntil) return await readUses(this.#store, log.id, new LogUses({ sliceMs }))
    return usesIn(uses)
  }
}

const newUses = (): LogUses => new LogUses({ sliceMs, most: mostUses })
