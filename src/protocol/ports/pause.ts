import type { Clock } from './clock.ts'

/** Resolves after `ms` milliseconds, or on abort if that comes first. Leaves no timer or listener behind. */
export const pause = (ms: number, clock: Clock, signal?: AbortSignal): Promise<void> =>
  within(clock, ms, undefined, signal)

/** Waits until a promise settles, at most `ms` milliseconds, and not past the abort. Never rejects, and leaves no timer or listener behind. */
export const within = (clock: Clock, ms: number, promise?: Promise<unknown>, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const end = (): void => {
      cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(ms, end)
    signal?.addEventListener('abort', end)
    promise?.then(end, end)
  })
