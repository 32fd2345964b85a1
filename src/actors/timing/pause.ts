import type { Clock } from '../../protocol/ports/clock.ts'

/** Resolves after `ms`, or at the abort if that comes first; leaves no timer and no listener behind. */
export const pause = (ms: number, clock: Clock, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = (): void => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(ms, end)
    signal.addEventListener('abort', end)
  })
