import type { SleepInput } from '../../machines/effectTypes.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import { effect } from '../effect.ts'

/** Waits until an absolute time, which survives a restart. Ends early, without a result, if it is stopped. */
export const sleep = (clock: Clock) =>
  effect<SleepInput, SleepInput>(
    (input, cancellation) =>
      new Promise((resolve) => {
        const cancel = clock.after(Math.max(0, input.until - clock.now()), () => resolve(input))
        cancellation.add(cancel)
      }),
  )
