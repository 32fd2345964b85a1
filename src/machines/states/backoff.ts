import { advance, agentSetup } from '../agentSetup.ts'
import { pauseForDeadline, pauseForStore, replyKey } from '../runs.ts'

export const backoff = agentSetup.createStateConfig({
  description: 'Waits before the model is asked again.',
  invoke: {
    src: 'sleep',
    id: 'backoff',
    input: ({ context }) => ({ key: replyKey(context), until: context.run!.retryAt }),
    onDone: [{ guard: 'isStaleWake' }, { target: 'replying', description: 'tries again' }],
    onError: { target: 'replying', description: 'tries again' },
  },
  always: [
    { guard: 'storeBroken', target: 'paused', actions: advance(pauseForStore) },
    { guard: 'answersAtDeadline', target: 'draining.leaving' },
    { guard: 'deadlinePassed', target: 'paused', actions: advance(pauseForDeadline) },
  ],
})
