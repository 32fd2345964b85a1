import { counted } from '../../../../charts/src/amounts.ts'
import { withoutEnd } from '../../../../../src/protocol/text/textEnds.ts'

/** First placeholder for pastes in the input line: a character that cannot be typed and that one key deletes. */
const firstMark = 0xf0000
const marks = /[\u{F0000}-\u{FFFFD}]/gu

/** Placeholder for an `@` that was not typed, so that it names no file. It cannot be typed either. */
const pastedAt = '\u{10FFFD}'

/** Converts a text that was not typed so that it names no files. */
export const namingNone = (text: string): string => text.replaceAll('@', pastedAt)

const longestTyped = 1_000
/** Maximum size of a paste that is left on the screen in full. */
const mostEchoed = { characters: 2_000, lines: 8 }

/** Returns a text in a form fit for an input line: with ordinary line breaks and without control characters. */
export const cleanText = (pasted: string): string =>
  withoutEnd(
    pasted
      .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
      // oxlint-disable-next-line no-control-regex -- these are what is to go
      .replace(/\u001B\[[\d;?]*[A-Za-z~]|[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, ''),
    '\n',
  )

/**
 * Pastes in an input line. A single line is inserted as text, in which `@` is an ordinary character. A longer paste is represented by one
 * placeholder character.
 */
export class Pastes {
  readonly #texts: string[] = []

  /** Adds a paste. Returns the text to insert into the line. */
  take(pasted: string): string {
    const text = cleanText(pasted)
    if (!text.includes('\n') && text.length <= longestTyped) return namingNone(text)
    this.#texts.push(text)
    return String.fromCodePoint(firstMark + this.#texts.length - 1)
  }

  /** Returns the line as submitted. */
  expand(line: string): string {
    return withAts(line.replace(marks, (mark) => this.#textOf(mark) ?? mark))
  }

  /** Returns the line without its longer pastes. Only this text may name files, and each `@` from a short paste in it is marked as not typed. */
  typed(line: string): string {
    return line.replace(marks, ' ')
  }

  /** Returns true if a pasted text would name a file. */
  hasPastedAt(line: string): boolean {
    const hasAt = (text: string): boolean => text.includes('@') || text.includes(pastedAt)
    return line.includes(pastedAt) || [...line.matchAll(marks)].some(([mark]) => hasAt(this.#textOf(mark) ?? ''))
  }

  /** Returns the line as shown while typing: pastes by their size. */
  abridge(line: string): string {
    return withAts(line)
      .replace(marks, (mark) => {
        const text = this.#textOf(mark)
        return text === undefined ? mark : `[${sizeOf(text)}]`
      })
      .replaceAll('\t', ' ')
  }

  /** Returns the line as left on the screen once submitted, in rows, with pastes in full unless they are long. */
  echo(line: string): string {
    const shown = line.replace(marks, (mark) => {
      const text = this.#textOf(mark)
      return text === undefined ? mark : isLong(text) ? `[${sizeOf(text)}]` : text
    })
    return withAts(shown).replaceAll('\n', '\n  ')
  }

  #textOf(mark: string): string | undefined {
    return this.#texts[mark.codePointAt(0)! - firstMark]
  }
}

const isLong = (text: string): boolean =>
  text.length > mostEchoed.characters || text.split('\n').length > mostEchoed.lines

const withAts = (text: string): string => text.replaceAll(pastedAt, '@')

function sizeOf(text: string): string {
  const lines = text.split('\n').length
  return `pasted ${lines === 1 ? counted(text.length, 'character') : counted(lines, 'line')}`
}
