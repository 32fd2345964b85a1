import { cellsOf } from '../../charts/textWidth.ts'

/** A text laid out for a terminal. */
export interface WrappedText {
  /** Complete rows, as they are to be written: with a line break where the text has one or was wrapped at a word. */
  readonly done: string
  /** The row that may still grow. It may end with blanks beyond the last column, which are not to be drawn. */
  readonly open: string
  /** Columns of blanks before the line of that row; `undefined` while it has nothing else. */
  readonly indent: number | undefined
}

interface Cell {
  readonly text: string
  readonly width: number
}

const isBlank = (text: string): boolean => text === ' '

/**
 * Wraps a text at words, so that no row is wider than `columns`; rows that go on have the indent of their line. A word that is longer than a row is
 * left to the terminal, which wraps it without a line break, so that it can be copied in one piece. Nothing is lost but the blanks where
 * it wraps. `lineIndent`: of the line that it
 * goes on with, if that began in a row before. Pure; takes time linear in the text.
 */
export function wordWrapped(text: string, columns: number, lineIndent?: number): WrappedText {
  let done = ''
  let row: Cell[] = []
  let width = 0
  /** Of the line, in columns; `undefined` while it has blanks alone. */
  let indent = lineIndent
  /** Where the last word begins in the row, if something stands before it. */
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
/** No code that is written here is longer. */
const longestColour = 40

/** Without blanks at the end; colour codes between and after them stay. */
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

/** The part of an open row that is drawn: without the blanks that have no room. Pure. */
export function drawnRow(open: string, columns: number): string {
  let row = ''
  let width = 0
  for (const cell of cellsOf(open)) {
    width += cell.width
    if (width <= columns || cell.width === 0) row += cell.text
  }
  return row
}

/** Of a longer line the end is drawn. */
const mostDrawn = 20_000

/**
 * The last rows, at most `most`, that a terminal makes of some lines, with no line break within a line. Pure; its time is bounded by what is
 * drawn, however long the lines are.
 */
export function lastRowsOf(lines: readonly string[], columns: number, most: number): string[] {
  const rows: string[] = []
  for (let at = lines.length - 1; at >= 0 && rows.length < most; at -= 1)
    rows.unshift(...rowsOfLine(lines[at]!.slice(-mostDrawn).toWellFormed(), columns))
  return rows.slice(-most)
}

/** Colours go on from row to row. */
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
