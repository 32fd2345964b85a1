import { stripVTControlCharacters } from 'node:util'
import { oneLine } from '../conversation/cutMiddle.ts'

/** So much of what a server wrote is kept, in UTF-16 units: a secret of several lines is known only as a whole. */
const mostKept = 32_768
/** Longest line that is told. */
const mostTold = 200

/** The end of what a server wrote to standard error, where it most often says why it ends. */
export class StandardError {
  #text = ''
  #isCut = false

  push(text: string): void {
    this.#text += text
    // Not with each piece: a server may write a letter at a time.
    if (this.#text.length > 2 * mostKept) this.#cut()
  }

  /** Its last line that is not empty, without secrets, at most 200 characters of it. `clean` blanks the secrets of a text that may end in the middle of one. */
  lastLine(clean: (text: string) => string): string | undefined {
    this.#cut()
    const lines = clean(stripVTControlCharacters(this.#text)).split(/[\r\n]+/)
    // A line whose beginning is gone may begin in the middle of a secret.
    const whole = this.#isCut ? lines.slice(1) : lines
    return whole.map((line) => oneLine(line, mostTold)).findLast((line) => line !== '')
  }

  #cut(): void {
    if (this.#text.length <= mostKept) return
    this.#isCut = true
    this.#text = this.#text.slice(-mostKept)
  }
}
