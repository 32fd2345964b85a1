import { counted } from '../../charts/amounts.ts'

/** Stands for a paste in the line being typed: characters that cannot be typed, and that one key deletes. */
const firstMark = 0xf0000
const marks = /[\u{F0000}-\u{FFFFD}]/gu

const longestTyped = 1_000
const mostEchoed = 2_000

/** A paste as it is sent: with ordinary line breaks and nothing that could affect a terminal. */
const clean = (pasted: string): string =>
  pasted
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    // oxlint-disable-next-line no-control-regex -- these are what is to go
    .replace(/\u001B\[[\d;?]*[A-Za-z~]|[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, '')
    .replace(/\n+$/, '')

/** What was pasted into a line that is typed. A line of it is typed text; more is kept aside, and stands in the line as one character. */
export class Pastes {
  readonly #texts: string[] = []

  /** What to type for a paste. */
  take(pasted: string): string {
    const text = clean(pasted)
    if (!text.includes('\n') && text.length <= longestTyped) return text
    this.#texts.push(text)
    return String.fromCodePoint(firstMark + this.#texts.length - 1)
  }

  /** A line as it is sent. */
  expand(line: string): string {
    return line.replace(marks, (mark) => this.#textOf(mark) ?? mark)
  }

  /** A line as it is shown while it is typed: pastes by their size. */
  abridge(line: string): string {
    return line
      .replace(marks, (mark) => {
        const text = this.#textOf(mark)
        return text === undefined ? mark : `[${sizeOf(text)}]`
      })
      .replaceAll('\t', ' ')
  }

  /** A line as it stays on the screen once it was sent: pastes in full, but for long ones. */
  echo(line: string): string {
    return line.replace(marks, (mark) => {
      const text = this.#textOf(mark)
      if (text === undefined) return mark
      return text.length > mostEchoed ? `[${sizeOf(text)}]` : text.replaceAll('\n', '\n  ')
    })
  }

  #textOf(mark: string): string | undefined {
    return this.#texts[mark.codePointAt(0)! - firstMark]
  }
}

function sizeOf(text: string): string {
  const lines = text.split('\n').length
  return `pasted ${lines === 1 ? counted(text.length, 'character') : counted(lines, 'line')}`
}
