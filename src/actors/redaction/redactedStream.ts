import type { Redactor } from './redactor.ts'

/** Longest text held back in the hope of a boundary, in UTF-16 units. */
const mostHeld = 4_096

/**
 * Takes secrets out of a text that arrives in pieces. What might be the beginning of one is held back: the last words, as
 * many as a named secret has. A pattern that spans more words is found in records only.
 */
export class RedactedStream {
  readonly #redactor: Redactor
  #held = ''
  #length = 0

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** What may be shown now, and its place in the text shown so far; `undefined`: nothing yet. */
  push(text: string): { text: string; offset: number } | undefined {
    this.#held += text
    const isFull = this.#held.length > mostHeld
    const end = isFull ? mostHeld / 2 : wordsBefore(this.#held, this.#redactor.words)
    if (end <= 0) return undefined
    const [ready, held] = [this.#held.slice(0, end), this.#held.slice(end)]
    const clean = this.#redactor.text(ready)
    const straddles = clean + this.#redactor.text(held) !== this.#redactor.text(this.#held)
    if (!straddles) return this.#show(clean, held)
    return isFull ? this.end() : undefined
  }

  /** The rest, at the end of the text. */
  end(): { text: string; offset: number } | undefined {
    return this.#held === '' ? undefined : this.#show(this.#redactor.text(this.#held), '')
  }

  #show(text: string, held: string): { text: string; offset: number } {
    const offset = this.#length
    this.#length += text.length
    this.#held = held
    return { text, offset }
  }
}

/** Where the last `count` words begin. */
function wordsBefore(text: string, count: number): number {
  let end = text.length
  for (let word = 0; word < count; word += 1) {
    while (end > 0 && /\s/.test(text[end - 1]!)) end -= 1
    while (end > 0 && !/\s/.test(text[end - 1]!)) end -= 1
  }
  return end
}
