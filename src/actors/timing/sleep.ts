import type { SleepInput } from '../../machines/effectTypes.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import { effect } from '../effect.ts'

/** Waits until a given time, absolute so that it survives a restart; ends early, without a result, if it is stopped. */
export const sleep = (clock: Clock) =>
  effect<SleepInput, SleepInput>(
    (input, cancellation) =>
      new Promise((resolve) => {
        const cancel = clock.after(Math.max(0, input.until - clock.now()), () => resolve(input))
        cancellation.add(cancel)
      }),
  )
