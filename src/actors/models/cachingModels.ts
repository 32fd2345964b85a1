import type { Model, ModelSettings } from '../../protocol/ports/model.ts'

type Asks = (settings: ModelSettings) => boolean

const asking = new WeakMap<Model, Asks>()

/** Marks a model that asks its provider to cache the beginning of requests, for requests with such settings. */
export function cachingModel(model: Model, asks: Asks): Model {
  asking.set(model, asks)
  return model
}

/** Returns true for a model that is known to ask its provider to cache. */
export const asksForCache = (model: Model, settings: ModelSettings): boolean => asking.get(model)?.(settings) === true
