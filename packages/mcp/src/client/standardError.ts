import { stripVTControlCharacters } from 'node:util'
import { oneLine } from '../../../../src/protocol/text/cutMiddle.ts'

/** Most UTF-16 units that are kept of a server's output: a secret of several lines is recognised only as a whole. */
const mostKept = 32_768
/** Longest line that is told. */
const mostTold = 200

/** The end of a server's standard error, where it most often says why it ends. */
export class StandardError {
  #text = ''
  #isCut = false

  push(text: string): void {
    this.#text += text
    // Not with each piece: a server may write a letter at a time.
    if (this.#text.length > 2 * mostKept) this.#cut()
  }

  /**
   * The line that says why it ends: the error of a crash, else the last that has words; without secrets, at most 200 characters of it. `clean` blanks
   * the secrets of a text that may end in the middle of one.
   */
  lastLine(clean: (text: string) => string): string | undefined {
    this.#cut()
    const lines = clean(stripVTControlCharacters(this.#text)).split(/[\r\n]+/)
    // A line whose beginning is gone may begin in the middle of a secret.
    const whole = this.#isCut ? lines.slice(1) : lines
    const told = crashIn(whole) ?? whole.findLast(isWord) ?? whole.findLast((line) => line.trim() !== '')
    return told === undefined ? undefined : oneLine(told, mostTold)
  }

  #cut(): void {
    if (this.#text.length <= mostKept) return
    this.#isCut = true
    this.#text = this.#text.slice(-mostKept)
  }
}

/** Matches a line of a stack trace, as Node, Bun, Deno, Java, Go and Rust print it. */
const frame = /^\s+at |^goroutine \d+ |^\s+\S+\.go:\d+/
/** The lines that programs end a crash with, whatever it was. */
const ending = /^(?:Node\.js v\d|Bun v\d|exit status \d|note: run with |npm (?:error|ERR!) A complete log)/
const error = /^(?:\[?[\w.$]*(?:Error|Exception)\b|Uncaught |Exception in |Caused by: |Unhandled|panic: |error: )/i

/** Lines that stand for themselves: no frames, no parts of a value that is shown, no brackets alone. */
const isWord = (line: string): boolean => /[\p{L}\p{N}]/u.test(line) && !/^\s/.test(line) && !ending.test(line)

/** The error of a crash whose frames are the last thing that was told, with the lines that belong to it. Pure. */
function crashIn(lines: readonly string[]): string | undefined {
  const lastFrame = lines.findLastIndex((line) => frame.test(line))
  // Functions of Go stand between frames.
  if (lastFrame < 0 || lines.slice(lastFrame + 1).some(isWord)) return undefined
  const before = lines.slice(0, lastFrame)
  const at = before.findLastIndex((line) => error.test(line))
  if (at < 0) return undefined
  const end = lines.findIndex((line, index) => index > at && (frame.test(line) || line.trim() === ''))
  return lines
    .slice(at, end < 0 ? at + 1 : end)
    .join(' ')
    .replace(/\{$/, '')
    .trimEnd()
}
