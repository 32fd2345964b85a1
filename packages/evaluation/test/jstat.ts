import { createRequire } from 'node:module'

/** What the tests take of the library jstat, which calculates by other ways than ours. */
interface JStat {
  readonly studentt: { inv(p: number, degrees: number): number; cdf(t: number, degrees: number): number }
  readonly normal: { cdf(x: number, mean: number, deviation: number): number }
  readonly binomial: { cdf(k: number, n: number, p: number): number }
}

export const { jStat } = createRequire(import.meta.url)('jstat') as { readonly jStat: JStat }
