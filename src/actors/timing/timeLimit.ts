import type { Clock } from '../../protocol/ports/clock.ts'
import { Cancellation } from './cancellation.ts'

/** Cancels work that takes too long or that its caller cancels. */
export class TimeLimit {
  readonly cancellation = new Cancellation()
  /** True once the time is up. */
  isOver = false
  readonly #clock: Clock
  readonly #ms: number
  readonly #caller: Cancellation
  #cancelTimer: (() => void) | undefined
  readonly #stop = (): void => this.cancellation.abort()

  constructor(clock: Clock, ms: number, caller: Cancellation) {
    this.#clock = clock
    this.#ms = ms
    this.#caller = caller
    if (caller.aborted) this.#stop()
    else caller.add(this.#stop)
  }

  /** Resolves with the result of `run`. Rejects as soon as it is cancelled, even if `run` never comes to an end. */
  async race<T>(run: () => Promise<T>): Promise<T> {
    const { cancellation } = this
    cancellation.throwIfAborted()
    this.#cancelTimer = this.#clock.after(this.#ms, () => {
      this.isOver = true
      this.#stop()
    })
    const { promise, reject } = Promise.withResolvers<never>()
    const cancelled = (): void => reject(cancellation.signal.reason)
    cancellation.add(cancelled)
    return await Promise.race([run(), promise])
  }

  /** Ends the limit and cancels any work that still runs. */
  end(): void {
    this.#cancelTimer?.()
    this.#caller.remove(this.#stop)
    this.#stop()
  }
}
