import type { FoldTerms } from '../../../conversation/brakes/fold/planFold.ts'
import { cacheLifetimes } from '../../../protocol/cacheLifetimes.ts'
import type { TurnFrame } from '../../turn/turnFrames.ts'

/** Returns the terms of a fold: what the model costs, and how long its provider caches. Prices that tell nothing of a cache are no help. */
export const foldTerms = ({ pricing, settings: { cache } }: Pick<TurnFrame, 'pricing' | 'settings'>): FoldTerms => ({
  prices: pricing?.cacheRead === undefined ? null : pricing,
  lifetimeMs: cacheLifetimes[cache !== undefined && cache !== false && cache.ttl === '1h' ? '1h' : '5m'],
})
