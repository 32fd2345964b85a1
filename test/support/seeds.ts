/** True if all seeds are wanted (`TEST_SEEDS=all`, `npm run test:full`), false for a quarter of them. */
export const wantsAll = process.env['TEST_SEEDS'] === 'all'

/** How many of so many made-up inputs a run tries. */
export const someRuns = (all: number): number => (wantsAll ? all : Math.ceil(all / 4))

/** Every fourth of them and the last, or all. */
export const some = <T>(all: readonly T[]): readonly T[] =>
  wantsAll ? all : all.filter((_, index) => index % 4 === 0 || index === all.length - 1)

/** Every third of them, from the `turn`th on, or all: what several cases share by turns. */
export const byTurns = <T>(all: readonly T[], turn: number): readonly T[] =>
  wantsAll ? all : all.filter((_, index) => index % 3 === turn % 3)
