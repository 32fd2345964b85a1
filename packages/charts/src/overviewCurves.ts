import type { Point } from './chartLayout.ts'

/** A rectangle, in pixels. */
export interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A curve from one box to another, bent towards `control`. */
export interface Curve {
  readonly start: Point
  readonly control: Point
  readonly end: Point
}

export const centreOf = ({ x, y, width, height }: Area): Point => ({ x: x + width / 2, y: y + height / 2 })

export const isInside = ({ x, y }: Point, area: Area, margin = 0): boolean =>
  x > area.x - margin && x < area.x + area.width + margin && y > area.y - margin && y < area.y + area.height + margin

export const overlaps = (a: Area, b: Area, margin = 0): boolean =>
  a.x < b.x + b.width + margin &&
  b.x < a.x + a.width + margin &&
  a.y < b.y + b.height + margin &&
  b.y < a.y + a.height + margin

/** Returns a point of a curve. `at` goes from 0 at its start to 1 at its end. */
export function pointAt({ start, control, end }: Curve, at: number): Point {
  const [a, b, c] = [(1 - at) ** 2, 2 * (1 - at) * at, at ** 2]
  return { x: a * start.x + b * control.x + c * end.x, y: a * start.y + b * control.y + c * end.y }
}

/** Returns `count + 1` points along a curve. */
export const pointsOf = (curve: Curve, count = 24): Point[] =>
  Array.from({ length: count + 1 }, (_, index) => pointAt(curve, index / count))

/**
 * Returns a curve between the borders of two boxes. `bow`: how far it bends to the left of its direction, as a share of its length. Each end is moved
 * along the border by `aside` pixels to the left, so that the ways there and back are two lines.
 */
export function curveBetween(from: Area, to: Area, bow: number, aside: number): Curve {
  const [a, b] = [centreOf(from), centreOf(to)]
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1
  const left = { x: (b.y - a.y) / length, y: (a.x - b.x) / length }
  const moved = ({ x, y }: Point): Point => ({ x: x + left.x * aside, y: y + left.y * aside })
  const [start, end] = [moved(a), moved(b)]
  const control = {
    x: (start.x + end.x) / 2 + left.x * bow * length,
    y: (start.y + end.y) / 2 + left.y * bow * length,
  }
  const whole = { start, control, end }
  const first = lastWithin(whole, from, 0, 1)
  const last = lastWithin(whole, to, 1, 0)
  return part(whole, first, last)
}

/** Returns the place on a curve, from 0 to 1, at which it leaves the area in which it begins, found by halving. */
function lastWithin(curve: Curve, area: Area, within: number, beyond: number): number {
  let [inside, outside] = [within, beyond]
  for (let round = 0; round < 20; round++) {
    const middle = (inside + outside) / 2
    if (isInside(pointAt(curve, middle), area, 1)) inside = middle
    else outside = middle
  }
  return outside
}

/** Returns the part of a curve between two of its points. */
function part(curve: Curve, from: number, to: number): Curve {
  const { start, control, end } = curve
  const between = (a: Point, b: Point, at: number): Point => ({ x: a.x + (b.x - a.x) * at, y: a.y + (b.y - a.y) * at })
  const bend = between(between(start, control, from), between(control, end, from), to)
  return { start: pointAt(curve, from), control: bend, end: pointAt(curve, to) }
}
