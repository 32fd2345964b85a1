/** Reason why an evaluation ended before all was done. */
export interface StopReason {
  /** Reason. `auth`: a key was refused. `changed`: the suite has changed since it was read. */
  readonly why: 'budget' | 'auth' | 'aborted' | 'changed'
  readonly message?: string
}

/** Ends an evaluation: no further trial begins, and running ones are aborted. The first reason counts. */
export class Stop {
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal
  readonly #onAbort = (): void => this.now({ why: 'aborted' })
  #reason: StopReason | undefined

  constructor(outer: AbortSignal) {
    this.#outer = outer
    outer.addEventListener('abort', this.#onAbort, { once: true })
    if (outer.aborted) this.#onAbort()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get reason(): StopReason | undefined {
    return this.#reason
  }

  now(reason: StopReason): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#controller.abort(new Error(reason.message ?? reason.why))
  }

  /** Stops listening to the outer signal. */
  release(): void {
    this.#outer.removeEventListener('abort', this.#onAbort)
  }
}
