/** Range of the wait between attempts, in milliseconds. */
export interface BackoffRange {
  readonly baseMs: number
  readonly maxMs: number
}

/**
 * Returns the milliseconds to wait before an attempt, counted from 0. The wait grows exponentially, and half of it is random (`jitter` from 0 to 1).
 */
export const backoffDelay = (attempt: number, { baseMs, maxMs }: BackoffRange, jitter: number): number =>
  Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30)) * (0.5 + jitter / 2)
