import { beginAbort, endAbort, settleKey } from '../aborts.ts'
import { advance, agentSetup } from '../agentSetup.ts'
import type { EventOfType } from '../agentTypes.ts'
import type { SettleOutput } from '../effectTypes.ts'
import { enqueuePrompt, enqueueSaid, withdrawPrompt } from '../queues.ts'
import { replyKey } from '../runs.ts'
import { beginEnding } from './stopped.ts'

type Done = { readonly output: SettleOutput }

const saidTooLate = advance<EventOfType<'steer' | 'followUp'>>(enqueueSaid)

/** State after an abort, when everything in flight has been told to stop and its results are put in order. */
export const settling = agentSetup.createStateConfig({
  description: 'After an abort, what is in flight comes to its end.',
  entry: advance(beginAbort),
  invoke: {
    src: 'settle',
    id: 'settle',
    input: ({ context }) => ({
      agentId: context.agentId,
      key: settleKey(context),
      replyKey: context.run === null ? null : replyKey(context),
    }),
    onDone: [
      { guard: 'isStaleSettle' },
      {
        target: 'idle',
        description: 'settled',
        actions: advance<Done>((draft, { output }) => endAbort(draft, output)),
      },
    ],
    onError: { target: 'idle', description: 'settled', actions: advance((draft) => endAbort(draft)) },
  },
  on: {
    abort: {},
    withdraw: { actions: advance<EventOfType<'withdraw'>>(withdrawPrompt) },
    prompt: { actions: advance<EventOfType<'prompt'>>(enqueuePrompt) },
    steer: { actions: saidTooLate },
    followUp: { actions: saidTooLate },
    stop: { actions: beginEnding },
    close: { actions: beginEnding },
  },
})
