import type { Clock } from '../../../../src/protocol/ports/clock.ts'

export interface SimulatedClock extends Clock {
  /** Advances time, firing due timers in order and letting promises settle in between. */
  advance(ms: number): Promise<void>
  /** Number of waiting timers. */
  readonly pending: number
}

/** Creates a clock that stands still: timers fire only in `advance`. */
export function simulatedClock(start = 1_700_000_000_000): SimulatedClock {
  let now = start
  const timers = new Set<{ at: number; callback: () => void }>()
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  return {
    now: () => now,
    after(ms, callback) {
      const timer = { at: now + Math.max(0, ms), callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    get pending() {
      return timers.size
    },
    async advance(ms) {
      const end = now + ms
      await settle()
      for (;;) {
        const due = [...timers].filter((timer) => timer.at <= end).toSorted((a, b) => a.at - b.at)[0]
        if (due === undefined) break
        timers.delete(due)
        now = Math.max(now, due.at)
        due.callback()
        await settle()
      }
      now = end
    },
  }
}
