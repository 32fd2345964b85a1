import { expectedMs, type Times } from './times.ts'

/** Progress of a run. */
export interface Progress {
  /** Counts a file that has ended; returns a text such as `12 of 629, 1:40 left`. */
  next(file: string): string
}

/** Such as `1:40`: minutes and seconds. */
export const minutes = (ms: number): string => {
  const seconds = Math.max(1, Math.round(ms / 1_000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** Least share of the work from which the rest can be estimated. */
const leastShare = 0.03

/** Counts files; estimates the time of the others by that of those that have ended, and by the table. */
export function progress(files: readonly string[], times: Times, now: () => number): Progress {
  const expected = expectedMs(times)
  const all = files.reduce((sum, file) => sum + expected(file), 0)
  const started = now()
  let ended = 0
  let done = 0
  return {
    next(file) {
      ended += 1
      done += expected(file)
      const count = `${ended} of ${files.length}`
      if (ended === files.length || done < leastShare * all) return count
      return `${count}, ${minutes(((now() - started) * (all - done)) / done)} left`
    },
  }
}
