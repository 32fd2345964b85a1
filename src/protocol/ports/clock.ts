/** The time port. Every timestamp, timer and timeout of the runtime goes through it. All values are milliseconds. */
export interface Clock {
  /** Time in milliseconds since the Unix epoch. */
  now(): number
  /** Calls `callback` once, after `ms`. Returns a function that cancels it; calling that late or twice is safe. */
  after(ms: number, callback: () => void): () => void
}

/** Maximum delay of a Node timer; a longer one fires at once. */
const longestTimer = 2 ** 31 - 1

const clockWith = (started: (timer: ReturnType<typeof setTimeout>) => void): Clock => ({
  now: () => Date.now(),
  after(ms, callback) {
    let timer: ReturnType<typeof setTimeout>
    const arm = (left: number): void => {
      timer = setTimeout(
        () => (left > longestTimer ? arm(left - longestTimer) : callback()),
        Math.min(left, longestTimer),
      )
      started(timer)
    }
    arm(ms)
    return () => clearTimeout(timer)
  },
})

/** The system's clock. */
export const systemClock: Clock = clockWith(() => {})

/** The system's clock for optional work: its timers do not keep an otherwise idle process alive. Needs Node. */
export const quietClock: Clock = clockWith((timer) => {
  timer.unref()
})
