import type { RetryOptions } from './connectOptions.ts'

/** Milliseconds to wait before an attempt, the first being 0: exponential, half of it at random (`jitter` from 0 to 1). */
export const backoff = (attempt: number, { baseMs, maxMs }: Required<RetryOptions>, jitter: number): number =>
  Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30)) * (0.5 + jitter / 2)
