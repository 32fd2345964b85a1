import type { Clock } from '../../../protocol/clock.ts'

/** The system's time. */
export const wallClock: Clock = {
  now: () => Date.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}
