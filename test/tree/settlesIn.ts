import type { SimulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'

/** Tells if a promise settles within ten simulated seconds. Never rejects. */
export async function settlesIn(clock: SimulatedClock, work: Promise<unknown>): Promise<boolean> {
  const state = { isSettled: false }
  const settle = (): void => {
    state.isSettled = true
  }
  work.then(settle, settle)
  for (let left = 100; !state.isSettled && left > 0; left -= 1) await clock.advance(100)
  return state.isSettled
}
