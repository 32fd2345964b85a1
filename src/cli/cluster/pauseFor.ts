import type { Clock } from '../../protocol/clock.ts'

/** Resolves after so many milliseconds, or once the signal aborts. */
export function pauseFor(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const cancel = clock.after(ms, end)
    signal.addEventListener('abort', end, { once: true })
    function end(): void {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
  })
}
