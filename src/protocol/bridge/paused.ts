import type { Clock } from '../ports/clock.ts'

/** Resolves after `ms` milliseconds, or at once when the signal is aborted. Leaves no timer or listener behind. */
export function paused(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(ms, resolve)
  const stop = (): void => resolve()
  signal?.addEventListener('abort', stop)
  return promise.finally(() => {
    cancel()
    signal?.removeEventListener('abort', stop)
  })
}
