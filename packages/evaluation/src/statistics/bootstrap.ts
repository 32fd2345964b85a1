import { confidence, fewestResampled, type Interval } from './figure.ts'
import { normalBelow } from './normal.ts'
import { randomNumbers } from './randomNumbers.ts'
import { tQuantile } from './studentT.ts'

/** Returns the number of resamples. Fewer are enough for many tasks, whose percentiles are less extreme. */
const resamplesOf = (count: number): number => Math.max(2_000, Math.min(10_000, Math.floor(1_000_000 / count)))

/**
 * Returns the bootstrap interval of a statistic over tasks, by resampling whole tasks. It uses Hesterberg's expanded percentiles, because plain
 * percentiles are too narrow for few tasks. Seeded. Returns `null` with fewer than 5 tasks, or if `valueOf`, which gets the number of draws of each
 * task, is not finite for some resample. Pure.
 */
export function bootstrap(count: number, valueOf: (drawn: Uint32Array) => number, seed: number): Interval | null {
  if (count < fewestResampled) return null
  const random = randomNumbers(seed)
  const resamples = resamplesOf(count)
  const values = new Float64Array(resamples)
  const drawn = new Uint32Array(count)
  for (let index = 0; index < resamples; index += 1) {
    drawn.fill(0)
    for (let draw = 0; draw < count; draw += 1) drawn[Math.floor(random() * count)]! += 1
    const value = valueOf(drawn)
    if (!Number.isFinite(value)) return null
    values[index] = value
  }
  values.sort()
  const below = normalBelow(-Math.sqrt(count / (count - 1)) * tQuantile(confidence, count - 1))
  return { low: at(values, below), high: at(values, 1 - below) }
}

/** Returns the value below which a share of sorted values lies, interpolated between the two nearest. */
function at(values: Float64Array, share: number): number {
  const place = Math.min(values.length - 1, Math.max(0, share * (values.length + 1) - 1))
  const low = Math.floor(place)
  const high = Math.min(values.length - 1, low + 1)
  return values[low]! + (values[high]! - values[low]!) * (place - low)
}
