import type { RecordOf } from '../../protocol/records.ts'
import { correctionOf } from './tokenCounter.ts'

/** Measurements that providers have reported of the requests so far. */
export interface Measured {
  /** Reported over estimated tokens of the last request that was measured; 1 before. */
  readonly correction: number
  /**
   * Share of the previous request that the provider's cache held when the next one began with it, from 0 to 1; the newest measurement counts most. 1
   * until two requests in a row were large enough for a cache.
   */
  readonly cachedShare: number
  /** Number of requests in a row that got nothing from the cache, although each began with the one before and followed it soon. */
  readonly unread: number
  /** The newest request whose size was reported. */
  readonly last?: { readonly tokens: number; readonly model: string; readonly time: number }
}

export const unmeasured: Measured = Object.freeze({ correction: 1, cachedShare: 1, unread: 0 })

/** Minimum size of a beginning that all providers cache. */
const leastCached = 4_096
/** Time for which every provider keeps a cached beginning without another request, in milliseconds. */
const lifetimeMs = 5 * 60_000
/** The weight of an older measurement when another is made. */
const keptWeight = 0.9

/** Returns true if a function stands in for a model, without a provider and a real cache. */
const isFunction = (model: string): boolean => model.startsWith('embedded:')

/**
 * Returns the measurements including another reply. A request that is smaller than the previous one, or that another model answers, does not share
 * its cached beginning and is ignored. Pure.
 */
export function measure(
  before: Measured,
  { message, estimatedTokens, time }: Pick<RecordOf<'reply.end'>, 'message' | 'estimatedTokens' | 'time'>,
): Measured {
  const { usage, model } = message
  const { cachedShare, unread, last } = before
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite
  if (usage.estimated === true || tokens <= 0) return before
  const correction = correctionOf(message, estimatedTokens) ?? before.correction
  if (last === undefined && isFunction(model) && usage.cacheRead + usage.cacheWrite === 0)
    return { ...before, correction }
  const now = {
    correction,
    last: { tokens, model, time },
  }
  const goesOn = last !== undefined && last.model === model && last.tokens >= leastCached && tokens >= last.tokens
  if (!goesOn) return { ...now, cachedShare, unread: usage.cacheRead > 0 ? 0 : unread }
  const share = Math.min(1, usage.cacheRead / last.tokens)
  const isSoon = time - last.time < lifetimeMs
  return {
    ...now,
    cachedShare: keptWeight * cachedShare + (1 - keptWeight) * share,
    unread: share > 0 ? 0 : unread + (isSoon ? 1 : 0),
  }
}
