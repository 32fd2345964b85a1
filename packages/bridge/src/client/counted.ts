import { systemClock, type Clock } from '../../../../src/protocol/ports/clock.ts'

export interface CountedOptions {
  /** Clock for the grace time. Default: the system's. */
  readonly clock?: Clock
  /**
   * Time for which the resource stays open after its last user has left, in milliseconds, because views leave
   * and return when they are redrawn. Default 100.
   */
  readonly graceMs?: number
}

/** Keeps a resource open while it is used, and a little longer. */
export class Counted {
  readonly #what: { open(): void; close(): void }
  readonly #clock: Clock
  readonly #graceMs: number
  #count = 0
  #cancelGrace: (() => void) | undefined

  /** Takes the resource. Its `open` and `close` must be idempotent. */
  constructor(what: { open(): void; close(): void }, { clock = systemClock, graceMs = 100 }: CountedOptions = {}) {
    this.#what = what
    this.#clock = clock
    this.#graceMs = graceMs
  }

  /** Opens the resource for one more user. Returns a function that leaves, once. */
  enter(): () => void {
    this.#count += 1
    this.#cancelGrace?.()
    this.#cancelGrace = undefined
    this.#what.open()
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      this.#count -= 1
      if (this.#count === 0) this.#cancelGrace = this.#clock.after(this.#graceMs, () => this.#what.close())
    }
  }
}

/** Calls every listener, and then throws the first error that one threw. */
export function callAll(listeners: Iterable<() => void>): void {
  const failures: unknown[] = []
  for (const listener of listeners) {
    try {
      listener()
    } catch (thrown) {
      failures.push(thrown)
    }
  }
  if (failures.length > 0) throw failures[0]
}
