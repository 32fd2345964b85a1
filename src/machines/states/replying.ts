import { toErrorInfo } from '../../protocol/errors.ts'
import { advance, agentSetup } from '../agentSetup.ts'
import type { EventOfType } from '../agentTypes.ts'
import type { ReplyOutput } from '../effectTypes.ts'
import { openCalls } from '../calls.ts'
import { startCompaction } from '../compaction.ts'
import {
  guardInput,
  addReply,
  askForRepair,
  askWithout,
  discardReply,
  failRun,
  failuresOf,
  pauseForBudget,
  pauseForDeadline,
  pauseForStore,
  pauseRun,
  replaceReply,
  replyKey,
  resetReply,
  retryTime,
} from '../runs.ts'
import { budgetLeft, limitAfter } from '../limits.ts'
import { refuseRun } from '../guards/refusals.ts'

type Done = { readonly output: ReplyOutput }
type Replied = { readonly output: Extract<ReplyOutput, { ok: true }> }
type Failed = { readonly output: Extract<ReplyOutput, { ok: false }> }

const outOfTime = 'The time limit was reached while the model answered.'

export const replying = agentSetup.createStateConfig({
  description: 'The model answers.',
  initial: 'requesting',
  invoke: {
    src: 'streamReply',
    id: 'reply',
    input: ({ context }) => ({
      agentId: context.agentId,
      key: replyKey(context),
      runId: context.run!.runId,
      turnIndex: context.turns - 1,
      attempt: context.run!.attempt,
      ...(context.run!.badAnswers > 0 ? { acceptsEmpty: true } : {}),
      ...budgetLeft(context),
      ...guardInput(context),
    }),
    onDone: [
      { guard: 'isStaleReply' },
      {
        guard: 'refusedByGuard',
        target: 'idle',
        actions: advance<Done>((draft, { output }) => refuseRun(draft, output)),
      },
      {
        guard: 'repliedWithCalls',
        target: 'executing',
        actions: advance<Replied>((draft, { output }) => {
          addReply(draft, output)
          openCalls(draft, output.calls)
        }),
      },
      {
        guard: 'replied',
        target: 'draining',
        actions: advance<Replied>((draft, { output }) => addReply(draft, output)),
      },
      {
        guard: 'overBudget',
        target: 'paused',
        actions: advance<Failed>((draft, { output }) => pauseForBudget(draft, output.failure.limit ?? 'tokens')),
      },
      {
        guard: 'overflowed',
        target: 'compacting',
        actions: advance<Failed>((draft, { output }) => {
          resetReply(draft, output)
          draft.setRun({ overflowed: true })
          startCompaction(draft, 'overflow')
        }),
      },
      {
        guard: 'repairOverLimit',
        target: 'paused',
        actions: advance<Failed>((draft, { output }) => {
          const limit = limitAfter(draft.context.run!, output.failure)!
          askForRepair(draft, output)
          pauseRun(draft, limit)
        }),
      },
      {
        guard: 'leavesOut',
        target: 'replying',
        reenter: true,
        actions: advance<Failed>((draft, { output }) => askWithout(draft, output)),
      },
      {
        guard: 'mayRepair',
        target: 'replying',
        reenter: true,
        actions: advance<Failed>((draft, { output }) => askForRepair(draft, output)),
      },
      {
        guard: 'mayRetry',
        target: 'backoff',
        actions: advance<Failed>((draft, { output }) => {
          const { policy, run } = draft.context
          resetReply(draft, output, { retryAt: retryTime(policy.retry, failuresOf(run!), output) })
        }),
      },
      {
        target: 'idle',
        description: 'fails',
        actions: advance<Done>((draft, { output }) => {
          if (!output.ok) resetReply(draft, output)
          failRun(draft)
        }),
      },
    ],
    onError: {
      target: 'idle',
      description: 'fails',
      actions: advance<{ readonly error: unknown }>((draft, { error }) => {
        const failure = { kind: 'other', error: toErrorInfo(error, 'INTERNAL') } as const
        resetReply(draft, { failure })
        failRun(draft)
      }),
    },
  },
  on: {
    'reply.replaced': {
      guard: 'isCurrentReply',
      target: '.requesting',
      actions: advance<EventOfType<'reply.replaced'>>(replaceReply),
    },
  },
  always: [
    {
      guard: 'storeBroken',
      target: 'paused',
      actions: advance((draft) => {
        discardReply(draft, 'The store failed while the model answered.')
        pauseForStore(draft)
      }),
    },
    {
      guard: 'answersAtDeadline',
      target: 'draining.leaving',
      actions: advance((draft) => discardReply(draft, outOfTime)),
    },
    {
      guard: 'deadlinePassed',
      target: 'paused',
      actions: advance((draft) => {
        discardReply(draft, outOfTime)
        pauseForDeadline(draft)
      }),
    },
  ],
  states: {
    requesting: {
      on: {
        'reply.started': { guard: 'isCurrentReply', target: 'streaming' },
        'request.captured': {
          guard: 'isCurrentReply',
          actions: advance<EventOfType<'request.captured'>>((draft, { capture }) =>
            draft.record({ type: 'turn.captured', ...draft.at, ...capture }),
          ),
        },
      },
    },
    streaming: {},
  },
})
