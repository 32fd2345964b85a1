import { randomNumbers } from '../../packages/evaluation/src/statistics/randomNumbers.ts'

/** The same items in an order that the seed determines. */
export function shuffled<T>(all: readonly T[], seed: number): readonly T[] {
  const next = randomNumbers(seed)
  const order = [...all]
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(next() * (last + 1))
    ;[order[last], order[other]] = [order[other]!, order[last]!]
  }
  return order
}
