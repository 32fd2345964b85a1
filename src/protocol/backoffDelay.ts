/** How long to wait between attempts, in milliseconds. */
export interface BackoffRange {
  readonly baseMs: number
  readonly maxMs: number
}

/** Milliseconds to wait before an attempt, the first being 0: exponential, half of it at random (`jitter` from 0 to 1). */
export const backoffDelay = (attempt: number, { baseMs, maxMs }: BackoffRange, jitter: number): number =>
  Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30)) * (0.5 + jitter / 2)
