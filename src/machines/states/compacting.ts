import { messageOf } from '../../protocol/errors.ts'
import { advance, agentSetup } from '../agentSetup.ts'
import type { CompactOutput } from '../agentTypes.ts'
import { cancelCompaction, compactionKey, endCompaction } from '../compaction.ts'
import { failRun, nextAttempt, pauseForDeadline, pauseForStore } from '../runs.ts'

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
          nextAttempt(draft)
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
        pauseForStore(draft)
      }),
    },
    {
      guard: 'deadlinePassed',
      target: 'paused',
      actions: advance((draft) => {
        cancelCompaction(draft, 'the time limit was reached')
        pauseForDeadline(draft)
      }),
    },
  ],
})
