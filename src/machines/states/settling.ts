import { advance, agentSetup } from '../agentSetup.ts'
import type { SettleOutput } from '../agentTypes.ts'
import { cancelCalls, sealCalls } from '../calls.ts'
import type { Draft } from '../draft.ts'
import { dropQueues } from '../queues.ts'
import { addPartialReply, endRun, replyKey } from '../runs.ts'

function endAborted(draft: Draft, partial: SettleOutput['partial']): void {
  addPartialReply(draft, partial)
  cancelCalls(draft, 'aborted')
  sealCalls(draft)
  dropQueues(draft, ['steering', 'followUps'])
  endRun(draft, 'aborted')
  draft.set({ pause: null, owesReply: false })
}

/** After an abort: everything in flight has been told to stop; what it leaves behind is brought in order. */
export const settling = agentSetup.createStateConfig({
  invoke: {
    src: 'settle',
    id: 'settle',
    input: ({ context }) => ({ agentId: context.agentId, key: context.run === null ? null : replyKey(context) }),
    onDone: {
      target: 'idle',
      actions: advance<{ readonly output: SettleOutput }>((draft, { output }) => endAborted(draft, output.partial)),
    },
    onError: { target: 'idle', actions: advance((draft) => endAborted(draft, null)) },
  },
})
