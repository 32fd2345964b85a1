import type { Clock } from '../../protocol/clock.ts'
import { keyedText, keyedValue, saidIn, type Key } from './keyed.ts'

/** A value that a client brought back. */
export interface BroughtBack {
  readonly value: unknown
  /** This server gave it to this very client, for this purpose, and not too long ago. If not, it is the client's own word. */
  readonly isOurs: boolean
}

/** Values that a client is given to bring back: bound to who it is, to what they are for, and to a time. It can read them. */
export class Sealed {
  readonly #key: Key
  readonly #who: string | undefined
  readonly #clock: Clock

  constructor(key: Key, who: string | undefined, clock: Clock) {
    this.#key = key
    this.#who = who
    this.#clock = clock
  }

  /** `ms`: for how long it is believed. */
  seal(what: string, value: unknown, ms: number): string {
    return keyedText(this.#key, this.#purpose(what), { v: value, e: this.#clock.now() + ms })
  }

  /** `undefined`: it is nothing that any server gives. */
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
