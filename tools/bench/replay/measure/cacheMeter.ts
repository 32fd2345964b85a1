import { sharedBlocks } from '../../../../packages/evaluation/src/metrics/blockTable.ts'
import type { MeasuredBlock } from './requestBlocks.ts'

/** One request as the provider bills it, in tokens. */
export interface Billed {
  readonly input: number
  /** The longest beginning it shares with one of the last requests. */
  readonly cached: number
  /** Part of the request before that this request did not keep as its beginning; `null` if it kept all of it. */
  readonly rewritten: number | null
}

const sum = (blocks: readonly MeasuredBlock[], from = 0): number => {
  let tokens = 0
  for (let index = from; index < blocks.length; index++) tokens += blocks[index]!.tokens
  return tokens
}

/** A provider's cache: it knows the beginnings of the last requests, block by block. */
export class CacheMeter {
  readonly #lookback: number
  readonly #recent: (readonly MeasuredBlock[])[] = []

  /** `lookback`: how many requests back the cache reaches. */
  constructor(lookback = 40) {
    this.#lookback = lookback
  }

  bill(blocks: readonly MeasuredBlock[]): Billed {
    const input = sum(blocks)
    let cached = 0
    for (const earlier of this.#recent) {
      const shared = sharedBlocks(earlier, blocks)
      cached = Math.max(cached, sum(blocks.slice(0, shared)))
    }
    const previous = this.#recent.at(-1)
    const shared = previous === undefined ? 0 : sharedBlocks(previous, blocks)
    const isBroken = previous !== undefined && shared < previous.length
    this.#recent.push(blocks)
    if (this.#recent.length > this.#lookback) this.#recent.shift()
    return { input, cached, rewritten: isBroken ? sum(blocks, shared) : null }
  }
}
