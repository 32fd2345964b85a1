import type { Model } from '../../../../../src/protocol/ports/model.ts'

/** Lets a model answer requests one at a time, on demand. */
export class Steps {
  #isRunning: boolean
  readonly #waiting = new Set<() => void>()
  readonly #listeners = new Set<() => unknown>()

  constructor({ isRunning = false }: { readonly isRunning?: boolean } = {}) {
    this.#isRunning = isRunning
  }

  /** True while requests are answered as they come. */
  get isRunning(): boolean {
    return this.#isRunning
  }

  /** True while a request waits for `next`. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0
  }

  /** Answers the requests that wait. */
  next(): void {
    for (const go of this.#waiting) go()
  }

  /** Answers requests as they come, from this call on. */
  run(): void {
    this.#isRunning = true
    this.next()
    this.#tell()
  }

  /** Makes each further request wait. */
  pause(): void {
    this.#isRunning = false
    this.#tell()
  }

  /** Calls `listener` whenever the state changes; returns an unsubscribe function. */
  onChange(listener: () => unknown): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Returns a model that answers as another one does, one step at a time. */
  model(model: Model): Model {
    const turn = (signal: AbortSignal): Promise<void> => this.#turn(signal)
    return {
      ...model,
      async *stream(request, options) {
        await turn(options.signal)
        yield* model.stream(request, options)
      },
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    if (this.#isRunning || signal.aborted) return
    await new Promise<void>((resolve) => {
      const go = (): void => {
        signal.removeEventListener('abort', go)
        this.#waiting.delete(go)
        this.#tell()
        resolve()
      }
      signal.addEventListener('abort', go)
      this.#waiting.add(go)
      this.#tell()
    })
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
