import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Bridge } from './bridge.ts'

/** Renews the frame allowances every second, and pings clients every `pingMs`. Returns a function that stops the heartbeat. */
export function startHeartbeat(clock: Clock, bridge: Bridge): () => void {
  let since = 0
  let cancel = (): void => {}
  const next = (): void => {
    cancel = clock.after(1_000, () => {
      since += 1_000
      bridge.results.expire(clock.now())
      const isPing = since >= bridge.limits.pingMs
      if (isPing) since = 0
      for (const connection of bridge.connections) {
        connection.tick()
        if (isPing) connection.ping()
      }
      next()
    })
  }
  next()
  return () => cancel()
}
