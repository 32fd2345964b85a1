/** Finds secrets in a text. */
interface TextRedactor {
  /** Returns the length of the beginning of a text that holds no secret that continues after it, in UTF-16 units. */
  settled(text: string): number
  /** Returns a part of a text without its secrets. */
  text(text: string, part: { readonly from: number; readonly to: number }): string
}

/** Growth after which a long unsettled text is examined again. Otherwise each piece would cost as much as all earlier ones. */
const growth = 1.25

/** Removes secrets from a text that arrives in pieces. An end that might begin a secret is held back. */
export class RedactedStream {
  readonly #redactor: TextRedactor
  #held = ''
  #shown = 0
  #lookAt = 0

  constructor(redactor: TextRedactor) {
    this.#redactor = redactor
  }

  /** Returns the text that may be shown after this piece, and its position in the shown text; `undefined` if there is none yet. */
  push(text: string): { text: string; offset: number } | undefined {
    this.#held += text
    if (this.#held.length < this.#lookAt) return undefined
    const end = this.#redactor.settled(this.#held)
    if (end > 0) return this.#show(end)
    this.#lookAt = this.#held.length > 256 ? this.#held.length * growth : 0
    return undefined
  }

  /** Returns the rest at the end of the text. */
  end(): { text: string; offset: number } | undefined {
    return this.#held === '' ? undefined : this.#show(this.#held.length)
  }

  #show(end: number): { text: string; offset: number } {
    const text = this.#redactor.text(this.#held, { from: 0, to: end })
    const offset = this.#shown
    this.#shown += text.length
    this.#held = this.#held.slice(end)
    this.#lookAt = 0
    return { text, offset }
  }
}
