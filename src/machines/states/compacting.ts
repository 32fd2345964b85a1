import { messageOf } from '../../protocol/errors.ts'
import { advance, agentSetup } from '../agentSetup.ts'
import type { AgentContext } from '../agentTypes.ts'
import type { CompactOutput } from '../drainTypes.ts'
import { cancelCompaction, compactionKey, compactRequest, endCompaction, refuseCompactions } from '../compaction.ts'
import { failRun, pauseForDeadline, pauseForStore } from '../runs.ts'

type Done = { readonly output: CompactOutput }

const focusOf = (context: AgentContext): { focus?: string } => {
  const focus = compactRequest(context)?.focus
  return focus === undefined ? {} : { focus }
}

const end = advance<Done>((draft, { output }) => endCompaction(draft, output))

export const compacting = agentSetup.createStateConfig({
  description: 'The old part of the conversation is summarised.',
  invoke: {
    src: 'compactTrunk',
    id: 'compaction',
    input: ({ context }) => ({
      agentId: context.agentId,
      key: compactionKey(context),
      force: context.compactionCause !== 'headroom',
      ...focusOf(context),
    }),
    onDone: [
      { guard: 'isStaleCompaction' },
      {
        guard: 'compactedForOverflow',
        target: 'replying',
        actions: end,
      },
      {
        guard: 'compactingForOverflow',
        target: 'idle',
        actions: advance<Done>((draft, { output }) => {
          endCompaction(draft, output)
          failRun(draft)
        }),
      },
      { target: 'draining.leaving', description: 'compacted', actions: end },
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
        description: 'not compacted',
        actions: advance<{ readonly error: unknown }>((draft, { error }) => cancelCompaction(draft, messageOf(error))),
      },
    ],
  },
  // At rest there is no run to settle.
  on: {
    abort: [
      { guard: 'isRunning', target: 'settling' },
      {
        target: 'idle',
        actions: advance((draft) => {
          cancelCompaction(draft, 'aborted')
          refuseCompactions(draft, 'it was aborted')
        }),
      },
    ],
  },
  always: [
    {
      guard: 'storeBroken',
      target: 'paused',
      actions: advance((draft) => {
        cancelCompaction(draft, 'the store failed', true)
        pauseForStore(draft)
      }),
    },
    {
      guard: 'answersAtDeadline',
      target: 'draining.leaving',
      actions: advance((draft) => cancelCompaction(draft, 'the time limit was reached')),
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
