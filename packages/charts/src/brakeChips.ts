import type { DrawnBrake } from './chartDrawing.ts'
import { lineHeight, type PlacedBox } from './chartLayout.ts'
import { measureText } from './textMeasure.ts'

/** A brake of a closed state, placed in pixels. `name` begins with a sign for the style, which may not be visible. */
export interface BrakeChip extends DrawnBrake {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const size = 12
const gap = 6
const height = 19
const signs: Readonly<Record<DrawnBrake['style'], string>> = { open: '→ ', shut: '× ', brake: '' }

/** Returns the brakes of a closed state, placed in rows below its name. Pure. */
export function brakeChips({ brakes = [], details, x, y, width }: PlacedBox): BrakeChip[] {
  const rows: { name: string; style: DrawnBrake['style']; wide: number }[][] = [[]]
  const wideOf = (row: readonly { readonly wide: number }[]): number =>
    row.reduce((sum, { wide }) => sum + wide + gap, -gap)
  for (const { name, style } of brakes) {
    const said = `${signs[style]}${name}`
    const chip = { name: said, style, wide: measureText(said, size) + 10 }
    if (wideOf([...rows.at(-1)!, chip]) > width - 12) rows.push([])
    rows.at(-1)!.push(chip)
  }
  return rows.flatMap((row, index) => {
    let left = x + (width - wideOf(row)) / 2
    return row.map(({ name, style, wide }): BrakeChip => {
      const chip = {
        name,
        style,
        x: left,
        y: y + 32 + details.length * lineHeight + index * (height + 5),
        width: wide,
        height,
      }
      left += wide + gap
      return chip
    })
  })
}
