import type { Interval } from './figure.ts'
import { z95 } from './normal.ts'

/** Returns Wilson's score interval of a share observed in `trials` independent trials, which need not be a whole number. Pure. */
export function wilson(share: number, trials: number): Interval {
  const squared = z95 * z95
  const scale = 1 + squared / trials
  const middle = (share + squared / (2 * trials)) / scale
  const half = (z95 / scale) * Math.sqrt((share * (1 - share)) / trials + squared / (4 * trials * trials))
  return { low: share === 0 ? 0 : Math.max(0, middle - half), high: share === 1 ? 1 : Math.min(1, middle + half) }
}
