import { mostUnread, type Measured } from '../../conversation/limits/tokenCounter.ts'
import { errorInfo } from '../../protocol/errors.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { asksForCache } from '../models/cachingModels.ts'

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
