import { confidence, figure, noFigure, oneTaskOnly, sameInAll, type Figure } from './figure.ts'
import { meanOf, sumOf } from './moments.ts'
import { tQuantile } from './studentT.ts'

/** Returns the mean of a measure over trials, with equal weight for every task and the interval of the t distribution over tasks. Pure. */
export function perTask(
  tasks: readonly (readonly number[])[],
  bounds: { readonly least?: number; readonly most?: number } = {},
): Figure {
  const used = tasks.filter((values) => values.length > 0)
  const sample = { tasks: used.length, trials: sumOf(used.map(({ length }) => length)) }
  if (used.length === 0) return noFigure(sample, 'nothing was measured')
  const { mean, error } = meanOf(used.map((values) => sumOf(values) / values.length))
  if (used.length === 1) return figure(mean, null, sample, oneTaskOnly)
  if (error === 0) return figure(mean, null, sample, sameInAll)
  const half = tQuantile(confidence, used.length - 1) * error
  const { least = -Infinity, most = Infinity } = bounds
  return figure(mean, { low: Math.max(least, mean - half), high: Math.min(most, mean + half) }, sample)
}
