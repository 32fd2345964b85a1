import { fromPromise } from 'xstate'
import type { SleepInput } from '../machines/agentTypes.ts'
import type { Clock } from '../protocol/clock.ts'

/** Waits until a moment, given absolutely so that it survives a restart; ends early, without a result, when it is stopped. */
export const sleep = (clock: Clock) =>
  fromPromise<SleepInput, SleepInput>(
    ({ input, signal }) =>
      new Promise((resolve) => {
        const cancel = clock.after(Math.max(0, input.until - clock.now()), () => resolve(input))
        signal.addEventListener('abort', cancel, { once: true })
      }),
  )
