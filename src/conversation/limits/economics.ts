import type { Economics, Prices } from '../../protocol/economics.ts'
import { noUsage, type Usage } from '../../protocol/messages.ts'

/** The context window in tokens that is assumed where none is given. */
export const usualWindow = 200_000

/** Price ratios of most providers, in units of a token read from the cache. */
export const usualPrices = { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 } as const satisfies Prices

/** Tokens of a request or of a trunk before and after something reshapes it. */
export interface Sizes {
  readonly before: number
  readonly after: number
  /** Number of unchanged tokens at the beginning. */
  readonly unchanged: number
}

export interface Reshaping extends Sizes {
  /** Tokens used by model calls to request it and to write its text. */
  readonly used?: Usage | undefined
  /** Prices of the model. Default: `usualPrices`, which also stand in for absurd ones. */
  readonly prices?: Prices | null | undefined
  /** Measured share of an unchanged beginning that the cache holds, from 0 to 1. Default 1. */
  readonly cachedShare?: number | undefined
  /** True if nothing is cached, so that writing a token anew costs no more than keeping it. */
  readonly isFree?: boolean | undefined
}

/** Returns the cost of an unchanged token. The share that the cache does not hold is paid in full. */
export const keptPrice = ({ input, cacheRead = input }: Prices, cachedShare: number): number =>
  cachedShare * cacheRead + (1 - cachedShare) * input

/** Returns the given prices, or the usual ones if they are missing or implausible, such as those of a cache that costs nothing. */
export const soundPrices = (prices: Prices | null | undefined): Prices => {
  if (prices == null) return usualPrices
  const { input, output, cacheRead = input, cacheWrite = input } = prices
  const isSound = cacheRead > 0 && input > 0 && [input, output, cacheRead, cacheWrite].every(Number.isFinite)
  return isSound ? prices : usualPrices
}

/** Returns the extra cost of writing a token anew instead of keeping it, in units of the latter. */
const rewriting = (prices: Prices, cachedShare: number): number => {
  const kept = keptPrice(prices, cachedShare)
  return Math.max(0, ((prices.cacheWrite ?? prices.input) - kept) / kept)
}

/** Maximum factor, for a provider whose cache costs next to nothing. */
const mostFactor = 2

/**
 * Returns a factor for how rarely a conversation should be reshaped: 1 if the cache holds all unchanged tokens at the usual prices, .15 if it is
 * never read, and 0 if writing a token anew costs no more than keeping it. Pure.
 */
export const reshapingFactor = (cachedShare: number, prices?: Prices | null): number =>
  Math.min(mostFactor, Math.sqrt(rewriting(soundPrices(prices), cachedShare) / rewriting(usualPrices, 1)))

/**
 * Computes the costs and savings of a reshaping. Without it, each request would keep `before` tokens; with it, each keeps `after`, and the first has
 * to write all tokens after the first change. It has paid after n requests when `n · freed · kept > rewritten · (cacheWrite − kept) + used`, where
 * `kept` is `cacheRead` for the share that the cache holds, and `input` for the rest. Pure.
 */
export function economicsOf({
  before,
  after,
  unchanged,
  used = noUsage,
  prices,
  cachedShare = 1,
  isFree = false,
}: Reshaping): Economics {
  const known = soundPrices(prices)
  const { input, output, cacheRead = input, cacheWrite = input } = known
  const kept = keptPrice(known, cachedShare)
  const freed = Math.round(before - after)
  const rewritten = Math.max(0, Math.round(after - unchanged))
  const spent = used.input * input + used.output * output + used.cacheRead * cacheRead + used.cacheWrite * cacheWrite
  const cost = spent + (isFree ? 0 : rewritten * Math.max(0, cacheWrite - kept))
  return { freed, rewritten, paysAfter: freed > 0 ? Math.floor(cost / (freed * kept)) + 1 : null }
}
