import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { eventOf, type LoggedEvent } from '../../../../src/protocol/events.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'

/** Parts of a log follower: its log, and its listeners. */
export interface FollowerParts {
  readonly agentId: string
  readonly store: Pick<Store, 'read'>
  readonly clock: Clock
  /** Interval between reads of the log, in milliseconds. */
  readonly pollMs: number
  /** `seq` of the last known record. */
  readonly after: number
  readonly onEvent: (event: LoggedEvent) => void
  /** Called when all records so far were read. */
  readonly onCaughtUp: (seq: number) => void
  /** Called when the log cannot be read; the read is tried again. */
  readonly onFailure: (thrown: unknown) => void
}

/** Follows a log that another process writes, record by record, without a gap or a repeat. */
export class LogFollower {
  readonly #parts: FollowerParts
  #seq: number
  #path: readonly string[] = []
  #isClosed = false
  #hasCaughtUp = false
  #cancel: (() => void) | undefined
  /** Resolves after the last read: reads run one after the other. */
  #reading: Promise<void>

  constructor(parts: FollowerParts) {
    this.#parts = parts
    this.#seq = parts.after
    this.#reading = this.#readAndWait()
  }

  /** `seq` of the last record that was read. */
  get seq(): number {
    return this.#seq
  }

  /** Reads on at once. Resolves when all existing records were reported. */
  poke(): Promise<void> {
    this.#reading = this.#reading.then(() => {
      this.#cancel?.()
      return this.#readAndWait()
    })
    return this.#reading
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  async #readAndWait(): Promise<void> {
    const { clock, pollMs, onFailure, onCaughtUp } = this.#parts
    try {
      await this.#read()
      if (!this.#hasCaughtUp && !this.#isClosed) onCaughtUp(this.#seq)
      this.#hasCaughtUp = true
    } catch (thrown) {
      if (!this.#isClosed) onFailure(thrown)
    }
    if (this.#isClosed) return
    this.#cancel = clock.after(pollMs, () => {
      this.#reading = this.#readAndWait()
    })
  }

  async #read(): Promise<void> {
    const { store, agentId, onEvent } = this.#parts
    if (this.#seq > 0 && this.#path.length === 0)
      for await (const first of store.read(agentId, 1, 1)) if (first.type === 'agent.created') this.#path = first.path
    for await (const record of store.read(agentId, this.#seq + 1)) {
      if (this.#isClosed) return
      if (record.type === 'agent.created') this.#path = record.path
      this.#seq = record.seq
      onEvent(eventOf(record, { agentId, path: this.#path }))
    }
  }
}

/** Returns the `seq` of a log's last record, 0 without a log. Takes few reads, however long the log is. */
export async function lastSeqIn(store: Pick<Store, 'read'>, agentId: string): Promise<number> {
  const has = async (seq: number): Promise<boolean> => {
    for await (const _ of store.read(agentId, seq, 1)) return true
    return false
  }
  let some = 0
  let none = 1
  while (await has(none)) [some, none] = [none, none * 2]
  while (none - some > 1) {
    const middle = some + Math.floor((none - some) / 2)
    if (await has(middle)) some = middle
    else none = middle
  }
  return some
}
