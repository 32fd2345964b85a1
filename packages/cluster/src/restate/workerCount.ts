import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'

/** Interval between queries to the store, in milliseconds. */
const lookMs = 5_000

/** Number of workers on a store, as of a few seconds ago, by which the limits of all workers are divided. */
export class WorkerCount {
  readonly #store: Pick<Store, 'workers'>
  readonly #clock: Clock
  #count = 1
  #cancel: (() => void) | undefined
  #isClosed = false

  constructor(store: Pick<Store, 'workers'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
    void this.#look()
  }

  get count(): number {
    return this.#count
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  async #look(): Promise<void> {
    try {
      this.#count = Math.max(1, (await this.#store.workers?.())?.length ?? 1)
    } catch {
      // Until the store answers again it is as many as before.
    }
    if (!this.#isClosed) this.#cancel = this.#clock.after(lookMs, () => void this.#look())
  }
}
