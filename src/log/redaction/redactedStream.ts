/** Finds secrets in a text. */
interface TextRedactor {
  /** Returns how much of the beginning of a text can hold no secret that continues after it, in UTF-16 units. */
  settled(text: string): number
  /** A part of a text without the secrets in it. */
  text(text: string, part: { readonly from: number; readonly to: number }): string
}

/** Growth after which a long text that cannot be settled is looked at again, or each piece would cost as much as all before. */
const growth = 1.25

/** Takes secrets out of a text that arrives in pieces. An end that might be the beginning of one is held back. */
export class RedactedStream {
  readonly #redactor: TextRedactor
  #held = ''
  #shown = 0
  #lookAt = 0

  constructor(redactor: TextRedactor) {
    this.#redactor = redactor
  }

  /** Returns the text that may be shown after this piece, and its place in the text shown so far; `undefined` if there is none yet. */
  push(text: string): { text: string; offset: number } | undefined {
    this.#held += text
    if (this.#held.length < this.#lookAt) return undefined
    const end = this.#redactor.settled(this.#held)
    if (end > 0) return this.#show(end)
    this.#lookAt = this.#held.length > 256 ? this.#held.length * growth : 0
    return undefined
  }

  /** The rest, at the end of the text. */
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
