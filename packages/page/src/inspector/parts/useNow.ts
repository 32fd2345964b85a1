import { useEffect, useState } from 'preact/hooks'
import type { Clock } from '../../../../../src/protocol/ports/clock.ts'

/** Returns the time in epoch milliseconds, updated every `everyMs` milliseconds. */
export function useNow(clock: Clock, everyMs: number): number {
  const [now, setNow] = useState(() => clock.now())
  useEffect(() => {
    let cancel = (): void => {}
    const tick = (): void => {
      setNow(clock.now())
      cancel = clock.after(everyMs, tick)
    }
    tick()
    return () => cancel()
  }, [clock, everyMs])
  return now
}
