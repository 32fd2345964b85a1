import { useEffect, useState } from 'preact/hooks'
import type { Clock } from '../../protocol/clock.ts'

/** The time, again and again; epoch milliseconds. */
export function useNow(clock: Clock, everyMs: number): number {
  const [now, setNow] = useState(clock.now())
  useEffect(() => {
    let cancel: () => void = () => {}
    const next = (): void => {
      setNow(clock.now())
      cancel = clock.after(everyMs, next)
    }
    next()
    return () => cancel()
  }, [clock, everyMs])
  return now
}
