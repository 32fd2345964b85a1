import type { Clock } from './clock.ts'

/** Longest delay a Node timer takes; a longer one fires at once. */
const longestTimer = 2 ** 31 - 1

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    let timer: ReturnType<typeof setTimeout>
    const arm = (left: number): void => {
      timer = setTimeout(
        () => (left > longestTimer ? arm(left - longestTimer) : callback()),
        Math.min(left, longestTimer),
      )
    }
    arm(ms)
    return () => clearTimeout(timer)
  },
}
