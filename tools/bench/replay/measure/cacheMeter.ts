import { sharedBlocks } from '../../../../packages/evaluation/src/metrics/blockTable.ts'
import { PrefixTree } from './prefixTree.ts'
import type { MeasuredBlock } from './requestBlocks.ts'

/** Input of one request as the provider bills it, in tokens; what is neither cached nor written has the plain price. */
export interface Billed {
  readonly input: number
  readonly cached: number
  /** Written to the cache, to be kept for five minutes or as long as the cache keeps anything, and of it what is to be kept for an hour. */
  readonly written: number
  readonly writtenLong: number
}

/** All that is billed for a request and its reply. */
export interface Tokens extends Billed {
  readonly output: number
}

export const noTokens: Tokens = { input: 0, cached: 0, written: 0, writtenLong: 0, output: 0 }

export function addTo(sum: { -readonly [field in keyof Tokens]: Tokens[field] }, tokens: Tokens): void {
  for (const field of Object.keys(noTokens) as (keyof Tokens)[]) sum[field] += tokens[field]
}

/** A mark up to which a provider is asked to cache a request: its first `end` blocks, of which the frame is one. */
export interface CacheMark {
  readonly end: number
  readonly ttl: keyof typeof lifetimes
}

/** A provider's cache. It is told of the requests in their order. */
export interface CacheMeter {
  /** `marks`: how far the beginning is to be cached. `at`: when the request was sent, in milliseconds. */
  bill(blocks: readonly MeasuredBlock[], marks: readonly CacheMark[], at: number): Billed
}

/** For how long a provider keeps a beginning that nobody reads, in milliseconds. */
export const lifetimes = { '5m': 300_000, '1h': 3_600_000 } as const

/** Ways a cache can work: see the README. */
export const cacheNames = ['ideal', '5m', '1h', 'none'] as const
export type CacheName = (typeof cacheNames)[number]

export const cacheMeter = (name: CacheName): CacheMeter =>
  name === 'none' ? noCache : name === 'ideal' ? idealCache() : markedCache()

const sum = (blocks: readonly MeasuredBlock[], from = 0, to = blocks.length): number => {
  let tokens = 0
  for (let index = from; index < to; index++) tokens += blocks[index]!.tokens
  return tokens
}

const noCache: CacheMeter = {
  bill: (blocks) => ({ input: sum(blocks), cached: 0, written: 0, writtenLong: 0 }),
}

/** Caches the longest beginning that a request shares with one of the last, block by block, whenever that was. `lookback`: how many requests. */
export function idealCache(lookback = 40) {
  const recent: (readonly MeasuredBlock[])[] = []
  return {
    bill(blocks: readonly MeasuredBlock[]): Billed {
      const input = sum(blocks)
      let cached = 0
      for (const earlier of recent) cached = Math.max(cached, sum(blocks, 0, sharedBlocks(earlier, blocks)))
      recent.push(blocks)
      if (recent.length > lookback) recent.shift()
      return { input, cached, written: input - cached, writtenLong: 0 }
    },
  }
}

/** Blocks before a mark at which a provider looks for something cached. */
const lookback = 20
/** The smallest beginning that is cached, in tokens. */
const leastCached = 1_024

/**
 * Caches up to each mark, for its lifetime since it was last read or written. Something cached is looked for at each mark and a few blocks
 * before it, and what is longer there counts.
 */
function markedCache(): CacheMeter {
  const tree = new PrefixTree<MeasuredBlock>()
  /** For how long a cached beginning is kept, and until when. */
  const entries = new Map<number, { readonly ttl: CacheMark['ttl']; readonly until: number }>()
  const keep = (prefix: number, at: number, ttl: CacheMark['ttl']): void =>
    void entries.set(prefix, { ttl, until: at + lifetimes[ttl] })
  return {
    bill(blocks, marks, at) {
      const prefixes = tree.follow(blocks)
      const isCached = (end: number): boolean => (entries.get(prefixes[end - 1]!)?.until ?? -1) >= at
      let hit = 0
      for (const { end } of marks)
        for (let place = end; place > Math.max(hit, end - lookback - 1); place -= 1) if (isCached(place)) hit = place
      const ends = marks.filter(({ end }) => sum(blocks, 0, end) >= leastCached)
      const lastOf = (ttl?: CacheMark['ttl']): number =>
        Math.max(hit, ...ends.map((mark) => (ttl === undefined || mark.ttl === ttl ? mark.end : 0)))
      // Reading a beginning keeps it, and all that is cached of it.
      for (const prefix of prefixes.slice(0, hit)) {
        const entry = entries.get(prefix)
        if (entry !== undefined && entry.until >= at) keep(prefix, at, entry.ttl)
      }
      for (const { end, ttl } of ends) if (end > hit) keep(prefixes[end - 1]!, at, ttl)
      return {
        input: sum(blocks),
        cached: sum(blocks, 0, hit),
        written: sum(blocks, hit, lastOf()),
        writtenLong: sum(blocks, hit, lastOf('1h')),
      }
    },
  }
}
