import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { pause } from '../../../../src/protocol/ports/pause.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { LoggedRequests } from '../../../sessions/src/loggedRequests.ts'

/** Resolves once a log has a request, with `undefined`; also when the signal is aborted. A store that fails is asked again. */
export async function wasRecorded({
  store,
  clock,
  pollMs,
  agentId,
  requestId,
  signal,
}: {
  readonly store: Pick<Store, 'read'>
  readonly clock: Clock
  readonly pollMs: number
  readonly agentId: string
  readonly requestId: string
  readonly signal: AbortSignal
}): Promise<undefined> {
  const requests = new LoggedRequests()
  let next = 1
  while (!signal.aborted) {
    try {
      for await (const record of store.read(agentId, next)) {
        requests.apply(record)
        next = record.seq + 1
      }
    } catch {
      // Whoever follows the log hears of it.
    }
    if (requests.has(requestId)) return undefined
    await pause(pollMs, clock, signal)
  }
  return undefined
}
