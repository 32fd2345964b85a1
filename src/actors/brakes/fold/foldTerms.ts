import type { FoldTerms } from '../../../conversation/brakes/fold/planFold.ts'
import { cacheLifetimes } from '../../../protocol/cacheLifetimes.ts'
import type { TurnFrame } from '../../turn/turnFrames.ts'

/** Returns the terms of a fold: the model's prices and the lifetime of its provider's cache. Prices without one for cache reads are not used. */
export const foldTerms = ({ pricing, settings: { cache } }: Pick<TurnFrame, 'pricing' | 'settings'>): FoldTerms => ({
  prices: pricing?.cacheRead === undefined ? null : pricing,
  lifetimeMs: cacheLifetimes[cache !== undefined && cache !== false && cache.ttl === '1h' ? '1h' : '5m'],
})
