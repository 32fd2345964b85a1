import type { Clock } from '../../../src/protocol/ports/clock.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { appendLog, type Append } from './appendLog.ts'
import { againMs, isBusy, patienceMs, type Connection } from './connection.ts'
import { takeGroup } from './takeGroup.ts'

interface Waiting extends Append {
  resolve(): void
  reject(error: unknown): void
}

/**
 * Queue of appends that could not be written at once, because another process was writing, or because each commit is synced and those
 * of one tick share it. They are written in order, a few per tick, so that nothing has to wait for all of them.
 */
export class AppendQueue {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #written: (agent: number) => void
  #waiting: Waiting[] = []
  #isDue = false
  /** Time since which another process has blocked writes, in epoch milliseconds. */
  #busySince: number | undefined

  /** `written` is called with each agent whose records were written. */
  constructor(connection: Connection, { clock, written }: { readonly clock: Clock; written(agent: number): void }) {
    this.#connection = connection
    this.#clock = clock
    this.#written = written
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  add(append: Append): Promise<void> {
    append.lease.waiting += 1
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.push({ ...append, resolve, reject })
    this.#soon()
    return promise
  }

  #soon(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => this.#write())
  }

  #write(): void {
    this.#isDue = false
    const group = takeGroup(this.#waiting)
    const ends: { readonly seq?: number; readonly error?: unknown }[] = []
    try {
      this.#connection.transaction(() => {
        for (const append of group) ends.push(tried(() => appendLog(this.#connection, append)))
      })
    } catch (thrown) {
      if (isBusy(thrown) && this.#waitsOn()) {
        this.#waiting.unshift(...group)
        this.#clock.after(againMs, () => this.#soon())
        return
      }
      const error = this.#connection.failure('STORE_APPEND_FAILED', 'written', thrown)
      ends.length = 0
      for (const _ of group) ends.push({ error })
    }
    this.#busySince = undefined
    for (const [index, { lease, resolve, reject }] of group.entries()) {
      const { seq, error } = ends[index]!
      lease.waiting -= 1
      if (error === undefined) {
        lease.lastSeq = seq!
        this.#written(lease.number)
        resolve()
      } else {
        if (error instanceof RuntimeError && error.code === 'STORE_LEASE_LOST') lease.lose()
        reject(error)
      }
    }
    if (!this.isEmpty) this.#soon()
  }

  #waitsOn(): boolean {
    const now = this.#clock.now()
    this.#busySince ??= now
    return now - this.#busySince < patienceMs
  }
}

/** Returns the outcome of one append, so that its error does not fail others in the same transaction. */
function tried(work: () => number): { readonly seq?: number; readonly error?: unknown } {
  try {
    return { seq: work() }
  } catch (error) {
    if (error instanceof RuntimeError) return { error }
    throw error
  }
}
