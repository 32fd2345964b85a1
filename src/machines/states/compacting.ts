import { messageOf } from '../../protocol/errors.ts'
import { advance, agentSetup } from '../agentSetup.ts'
import type { CompactOutput } from '../agentTypes.ts'
import { cancelCompaction, compactionKey, endCompaction } from '../compaction.ts'
import { deadlineReason, pauseRun } from '../runs.ts'
import { failRun } from './replying.ts'

type Done = { readonly output: CompactOutput }

const end = advance<Done>((draft, { output }) => endCompaction(draft, output))

export const compacting = agentSetup.createStateConfig({
  invoke: {
    src: 'compactTrunk',
    id: 'compaction',
    input: ({ context }) => ({
      agentId: context.agentId,
      key: compactionKey(context),
      force: context.compactionCause === 'overflow',
    }),
    onDone: [
      { guard: 'isStaleCompaction' },
      {
        guard: 'compactedForOverflow',
        target: 'replying',
        actions: advance<Done>((draft, { output }) => {
          endCompaction(draft, output)
          draft.setRun({ attempt: (draft.context.run?.attempt ?? 0) + 1 })
        }),
      },
      {
        guard: 'compactingForOverflow',
        target: 'idle',
        actions: advance<Done>((draft, { output }) => {
          endCompaction(draft, output)
          failRun(draft)
        }),
      },
      { target: 'draining.leaving', actions: end },
    ],
    onError: [
      {
        guard: 'compactingForOverflow',
        target: 'idle',
        actions: advance<{ readonly error: unknown }>((draft, { error }) => {
          cancelCompaction(draft, messageOf(error))
          failRun(draft)
        }),
      },
      {
        target: 'draining.leaving',
        actions: advance<{ readonly error: unknown }>((draft, { error }) => cancelCompaction(draft, messageOf(error))),
      },
    ],
  },
  always: [
    {
      guard: 'storeBroken',
      target: 'paused',
      actions: advance((draft) => {
        cancelCompaction(draft, 'the store failed')
        pauseRun(draft, { type: 'store', error: draft.context.storeError! })
      }),
    },
    {
      guard: 'deadlinePassed',
      target: 'paused',
      actions: advance((draft) => {
        cancelCompaction(draft, 'the time limit was reached')
        pauseRun(draft, deadlineReason(draft.context.run!))
      }),
    },
  ],
})
