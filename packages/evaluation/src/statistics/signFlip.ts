import { sumOf } from './moments.ts'
import { randomNumbers } from './randomNumbers.ts'

/** Result of a permutation test. */
export interface SignFlip {
  readonly p: number
  /** True if all assignments of signs were examined; otherwise a sample was drawn. */
  readonly isExact: boolean
  /** The smallest p value possible with this number of differences. */
  readonly smallest: number
}

/** Maximum number of differences for which every assignment of signs is examined: 2¹⁴ of them. */
const mostExact = 14
const draws = 20_000

/**
 * Sign-flip permutation test of paired differences, two-sided: the probability of a sum at least as far from 0 if each difference could as well have
 * the opposite sign, as it could if the two sides are the same. Differences of 0 have no effect. Exact up to 14 differences, else by seeded draws,
 * which include the given assignment. Pure.
 */
export function signFlip(differences: readonly number[], seed: number): SignFlip {
  const given = differences.filter((difference) => difference !== 0)
  const count = given.length
  if (count === 0) return { p: 1, isExact: true, smallest: 1 }
  // Sums of the same numbers in another order differ in their last bits.
  const least = Math.abs(sumOf(given)) * (1 - 1e-12)
  if (count <= mostExact) {
    // The other half mirrors this one.
    const half = 2 ** (count - 1)
    let extreme = 0
    for (let signs = 0; signs < half; signs += 1) if (sizeOf(given, signs) >= least) extreme += 1
    return { p: extreme / half, isExact: true, smallest: 1 / half }
  }
  const random = randomNumbers(seed)
  let extreme = 1
  for (let draw = 0; draw < draws; draw += 1) {
    let sum = 0
    for (const difference of given) sum += random() < 0.5 ? difference : -difference
    if (Math.abs(sum) >= least) extreme += 1
  }
  return { p: extreme / (draws + 1), isExact: false, smallest: 1 / (draws + 1) }
}

/** Returns the absolute sum with signs given by the bits of a number. A difference beyond the last bit keeps its sign. */
function sizeOf(given: readonly number[], signs: number): number {
  let sum = 0
  for (let index = 0; index < given.length; index += 1) sum += (signs >> index) & 1 ? -given[index]! : given[index]!
  return Math.abs(sum)
}
