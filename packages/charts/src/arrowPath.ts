import type { PlacedArrow, Point } from './chartLayout.ts'

const round = (value: number): number => Math.round(value * 10) / 10

const cornerRadius = 7

/** Returns the path of an arrow as the `d` of an SVG path. Pure. */
export function arrowPath({ points, isCurve }: Pick<PlacedArrow, 'points' | 'isCurve'>): string {
  const [start, control, end] = points
  if (isCurve !== true || end === undefined) return wayPath(points)
  const place = ({ x, y }: Point): string => `${round(x)} ${round(y)}`
  return `M${place(start!)}Q${place(control!)} ${place(end)}`
}

/** Returns a path through points with rounded corners, as the `d` of an SVG path. Pure. */
export function wayPath(points: readonly Point[]): string {
  return points
    .map((at, i) => {
      const before = points[i - 1]
      const after = points[i + 1]
      if (before === undefined) return `M${round(at.x)} ${round(at.y)}`
      if (after === undefined) return `L${round(at.x)} ${round(at.y)}`
      const from = towards(at, before)
      const to = towards(at, after)
      return `L${round(from.x)} ${round(from.y)}Q${round(at.x)} ${round(at.y)} ${round(to.x)} ${round(to.y)}`
    })
    .join('')
}

/** Returns the point one corner radius from a corner towards another point, at most half way. */
function towards(at: Point, other: Point): Point {
  const length = Math.hypot(other.x - at.x, other.y - at.y)
  const share = length === 0 ? 0 : Math.min(cornerRadius, length / 2) / length
  return { x: at.x + (other.x - at.x) * share, y: at.y + (other.y - at.y) * share }
}

/** Returns an arrow's head, `half` pixels to either side, and the bar for one not taken. `undefined` for a path without length. Pure. */
export function arrowEnd(
  points: readonly Point[],
  half = 4,
): { readonly head: string; readonly bar: string } | undefined {
  const end = points.at(-1)
  const before = points.at(-2)
  if (end === undefined || before === undefined) return undefined
  const length = Math.hypot(end.x - before.x, end.y - before.y)
  if (length === 0) return undefined
  const along = { x: (end.x - before.x) / length, y: (end.y - before.y) / length }
  /** Returns the point `back` pixels before the end and `aside` pixels beside it. */
  const at = (back: number, aside: number): string =>
    `${round(end.x - along.x * back - along.y * aside)} ${round(end.y - along.y * back + along.x * aside)}`
  return { head: `M${at(0, 0)}L${at(half * 2, half)}L${at(half * 2, -half)}z`, bar: `M${at(13, 7)}L${at(13, -7)}` }
}
