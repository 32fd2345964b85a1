import type { Figure } from '../../statistics/figure.ts'

/** Axis on which values are placed. */
export interface Scale {
  /** Returns the place of a value, in percent of the axis's width. */
  place(value: number): number
  readonly ticks: readonly number[]
  /** Value that stands for no difference. */
  readonly still?: number
}

/** Returns the values of figures and the ends of their intervals. */
const extentOf = (figures: readonly Figure[]): number[] =>
  figures.flatMap(({ value, interval }) =>
    value === null ? [] : [value, interval?.low ?? value, interval?.high ?? value],
  )

const within = (percent: number): number => Math.min(100, Math.max(0, percent))

/** Scale from 0 to 1. */
export const shareScale: Scale = { place: (value) => within(value * 100), ticks: [0, 0.5, 1] }

/** Returns a scale from 0 to a round number that holds all figures. Pure. */
export function amountScale(figures: readonly Figure[]): Scale {
  const most = roundUp(Math.max(0, ...extentOf(figures)))
  return { place: (value) => within((value / most) * 100), ticks: [0, most / 2, most] }
}

/** Returns a scale that extends as far to the left of 0 as to the right. Pure. */
export function differenceScale(figures: readonly Figure[]): Scale {
  const most = roundUp(Math.max(0.01, ...extentOf(figures).map(Math.abs)))
  return { place: (value) => within(50 + (value / most) * 50), ticks: [-most, 0, most], still: 0 }
}

/** Returns a scale of ratios: half as much is as far from 1 as twice as much. Pure. */
export function ratioScale(figures: readonly Figure[]): Scale {
  const known = extentOf(figures).filter((value) => value > 0)
  const most = Math.max(1.25, ...known.map((value) => Math.max(value, 1 / value)))
  const far = [1.25, 1.5, 2, 3, 5, 10, 100].find((step) => step >= most) ?? 1_000
  const place = (value: number): number => within(50 + (Math.log(Math.max(value, 1e-9)) / Math.log(far)) * 50)
  return { place, ticks: [1 / far, 1, far], still: 1 }
}

/** Rounds up to the next of 1, 2, 5, 10, 20 … */
function roundUp(value: number): number {
  if (value <= 0) return 1
  const size = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5].find((step) => step * size >= value * (1 - 1e-9)) ?? 10) * size
}
