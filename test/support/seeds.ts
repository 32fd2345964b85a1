/** True if all seeds are wanted (`TEST_SEEDS=all`, `npm run test:full`), false for a quarter of them. */
export const wantsAll = process.env['TEST_SEEDS'] === 'all'

/** Number of random inputs that a run tries, out of `all`. */
export const someRuns = (all: number): number => (wantsAll ? all : Math.ceil(all / 4))

/** All items, or every fourth and the last. */
export const some = <T>(all: readonly T[]): readonly T[] =>
  wantsAll ? all : all.filter((_, index) => index % 4 === 0 || index === all.length - 1)

/** All items, or every third from the `turn`th on, so that several cases share them. */
export const byTurns = <T>(all: readonly T[], turn: number): readonly T[] =>
  wantsAll ? all : all.filter((_, index) => index % 3 === turn % 3)
