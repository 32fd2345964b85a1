import type { Clock } from '../../../../protocol/clock.ts'

/** A clock and a source of jitter for `connect`, which show when it will try again. */
export interface RetryWatch {
  readonly clock: Clock
  readonly random: () => number
}

/** Calls `told` with the moment of each next attempt: the client draws its jitter right before it sets the timer. */
export function watchRetries(clock: Clock, random: () => number, told: (retryAt: number) => void): RetryWatch {
  let isNext = false
  return {
    random() {
      isNext = true
      return random()
    },
    clock: {
      now: () => clock.now(),
      after(ms, callback) {
        if (isNext) told(clock.now() + ms)
        isNext = false
        return clock.after(ms, callback)
      },
    },
  }
}
