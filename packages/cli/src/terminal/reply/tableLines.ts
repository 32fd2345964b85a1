import type { MarkdownAlign, MarkdownBlock } from '../../../../charts/src/text/markdownTree.ts'
import { filledRows, type FilledRow } from './filledRows.ts'
import { spanRuns, type ReplyLook } from './spanRuns.ts'

/** Minimum width to which a column is narrowed to fit. */
const leastWidth = 6
const between = ' │ '
const crossing = '─┼─'

type Table = Extract<MarkdownBlock, { type: 'table' }>
type Cells = Table['head']

/**
 * Lays out a table in a number of terminal columns. The widest table columns are narrowed first, and their cells are wrapped. Without enough room,
 * each cell gets a line. Pure.
 */
export function markdownTableLines({ align, head, rows }: Table, look: ReplyLook, columns: number): string[] {
  const { colours } = look
  const room = columns - between.length * (head.length - 1)
  if (head.length === 0) return []
  if (room < leastWidth * head.length) return cellByCell({ head, rows }, look, columns)
  const widths = head.map((_, column) => naturalWidth([head, ...rows], column, look, room))
  const cap = widestThatFits(widths, room)
  const final = widths.map((width) => Math.min(width, cap))
  const rowLines = (cells: Cells, isHead: boolean): string[] => {
    const paint = isHead ? colours.bold : undefined
    const filled = final.map((width, column) => filledRows(spanRuns(cells[column] ?? [], look, paint), width))
    const height = Math.max(...filled.map((some) => some.length))
    return Array.from({ length: height }, (_, row) =>
      filled
        .map((some, column) => padded(some[row], final[column]!, align[column] ?? null, column === final.length - 1))
        .join(colours.dim(between))
        .trimEnd(),
    )
  }
  const rule = colours.dim(final.map((width) => '─'.repeat(width)).join(crossing))
  return [...rowLines(head, true), rule, ...rows.flatMap((row) => rowLines(row, false))]
}

const naturalWidth = (rows: readonly Cells[], column: number, look: ReplyLook, most: number): number =>
  rows.reduce(
    (widest, cells) =>
      filledRows(spanRuns(cells[column] ?? [], look), most).reduce((wide, { width }) => Math.max(wide, width), widest),
    1,
  )

/** Returns the greatest width of a column with which all columns fit. */
function widestThatFits(widths: readonly number[], room: number): number {
  let cap = Math.max(...widths)
  while (cap > leastWidth && widths.reduce((sum, width) => sum + Math.min(width, cap), 0) > room) cap -= 1
  return cap
}

function padded(row: FilledRow | undefined, width: number, align: MarkdownAlign, isLast: boolean): string {
  const { text = '', width: taken = 0 } = row ?? {}
  const left = align === 'right' ? width - taken : align === 'center' ? Math.floor((width - taken) / 2) : 0
  const right = isLast && align !== 'right' ? 0 : width - taken - left
  return `${' '.repeat(Math.max(0, left))}${text}${' '.repeat(Math.max(0, right))}`
}

function cellByCell({ head, rows }: Pick<Table, 'head' | 'rows'>, look: ReplyLook, columns: number): string[] {
  const { colours } = look
  const same = (text: string): string => text
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : ['']),
    ...row.flatMap((cell, column) => {
      const name = spanRuns(head[column] ?? [], look, colours.bold)
      return filledRows([...name, { text: ': ', paint: same }, ...spanRuns(cell, look)], columns).map(
        ({ text }) => text,
      )
    }),
  ])
}
