import { stripVTControlCharacters } from 'node:util'
import { oneLine } from '../../../../src/protocol/text/cutMiddle.ts'

/** Maximum length of a server's output that is kept, in UTF-16 units. A secret of several lines is recognized only as a whole. */
const mostKept = 32_768
/** Maximum length of a reported line. */
const mostTold = 200

/** The end of a server's standard error, which usually explains why it ended. */
export class StandardError {
  #text = ''
  #isCut = false

  push(text: string): void {
    this.#text += text
    // Not with each piece: a server may write a letter at a time.
    if (this.#text.length > 2 * mostKept) this.#cut()
  }

  /**
   * Returns the line that explains the server's end, without secrets and of at most 200 characters: the error of a
   * crash, else the last line with words. `clean` blanks the secrets of a text that may end in the middle of one.
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
/** Matches lines that programs print at the end of any crash. */
const ending = /^(?:Node\.js v\d|Bun v\d|exit status \d|note: run with |npm (?:error|ERR!) A complete log)/
const error = /^(?:\[?[\w.$]*(?:Error|Exception)\b|Uncaught |Exception in |Caused by: |Unhandled|panic: |error: )/i

/** Returns lines that are meaningful by themselves: no stack frames, no parts of a printed value, no lone brackets. */
const isWord = (line: string): boolean => /[\p{L}\p{N}]/u.test(line) && !/^\s/.test(line) && !ending.test(line)

/** Returns the error of a crash whose stack frames end the output, with its lines. Pure. */
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
