import { cellsOf } from '../../../charts/src/textWidth.ts'

/** A text laid out for a terminal. */
export interface WrappedText {
  /** Complete rows to be written, with a line break where the text has one or was wrapped at a word. */
  readonly done: string
  /** The row that may still grow. It may end with blanks beyond the last column, which must not be drawn. */
  readonly open: string
  /** Indent of that row's line, in columns; `undefined` while the line has only blanks. */
  readonly indent: number | undefined
}

interface Cell {
  readonly text: string
  readonly width: number
}

const isBlank = (text: string): boolean => text === ' '

/**
 * Wraps a text at words, so that no row is wider than `columns`. Continuation rows have the indent of their line. A word longer than a row is left to
 * the terminal, which wraps it without a line break, so that it can be copied in one piece. Only the blanks at the wraps are lost. `lineIndent`:
 * indent of the line that the text continues, if it began in an earlier row. Pure; linear in the length of the text.
 */
export function wordWrapped(text: string, columns: number, lineIndent?: number): WrappedText {
  let done = ''
  let row: Cell[] = []
  let width = 0
  /** Indent of the current line, in columns; `undefined` while the line has only blanks. */
  let indent = lineIndent
  /** Start of the last word in the row, if other text precedes it. */
  let word: number | undefined
  const written = (cells: readonly Cell[]): string => cells.map((cell) => cell.text).join('')
  const restart = (cells: readonly Cell[]): void => {
    row = [...cells]
    width = cells.reduce((sum, cell) => sum + cell.width, 0)
    word = undefined
  }
  for (const cell of cellsOf(text)) {
    if (cell.text === '\n') {
      done += `${width > columns ? drawnRow(written(row), columns) : written(row)}\n`
      restart([])
      indent = undefined
      continue
    }
    if (cell.width > 0 && !isBlank(cell.text)) {
      indent ??= width
      const last = row.findLast((before) => before.width > 0)
      if (last !== undefined && isBlank(last.text) && row.some((one) => one.width > 0 && !isBlank(one.text)))
        word = row.length
      if (width + cell.width > columns) {
        const begun = word === undefined ? [] : row.slice(word)
        if (word === undefined) done += written(row)
        else done += `${withoutBlanks(written(row.slice(0, word)))}\n`
        const margin = word === undefined || indent > columns / 2 ? 0 : indent
        restart([...Array.from({ length: margin }, () => ({ text: ' ', width: 1 })), ...begun])
        if (width + cell.width > columns) {
          done += written(row)
          restart([])
        }
      }
    }
    row.push(cell)
    width += cell.width
  }
  return { done, open: written(row), indent }
}

// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const colourAtEnd = /\u001B\[[\d;]*m$/
/** Maximum length of a colour code written here. */
const longestColour = 40

/** Removes blanks at the end of a row. Colour codes between and after them stay. */
function withoutBlanks(row: string): string {
  let end = row.length
  let colours = ''
  for (;;) {
    while (end > 0 && isBlank(row[end - 1]!)) end -= 1
    const [colour] = colourAtEnd.exec(row.slice(Math.max(0, end - longestColour), end)) ?? []
    if (colour === undefined) return row.slice(0, end) + colours
    colours = colour + colours
    end -= colour.length
  }
}

/** Returns the drawn part of an open row, without blanks for which there is no room. Pure. */
export function drawnRow(open: string, columns: number): string {
  let row = ''
  let width = 0
  for (const cell of cellsOf(open)) {
    width += cell.width
    if (width <= columns || cell.width === 0) row += cell.text
  }
  return row
}

/** Maximum number of characters drawn of a line. Of a longer line, the end is drawn. */
const mostDrawn = 20_000

/**
 * Returns the last rows, at most `most`, into which a terminal wraps lines without line breaks. Pure; its time is bounded by the drawn text, however
 * long the lines are.
 */
export function lastRowsOf(lines: readonly string[], columns: number, most: number): string[] {
  const rows: string[] = []
  for (let at = lines.length - 1; at >= 0 && rows.length < most; at -= 1)
    rows.unshift(...rowsOfLine(lines[at]!.slice(-mostDrawn).toWellFormed(), columns))
  return rows.slice(-most)
}

/** Splits a line into rows; colours continue from row to row. */
function rowsOfLine(line: string, columns: number): string[] {
  const rows = ['']
  let width = 0
  for (const cell of cellsOf(line)) {
    if (width > 0 && width + cell.width > columns) {
      rows.push('')
      width = 0
    }
    rows[rows.length - 1] += cell.text
    width += cell.width
  }
  return rows
}

/** Returns a text as written to a stream: wrapped at words if that is a terminal, so that its edge splits no word. */
export function wrappedFor(
  { isTTY, columns }: { readonly isTTY?: boolean; readonly columns?: number },
  text: string,
): string {
  if (isTTY !== true || columns === undefined || columns < 2) return text
  const { done, open } = wordWrapped(text, columns)
  return done + open
}

/** Writes whole lines to a stream in the layout of `wrappedFor`. */
export function tell(
  stream: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown },
  text: string,
): void {
  stream.write(wrappedFor(stream, text))
}
