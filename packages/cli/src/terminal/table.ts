import { textWidth } from '../../../charts/src/textWidth.ts'

/** A table cell. It is coloured after padding, so that colours do not affect the width. */
export interface Cell {
  readonly text: string
  readonly paint?: (text: string) => string
  /** True to align right, for numbers. */
  readonly isRight?: boolean
}

export const cell = (text: string, paint?: Cell['paint']): Cell => (paint === undefined ? { text } : { text, paint })
export const number = (text: string, paint?: Cell['paint']): Cell => ({ ...cell(text, paint), isRight: true })

/** Formats rows as lines with aligned columns, two spaces apart. */
export function tableLines(rows: readonly (readonly Cell[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) row.forEach(({ text }, i) => (widths[i] = Math.max(widths[i] ?? 0, textWidth(text))))
  return rows.map((row) =>
    row
      .map(({ text, paint = (same) => same, isRight = false }, i) => {
        const room = ' '.repeat(widths[i]! - textWidth(text))
        if (isRight) return room + paint(text)
        return i === row.length - 1 ? paint(text) : paint(text) + room
      })
      .join('  '),
  )
}
