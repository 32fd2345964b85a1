import { z } from 'zod'
import { onlyFields } from '../../protocol/checks/onlyFields.ts'
import { lazily } from '../../protocol/lazily.ts'
import type { Usage } from '../../protocol/messages.ts'

/** Prices in US dollars per million tokens. */
export interface Pricing {
  readonly input: number
  readonly output: number
  /** Price of tokens read from the cache. Default: the price of `input`. */
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

/** Schema of prices as an option. */
export const pricingSchema = lazily(() => {
  const price = z.number().nonnegative()
  return onlyFields({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() })
})

/** Prices of the models of one agent, by their ids as the log has them: `anthropic:claude-…`. */
export type PricesByModel = { readonly [model: string]: Pricing }

/** The parts of a definition about prices. */
export interface Priced {
  readonly model: { readonly id: string }
  /** Prices of its own model or, if that stands for others, of the most expensive of them. Limits and savings are computed with these. */
  readonly pricing: Pricing | null
  /** Prices of each model by id, if they differ. */
  readonly prices: PricesByModel | null
}

/** Returns the prices of the model that answered, by default the definition's own model. */
export const priceOf = ({ model, pricing, prices }: Priced, answered = model.id): Pricing | null =>
  prices === null ? pricing : Object.hasOwn(prices, answered) ? prices[answered]! : null

/** Reads the option `pricing`: prices for one model, or for each model. */
export function readPricing(
  given: Pricing | PricesByModel | undefined,
  model: { readonly id: string },
): Pick<Priced, 'pricing' | 'prices'> {
  if (given === undefined) return { pricing: null, prices: null }
  if (isOne(given)) return { pricing: given, prices: null }
  const dearest = Object.values(given).toSorted((a, b) => b.output - a.output || b.input - a.input)[0]
  return { pricing: given[model.id] ?? dearest ?? null, prices: given }
}

const isOne = (given: Pricing | PricesByModel): given is Pricing => typeof given['input'] === 'number'

/** Schema of the option `pricing` of an agent. */
export const agentPricingSchema = lazily(() => z.union([pricingSchema(), z.record(z.string(), pricingSchema())]))

/** Returns the cost of a usage in US dollars; 0 without prices. */
export function costOf(usage: Usage, pricing: Pricing | null): number {
  if (pricing === null) return 0
  const { input, output, cacheRead = input, cacheWrite = input } = pricing
  return (
    (usage.input * input + usage.output * output + usage.cacheRead * cacheRead + usage.cacheWrite * cacheWrite) /
    1_000_000
  )
}
