import { withoutControls } from '../../../../charts/src/plainText.ts'
import { cellsOf, fitted, textWidth } from '../../../../charts/src/textWidth.ts'
import { charactersOf } from '../../../../../src/protocol/text/characters.ts'

/** A text laid out in rows of a terminal. */
export interface InputRows {
  readonly rows: readonly string[]
  readonly cursor: { readonly row: number; readonly column: number }
  /** For each row, the positions in the text where the cursor can stand, with their columns, from left to right. */
  readonly places: readonly (readonly Place[])[]
}

interface Place {
  readonly at: number
  readonly column: number
}

export interface InputRowsOptions {
  readonly prompt: string
  /** Number of columns to use. A terminal's last column is best left free. */
  readonly columns: number
  /** Returns the form in which a character of the text is shown. Default: unchanged. */
  readonly show?: (character: string) => string
}

const indent = '  '

/** Lays a text out beside and below its prompt, wrapped at the terminal's width. Pure. */
export function inputRows(
  text: string,
  at: number,
  { prompt, columns, show = (character) => character }: InputRowsOptions,
): InputRows {
  const rows: string[] = []
  const places: Place[][] = []
  let row = ''
  let width = 0
  let own: Place[] = []
  const next = (start: string): void => {
    rows.push(row)
    places.push(own)
    row = start
    width = textWidth(start)
    own = []
  }
  const margin = columns > 8 ? indent : ''
  for (const cell of cellsOf(prompt)) {
    if (width + cell.width > columns) next('')
    row += cell.text
    width += cell.width
  }
  // With no room left beside it, the text begins below.
  if (width >= columns) next(margin)
  let place = 0
  for (const character of charactersOf(text)) {
    if (character === '\n' || character === '\r\n') {
      own.push({ at: place, column: width })
      next(margin)
    } else {
      const shown = shownCharacter(show(character), columns - margin.length)
      const taken = textWidth(shown)
      // The cursor needs a column of its own behind the text.
      if (width + taken >= columns && width > margin.length) next(margin)
      own.push({ at: place, column: width })
      row += shown
      width += taken
    }
    place += character.length
  }
  own.push({ at: place, column: width })
  next('')
  const last = places.findLastIndex((list) => list.some((here) => here.at <= at))
  const here = places[last]?.findLast((one) => one.at <= at)
  return { rows, places, cursor: { row: Math.max(0, last), column: here?.column ?? 0 } }
}

/** Returns a shown character as one unit, no wider than the terminal. */
const shownCharacter = (shown: string, columns: number): string =>
  fitted(withoutControls(shown.replaceAll('\t', ' ')).replaceAll('\n', ' '), Math.max(1, columns - 1))

/** Returns the position one row above (-1) or below (1) the cursor, in the nearest column; `undefined` if there is no such row. Pure. */
export function placeInRow({ places, cursor }: InputRows, step: -1 | 1): number | undefined {
  const row = places[cursor.row + step]
  if (row === undefined || row.length === 0) return undefined
  let best = row[0]!
  for (const place of row) if (place.column <= cursor.column) best = place
  return best.at
}

/** Returns at most `most` rows, those around the cursor. Pure. */
export function shownRows({ rows, cursor }: InputRows, most: number): Pick<InputRows, 'rows' | 'cursor'> {
  if (rows.length <= most) return { rows, cursor }
  const start = Math.min(Math.max(0, cursor.row - Math.floor(most / 2)), rows.length - most)
  return {
    rows: rows.slice(start, start + most),
    cursor: { row: cursor.row - start, column: cursor.column },
  }
}
