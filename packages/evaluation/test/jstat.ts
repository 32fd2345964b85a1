import { createRequire } from 'node:module'

/** Parts of the library jstat that the tests use; it calculates by other ways than ours. */
interface JStat {
  readonly studentt: { inv(p: number, degrees: number): number; cdf(t: number, degrees: number): number }
  readonly normal: { cdf(x: number, mean: number, deviation: number): number }
  readonly binomial: { cdf(k: number, n: number, p: number): number }
}

export const { jStat } = createRequire(import.meta.url)('jstat') as { readonly jStat: JStat }
