import { charactersOf } from '../../../src/protocol/text/characters.ts'
import { lazily } from '../../../src/protocol/lazily.ts'

// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const codes = /\u001B(?:\[[\d;]*m|\]8;;[\u0021-\u007E]*\u001B\\)/y
const wide = lazily(
  () =>
    /^(?:\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}])/u,
)

/** Yields a text in units that take 0, 1 or 2 columns of a terminal. Codes of colours and links take none. */
export function* cellsOf(text: string): Generator<{ readonly text: string; readonly width: number }> {
  let at = 0
  while (at < text.length) {
    codes.lastIndex = at
    const code = codes.exec(text)?.[0]
    if (code !== undefined) {
      yield { text: code, width: 0 }
      at += code.length
      continue
    }
    const next = text.indexOf('\u001B', at + 1)
    const plain = text.slice(at, next === -1 ? undefined : next)
    for (const character of charactersOf(plain))
      yield { text: character, width: character === '\n' ? 0 : character >= '\u1100' && wide().test(character) ? 2 : 1 }
    at += plain.length
  }
}

/** Splits a text into parts of at most `columns` columns, at least one part; no character is torn. */
export function chunked(text: string, columns: number): string[] {
  const parts = ['']
  let width = 0
  for (const cell of cellsOf(text)) {
    if (width + cell.width > Math.max(2, columns)) {
      parts.push('')
      width = 0
    }
    parts[parts.length - 1] += cell.text
    width += cell.width
  }
  return parts
}

/** Returns the number of columns that a text takes on one line. */
export function textWidth(text: string): number {
  let width = 0
  for (const cell of cellsOf(text)) width += cell.width
  return width
}

/** Returns the beginning of a text that fits into `columns` columns (1 or more); a cut is marked by "…", and no character is torn. */
export function fitted(text: string, columns: number): string {
  let fits = ''
  let fitsBeforeMark = ''
  let width = 0
  for (const cell of cellsOf(text.toWellFormed())) {
    width += cell.width
    if (width > columns) return `${fitsBeforeMark}…`
    fits += cell.text
    if (width < columns) fitsBeforeMark = fits
  }
  return fits
}
