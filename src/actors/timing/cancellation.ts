import { abortReason } from './abortReason.ts'

/** Tells an effect that it is no longer needed. Its `AbortSignal` is created on demand; our own code listens here, at a tenth of the cost. */
export class Cancellation {
  aborted = false
  #controller: AbortController | undefined
  #listeners: (() => void)[] | undefined

  /** Returns a cancellation that is aborted with the signal. */
  static of(signal: AbortSignal): Cancellation {
    const cancellation = new Cancellation()
    if (signal.aborted) cancellation.abort()
    else signal.addEventListener('abort', () => cancellation.abort(), { once: true })
    return cancellation
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.aborted) this.#controller.abort(abortReason())
    }
    return this.#controller.signal
  }

  /** Calls `listener` when it is aborted, but not if it already is. */
  add(listener: () => void): void {
    this.#listeners ??= []
    this.#listeners.push(listener)
  }

  remove(listener: () => void): void {
    const index = this.#listeners?.indexOf(listener) ?? -1
    if (index >= 0) this.#listeners!.splice(index, 1)
  }

  /** Throws if it is aborted. @throws DOMException `AbortError` */
  throwIfAborted(): void {
    if (this.aborted) this.signal.throwIfAborted()
  }

  /** Aborts it and calls its listeners. Idempotent. */
  abort(): void {
    if (this.aborted) return
    this.aborted = true
    const listeners = this.#listeners
    this.#listeners = undefined
    this.#controller?.abort(abortReason())
    for (const listener of listeners ?? []) listener()
  }
}
