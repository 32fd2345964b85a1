import { withoutControls } from '../../../charts/src/plainText.ts'
import { counted, whole } from '../../../charts/src/amounts.ts'
import { chunked, fitted } from '../../../charts/src/textWidth.ts'
import { visible } from '../../../charts/src/text/visible.ts'
import type { LineDiff } from '../../../charts/src/text/lineDiff.ts'
import type { Colours } from './colours.ts'

export interface DiffRowsOptions {
  readonly colours: Colours
  readonly indent: string
  /** Maximum number of lines shown. The number of further lines is printed. */
  readonly most: number
  /** Width to which lines are cut. Default: lines are not cut. */
  readonly columns?: number
  /** Width at which lines are wrapped, for changes that people decide about and must see in full. */
  readonly wrapAt?: number
}

/** Returns the counts of a change, such as `+3 −1`. */
export const diffCounts = ({ added, removed }: Pick<LineDiff, 'added' | 'removed'>): string =>
  `+${whole(added)} −${whole(removed)}`

/** Returns the number of rows that the whole difference takes. */
export const diffHeight = ({ hunks }: LineDiff): number =>
  hunks.reduce((sum, { lines }) => sum + lines.length, Math.max(0, hunks.length - 1))

const marks = { same: ' ', added: '+', removed: '-' } as const

/** Lays out a difference of lines as coloured terminal rows, without the control characters in the compared texts. Pure. */
export function diffRows(diff: LineDiff, { colours, indent, most, columns, wrapAt }: DiffRowsOptions): string[] {
  const paint = { same: colours.dim, added: colours.green, removed: colours.red }
  const height = diffHeight(diff)
  // A row that says "1 more line" would take the place of that line.
  const shown = height <= most + 1 ? height : most
  const rows: string[] = []
  for (const [index, { lines }] of diff.hunks.entries()) {
    if (rows.length >= shown) break
    if (index > 0) rows.push(colours.dim(`${indent}…`))
    for (const { type, text } of lines.slice(0, shown - rows.length)) {
      if (wrapAt !== undefined) {
        const parts = chunked(visible(text), wrapAt - indent.length - 2)
        const wrapped = parts.map((part, at) => `${indent}${at === 0 ? marks[type] : '╎'} ${part}`.trimEnd())
        rows.push(...wrapped.map((row) => paint[type](row)))
        continue
      }
      const row = `${indent}${marks[type]} ${withoutControls(text).replaceAll('\n', ' ')}`.trimEnd()
      rows.push(paint[type](columns === undefined ? row : fitted(row, Math.max(1, columns))))
    }
  }
  if (shown < height) rows.push(colours.dim(`${indent}… ${counted(height - shown, 'more line')}`))
  return rows
}
