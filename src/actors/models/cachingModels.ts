import type { Model, ModelSettings } from '../../protocol/ports/model.ts'
import { mostUnread, type Measured } from '../../conversation/limits/tokenCounter.ts'
import { errorInfo } from '../../protocol/errors.ts'
import type { AgentPorts } from '../agentPorts.ts'

type Asks = (settings: ModelSettings) => boolean

const asking = new WeakMap<Model, Asks>()

/** Marks a model as one that asks its provider to cache the beginning of requests, for the settings that `asks` accepts. */
export function cachingModel(model: Model, asks: Asks): Model {
  asking.set(model, asks)
  return model
}

/** Returns true for a model that is known to ask its provider to cache. */
export const asksForCache = (model: Model, settings: ModelSettings): boolean => asking.get(model)?.(settings) === true

/** Warns when requests begin with the one before, ask for it to be cached, and are never answered from the cache. */
export function warnOfUnusedCache(
  ports: Pick<AgentPorts, 'frame' | 'warn'>,
  at: { readonly runId: string; readonly turnIndex: number },
  { unread }: Measured,
): void {
  const { model, settings } = ports.frame
  if (unread !== mostUnread || !asksForCache(model, settings)) return
  const what = `${mostUnread} requests in a row began with the one before, and ${model.id} reports that it had nothing of them in its cache.`
  const { code, message } = errorInfo('CACHE_UNUSED', what)
  ports.warn(at, `${code}: ${message}`)
}
