import { z } from 'zod'
import { lazily } from '../protocol/lazily.ts'
import type { Usage } from '../protocol/messages.ts'

/** Prices in US dollars per million tokens. */
export interface Pricing {
  readonly input: number
  readonly output: number
  /** Default: the price of `input`. */
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

/** Prices as an option. */
export const pricingSchema = lazily(() => {
  const price = z.number().nonnegative()
  return z.strictObject({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() })
})

/** US dollars for a usage; 0 without prices. */
export function costOf(usage: Usage, pricing: Pricing | null): number {
  if (pricing === null) return 0
  const { input, output, cacheRead = input, cacheWrite = input } = pricing
  return (
    (usage.input * input + usage.output * output + usage.cacheRead * cacheRead + usage.cacheWrite * cacheWrite) /
    1_000_000
  )
}
