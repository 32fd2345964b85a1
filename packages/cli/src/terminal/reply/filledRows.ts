import { cellsOf } from '../../../../charts/src/textWidth.ts'

/** A text in one style. Each `\n` begins a new row. It has no other control characters. */
export interface Run {
  readonly text: string
  paint(text: string): string
}

/** A coloured terminal row, and its width in columns. */
export interface FilledRow {
  readonly text: string
  readonly width: number
}

interface Cell {
  readonly text: string
  readonly width: number
  readonly paint: Run['paint']
}

const isBlank = ({ text }: Cell): boolean => text === ' '

/**
 * Lays runs out in rows of at most `columns` (2 or more), wrapped at words. A word longer than a row is split. Each row has its own colour
 * codes, so that it can be drawn without those above it. Only the blanks at the wraps are lost. Pure; linear.
 */
export function filledRows(runs: readonly Run[], columns: number): FilledRow[] {
  const rows: FilledRow[] = []
  let row: Cell[] = []
  let width = 0
  /** Start of the last word in the row, if other text precedes it. */
  let word: number | undefined
  let hasText = false
  const end = (cells: readonly Cell[]): void => void rows.push(paintedRow(cells))
  const begin = (cells: readonly Cell[]): void => {
    row = [...cells]
    width = cells.reduce((sum, cell) => sum + cell.width, 0)
    word = undefined
    hasText = row.some((cell) => !isBlank(cell))
  }
  for (const { text, paint } of runs) {
    for (const one of cellsOf(text)) {
      const cell: Cell = { ...one, paint }
      if (cell.text === '\n') {
        end(row)
        begin([])
        continue
      }
      if (!isBlank(cell)) {
        const last = row.at(-1)
        if (hasText && last !== undefined && isBlank(last)) word = row.length
        if (width + cell.width > columns) {
          end(word === undefined ? row : row.slice(0, word))
          begin(word === undefined ? [] : row.slice(word))
        }
        hasText = true
      }
      row.push(cell)
      width += cell.width
    }
  }
  end(row)
  return rows
}

function paintedRow(cells: readonly Cell[]): FilledRow {
  const until = cells.findLastIndex((cell) => !isBlank(cell)) + 1
  let text = ''
  let width = 0
  for (let at = 0; at < until;) {
    const { paint } = cells[at]!
    let part = ''
    for (; at < until && cells[at]!.paint === paint; at++) {
      part += cells[at]!.text
      width += cells[at]!.width
    }
    text += paint(part)
  }
  return { text, width }
}
