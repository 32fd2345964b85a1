import { messageOf } from '../../../../src/protocol/errors.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'

/** Time limit for the store's answer, and time for which the answer is reused, in milliseconds. */
const answerMs = 2_000
const freshMs = 1_000

type Phase = 'starting' | 'serving' | 'leaving'

/** Readiness of a program. It is ready from the start of its service until it is told to stop, as long as its store answers. */
export class Readiness {
  readonly #store: Pick<Store, 'read' | 'holds'>
  readonly #clock: Clock
  #phase: Phase = 'starting'
  #looked: { readonly at: number; readonly trouble: string | undefined } | undefined
  #looking: Promise<string | undefined> | undefined

  constructor(store: Pick<Store, 'read' | 'holds'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** True if the program is ready, as far as known without asking the store. */
  get isReady(): boolean {
    return this.#phase === 'serving' && this.#looked?.trouble === undefined && this.#holds
  }

  serves(): void {
    if (this.#phase === 'starting') this.#phase = 'serving'
  }

  leaves(): void {
    this.#phase = 'leaving'
  }

  /** Resolves with the reason why the program is not ready; `undefined` if it is. Never rejects. */
  async trouble(): Promise<string | undefined> {
    if (this.#phase === 'starting') return 'it is starting'
    if (this.#phase === 'leaving') return 'it is about to end'
    if (!this.#holds) return 'the leases of its store have not been renewed in time'
    const { at = -Infinity, trouble } = this.#looked ?? {}
    if (this.#clock.now() - at < freshMs) return trouble
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  get #holds(): boolean {
    return this.#store.holds?.() ?? true
  }

  async #look(): Promise<string | undefined> {
    const late = Promise.withResolvers<string>()
    const cancel = this.#clock.after(answerMs, () => late.resolve(`the store has not answered within ${answerMs} ms`))
    const trouble = await Promise.race([this.#read(), late.promise])
    cancel()
    this.#looked = { at: this.#clock.now(), trouble }
    return trouble
  }

  async #read(): Promise<string | undefined> {
    try {
      for await (const _ of this.#store.read('readyz', 1, 1)) break
      return undefined
    } catch (thrown) {
      return `the store cannot be read: ${messageOf(thrown)}`
    }
  }
}
