import type { Tokens } from './cacheMeter.ts'

/** Prices of a model, as multiples of its price for a fresh input token that is not written to a cache. */
export interface PriceRatios {
  /** For input read from the cache. */
  readonly cached: number
  /** For input that is written to the cache. */
  readonly written: number
  /** The same where it is to be kept for an hour, if that costs something else. */
  readonly writtenLong?: number
  readonly output: number
  /** The list prices in dollars per million tokens, and where they were read. */
  readonly source: string
}

/** A snapshot of list prices; the first is the default. Storage fees and long-context surcharges are not in it. */
export const prices: Readonly<Record<string, PriceRatios>> = {
  anthropic: {
    cached: 0.1,
    written: 1.25,
    writtenLong: 2,
    output: 5,
    source: 'Claude Sonnet 4.5: $3 in, $0.30 cached, $3.75 written for 5 minutes, $15 out (claude.com/pricing)',
  },
  'anthropic-1h': {
    cached: 0.1,
    written: 2,
    output: 5,
    source: 'Claude Sonnet 4.5: $3 in, $0.30 cached, $6 written for an hour, $15 out (claude.com/pricing)',
  },
  openai: {
    cached: 0.1,
    written: 1,
    output: 8,
    source: 'GPT-5: $1.25 in, $0.125 cached, writing is free, $10 out (openai.com/api/pricing)',
  },
  'openai-4.1': {
    cached: 0.25,
    written: 1,
    output: 4,
    source: 'GPT-4.1: $2 in, $0.50 cached, writing is free, $8 out (openai.com/api/pricing)',
  },
  google: {
    cached: 0.1,
    written: 1,
    output: 6,
    source: 'Gemini 3.1 Pro: $2 in, $0.20 cached implicitly, $12 out (ai.google.dev/gemini-api/docs/pricing)',
  },
  deepseek: {
    cached: 0.02,
    written: 1,
    output: 2,
    source: 'DeepSeek V4 Flash: $0.14 in, $0.0028 cached, $0.28 out (api-docs.deepseek.com/quick_start/pricing)',
  },
}

/** In fresh input tokens. */
export const costOf = ({ input, cached, written, writtenLong, output }: Tokens, ratios: PriceRatios): number =>
  ratios.cached * cached +
  ratios.written * (written - writtenLong) +
  (ratios.writtenLong ?? ratios.written) * writtenLong +
  (input - cached - written) +
  ratios.output * output
