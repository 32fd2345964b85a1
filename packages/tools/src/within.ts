import type { Clock } from '../../../src/protocol/ports/clock.ts'

/** Waits for a promise to settle, or for the time to pass. Never rejects. */
export const within = (clock: Clock, ms: number, promise?: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    const cancel = clock.after(ms, resolve)
    const settle = (): void => {
      cancel()
      resolve()
    }
    promise?.then(settle, settle)
  })
