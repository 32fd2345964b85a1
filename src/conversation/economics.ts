import type { Economics } from '../protocol/economics.ts'
import { noUsage, type Usage } from '../protocol/messages.ts'

/** What a token costs, in any unit; as in `pricing`, what is missing costs as much as `input`. */
export interface Prices {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

/** The ratios of most providers, in units of a token read from the cache. */
export const usualPrices = { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 } as const satisfies Prices

/** Tokens of a request or of a trunk before and after something reshapes it. */
export interface Sizes {
  readonly before: number
  readonly after: number
  /** Tokens at the beginning that stay as they are. */
  readonly unchanged: number
}

export interface Reshaping extends Sizes {
  /** By the model calls that it took: to ask for it, to write its text. */
  readonly used?: Usage | undefined
  /** Default: `usualPrices`, which also stand in where a token from the cache costs nothing. */
  readonly prices?: Prices | null | undefined
}

/**
 * What a reshaping costs and saves. Without it, each request would read `before` tokens from the cache; with it, each reads `after`, and
 * the first has to write what follows the first change. It has paid after n requests when
 * `n · freed · cacheRead > rewritten · (cacheWrite − cacheRead) + used`. Pure.
 */
export function economicsOf({ before, after, unchanged, used = noUsage, prices }: Reshaping): Economics {
  const known = prices == null || (prices.cacheRead ?? prices.input) === 0 ? usualPrices : prices
  const { input, output, cacheRead = input, cacheWrite = input } = known
  const freed = Math.round(before - after)
  const rewritten = Math.max(0, Math.round(after - unchanged))
  const spent = used.input * input + used.output * output + used.cacheRead * cacheRead + used.cacheWrite * cacheWrite
  const cost = spent + rewritten * Math.max(0, cacheWrite - cacheRead)
  return { freed, rewritten, paysAfter: freed > 0 ? Math.floor(cost / (freed * cacheRead)) + 1 : null }
}
