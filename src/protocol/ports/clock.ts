/** The time port. Every timestamp, timer and timeout of the runtime uses it. All values are in milliseconds. */
export interface Clock {
  /** Time in milliseconds since the Unix epoch. */
  now(): number
  /**
   * Calls `callback` once, after `ms`. Returns a function that cancels it; calling that late or twice is safe. `quiet`: the timer need not keep an
   * otherwise idle process alive.
   */
  after(ms: number, callback: () => void, options?: { readonly quiet?: boolean }): () => void
}

/** Maximum delay of a Node timer; a longer one fires at once. */
const longestTimer = 2 ** 31 - 1

const clockWith = (isQuiet: boolean): Clock => ({
  now: () => Date.now(),
  after(ms, callback, { quiet = isQuiet } = {}) {
    let timer: ReturnType<typeof setTimeout>
    const arm = (left: number): void => {
      timer = setTimeout(
        () => (left > longestTimer ? arm(left - longestTimer) : callback()),
        Math.min(left, longestTimer),
      )
      // A browser's is a number.
      if (quiet && typeof timer === 'object') timer.unref()
    }
    arm(ms)
    return () => clearTimeout(timer)
  },
})

/** The system's clock. */
export const systemClock: Clock = clockWith(false)

/** The system's clock for optional work: its timers do not keep an otherwise idle process alive. */
export const quietClock: Clock = clockWith(true)
