/** Adjusts p values by Holm's step-down method, so that all tests together have the level of one. Keeps the order; `null` (no test) stays. Pure. */
export function holm(given: readonly (number | null)[]): (number | null)[] {
  const tests = given.flatMap((p, index) => (p === null ? [] : [{ p, index }])).toSorted((a, b) => a.p - b.p)
  const adjusted: (number | null)[] = given.map(() => null)
  let largest = 0
  tests.forEach(({ p, index }, rank) => {
    largest = Math.max(largest, Math.min(1, p * (tests.length - rank)))
    adjusted[index] = largest
  })
  return adjusted
}
