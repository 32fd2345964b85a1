import type { Logger } from '../../../src/protocol/ports/logger.ts'
import { isOutage } from './failures.ts'

/** Tells an operator when a database cannot be reached, and when it answers again: once each. */
export class Outage {
  readonly #logger: Logger | undefined
  readonly #name: string
  readonly #words: (thrown: unknown) => string
  #isOut = false

  /** `words`: what went wrong, without a password. */
  constructor(logger: Logger | undefined, name: string, words: (thrown: unknown) => string) {
    this.#logger = logger
    this.#name = name
    this.#words = words
  }

  /** Notes that the database could not be asked. */
  failed(thrown: unknown): void {
    if (this.#isOut || !isOutage(thrown)) return
    this.#isOut = true
    this.#tell({ error: this.#words(thrown) }, `${this.#name} cannot be reached; it is tried again.`)
  }

  /** Notes that the database has answered. */
  ended(): void {
    if (!this.#isOut) return
    this.#isOut = false
    this.#tell({}, `${this.#name} answers again.`)
  }

  /** Tells the logger; its errors are ignored. */
  #tell(fields: object, message: string): void {
    try {
      this.#logger?.warn(fields, message)
    } catch {
      // The runtime warns about its logger itself.
    }
  }
}
