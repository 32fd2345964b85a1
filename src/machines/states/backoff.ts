import { advance, agentSetup } from '../agentSetup.ts'
import { replyKey } from '../runs.ts'
import { interruptions } from './replying.ts'

export const nextAttempt = advance((draft) => draft.setRun({ attempt: (draft.context.run?.attempt ?? 0) + 1 }))

export const backoff = agentSetup.createStateConfig({
  invoke: {
    src: 'sleep',
    id: 'backoff',
    input: ({ context }) => ({ key: replyKey(context), until: context.run!.retryAt }),
    onDone: [{ guard: 'isStaleWake' }, { target: 'replying', actions: nextAttempt }],
    onError: { target: 'replying', actions: nextAttempt },
  },
  always: interruptions,
})
