import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { keyedText, keyedValue, saidIn, type Key } from './keyed.ts'

/** A sealed value that a client sent back. */
export interface BroughtBack {
  readonly value: unknown
  /** True if this server gave the value to this very client, for this purpose, and not too long ago. Otherwise the client may have made it up. */
  readonly isOurs: boolean
}

/** Codec for sealed values that a client receives and sends back, bound to the client, a purpose and a time. The client can read them. */
export class Sealed {
  readonly #key: Key
  readonly #who: string | undefined
  readonly #clock: Clock

  constructor(key: Key, who: string | undefined, clock: Clock) {
    this.#key = key
    this.#who = who
    this.#clock = clock
  }

  /** Seals a value. It is valid for `ms` milliseconds. */
  seal(what: string, value: unknown, ms: number): string {
    return keyedText(this.#key, this.#purpose(what), { v: value, e: this.#clock.now() + ms })
  }

  /** Opens a sealed value; `undefined` if the text does not have the right form. */
  open(what: string, text: unknown): BroughtBack | undefined {
    if (typeof text !== 'string') return undefined
    const own = keyedValue(this.#key, this.#purpose(what), text)
    const said = (own ?? saidIn(text)) as { readonly v?: unknown; readonly e?: unknown } | null | undefined
    if (said?.v === undefined) return undefined
    return { value: said.v, isOurs: own !== undefined && Number(said.e) > this.#clock.now() }
  }

  #purpose(what: string): string {
    return `given ${JSON.stringify([what, this.#who ?? null])}`
  }
}
