import { breather } from '../../timing/breather.ts'
import type { Redactor } from '../../../protocol/ports/redactor.ts'

/** Number of characters that are read between two pauses. */
const piece = 256 * 1024

/** A text in its stored form, and the number of characters missing from its middle. */
export interface BoundedText {
  readonly text: string
  readonly lost: number
}

/**
 * Returns a long text without secrets, with its middle left out if it has more than `maxChars` characters. Reads the
 * text in pieces, so that timers and sockets are not kept waiting, and never holds a second copy of all of it.
 */
export async function boundedText(
  text: string,
  maxChars: number,
  redactor: Pick<Redactor, 'stream'> | undefined,
): Promise<BoundedText> {
  const breathe = breather()
  const bounded = new Ends(maxChars)
  const stream = redactor?.stream()
  for (let from = 0; from < text.length; from += piece) {
    const read = text.slice(from, from + piece)
    bounded.add(stream === undefined ? read : (stream.push(read)?.text ?? ''))
    await breathe()
  }
  bounded.add(stream?.end()?.text ?? '')
  return bounded.end()
}

/** Collects the first three quarters and the last quarter of the text that is kept. */
class Ends {
  readonly #headRoom: number
  readonly #tailRoom: number
  readonly #head: string[] = []
  #headChars = 0
  #tail: string[] = []
  #tailChars = 0
  #lost = 0

  constructor(maxChars: number) {
    this.#headRoom = Math.ceil(maxChars * 0.75)
    this.#tailRoom = maxChars - this.#headRoom
  }

  add(text: string): void {
    const room = this.#headRoom - this.#headChars
    const first = text.slice(0, room)
    if (first !== '') this.#head.push(first)
    this.#headChars += first.length
    const rest = text.slice(first.length)
    if (rest === '') return
    this.#tail.push(rest)
    this.#tailChars += rest.length
    while (this.#tailChars - this.#tail[0]!.length >= this.#tailRoom) this.#drop(this.#tail.shift()!.length)
  }

  #drop(chars: number): void {
    this.#tailChars -= chars
    this.#lost += chars
  }

  end(): BoundedText {
    const tail = this.#tail.join('')
    const over = Math.max(0, tail.length - this.#tailRoom)
    const lost = this.#lost + over
    const middle = lost === 0 ? '' : `\n[… ${lost} characters were not kept …]\n`
    return { text: (this.#head.join('') + middle + tail.slice(over)).toWellFormed(), lost }
  }
}
