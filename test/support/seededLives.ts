import { assert } from './suite.ts'

/** Consecutive seeds. */
export const seedsFrom = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, n) => first + n)

/** Lives one life for each seed, one after the other; each has to end without a fault. */
export async function liveAll<Outcome extends { readonly faults: readonly unknown[] }>(
  seeds: readonly number[],
  life: (seed: number) => Promise<Outcome>,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const seed of seeds) {
    const outcome = await life(seed)
    assert.equal(outcome.faults, [], `seed ${seed}`)
    outcomes.push(outcome)
  }
  return outcomes
}

/** The sum of a number over all outcomes. */
export const sum = <Outcome>(outcomes: readonly Outcome[], of: (outcome: Outcome) => number): number =>
  outcomes.reduce((total, outcome) => total + of(outcome), 0)
