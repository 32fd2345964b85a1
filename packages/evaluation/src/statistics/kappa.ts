import { figure, noFigure, type Figure } from './figure.ts'
import { z95 } from './normal.ts'

/** Counts of two judges' verdicts on the same things: both said yes, only one of them, neither. */
export interface Agreement {
  readonly both: number
  readonly onlyFirst: number
  readonly onlySecond: number
  readonly neither: number
}

/**
 * Returns Cohen's kappa: agreement beyond chance, 1 for full agreement, 0 for as much as by chance. The interval is by its large-sample standard
 * error. Pure.
 */
export function kappa({ both, onlyFirst, onlySecond, neither }: Agreement): Figure {
  const count = both + onlyFirst + onlySecond + neither
  const sample = { tasks: 0, trials: count }
  if (count === 0) return noFigure(sample, 'nothing was judged by both')
  const first = (both + onlyFirst) / count
  const second = (both + onlySecond) / count
  const seen = (both + neither) / count
  const expected = first * second + (1 - first) * (1 - second)
  if (expected === 1) return noFigure(sample, 'both always said the same one thing, so that chance alone agrees')
  const value = (seen - expected) / (1 - expected)
  const error = Math.sqrt(
    varianceOf({
      first,
      second,
      seen,
      expected,
      yes: both / count,
      no: neither / count,
      onlyFirst: onlyFirst / count,
      onlySecond: onlySecond / count,
    }) / count,
  )
  if (error === 0) return figure(value, null, sample, 'they never differ, so that its spread is not seen')
  return figure(value, { low: Math.max(-1, value - z95 * error), high: Math.min(1, value + z95 * error) }, sample)
}

interface Shares {
  readonly first: number
  readonly second: number
  readonly seen: number
  readonly expected: number
  readonly yes: number
  readonly no: number
  readonly onlyFirst: number
  readonly onlySecond: number
}

/** Returns the variance by Fleiss, Cohen and Everitt (1969), times the count. */
function varianceOf({ first, second, seen, expected, yes, no, onlyFirst, onlySecond }: Shares): number {
  const rest = 1 - expected
  const value = (seen - expected) / rest
  const along = yes * (1 - (first + second) * (1 - value)) ** 2 + no * (1 - (2 - first - second) * (1 - value)) ** 2
  const across = (1 - value) ** 2 * (onlyFirst * (second + 1 - first) ** 2 + onlySecond * (first + 1 - second) ** 2)
  return Math.max(0, along + across - (value - expected * (1 - value)) ** 2) / rest ** 2
}
