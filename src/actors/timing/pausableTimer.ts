import type { Clock } from '../../protocol/ports/clock.ts'

/** Calls `end` after `ms` milliseconds, not counting the time in which it is paused. */
export class PausableTimer {
  readonly #clock: Clock
  readonly #end: () => void
  #left: number
  #since = 0
  #cancel: (() => void) | undefined

  /** Creates a paused timer, which starts with `resume`. */
  constructor(clock: Clock, ms: number, end: () => void) {
    this.#clock = clock
    this.#left = ms
    this.#end = end
  }

  /** Starts or continues the timer. Idempotent. */
  resume(): void {
    if (this.#cancel !== undefined) return
    this.#since = this.#clock.now()
    this.#cancel = this.#clock.after(this.#left, this.#end)
  }

  /** Pauses the timer. Idempotent; `end` is never called if the timer is not resumed. */
  pause(): void {
    if (this.#cancel === undefined) return
    this.#cancel()
    this.#cancel = undefined
    this.#left = Math.max(0, this.#left - (this.#clock.now() - this.#since))
  }
}
