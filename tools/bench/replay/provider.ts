import type { Block, ModelRequest, Usage } from '../../../src/index.ts'
import { marksFor } from './measure/cacheMarks.ts'
import { type CacheMeter, cacheMeter, type CacheName } from './measure/cacheMeter.ts'
import { BlockTable } from './measure/requestBlocks.ts'
import { tokensWritten } from './measure/tokens.ts'

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** The provider of a replay: it tells the agent what each request used, in its own tokens. */
export class Provider {
  readonly #cache: CacheName
  readonly #meter: CacheMeter
  readonly #table = new BlockTable()
  readonly #unit: number

  constructor(cache: CacheName, unit = 1) {
    this.#cache = cache
    this.#meter = cacheMeter(cache)
    this.#unit = unit
  }

  usageOf(request: ModelRequest, reply: readonly Block[], at: number): Usage {
    if (this.#cache === 'ideal' && this.#unit === 1) return noUsage
    const billed = this.#meter.bill(this.#table.blocksOf(request), marksFor(this.#cache, request), at)
    const counted = (tokens: number): number => Math.round(this.#unit * tokens)
    return {
      input: counted(billed.input - billed.cached - billed.written),
      output: counted(tokensWritten(reply)),
      cacheRead: counted(billed.cached),
      cacheWrite: counted(billed.written),
    }
  }
}
