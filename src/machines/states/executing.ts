import { messageOf } from '../../protocol/errors.ts'
import { advance, agentSetup } from '../agentSetup.ts'
import type { EventOfType } from '../agentTypes.ts'
import { advanceCalls, failCall, settleCall } from '../calls.ts'
import { failHook, settleHook } from '../checkedCalls.ts'
import { askApproval, askPeople, applyDecision } from '../decisions.ts'
import { enqueueMessage } from '../queues.ts'
import { reachedLimit } from '../limits.ts'
import { holdDeadline, pauseForStore, pauseRun } from '../runs.ts'
import { waitOf } from '../sleepEnds.ts'
import { beginSleep, wakeCalls } from '../sleeping.ts'
import { spentRun } from '../spending.ts'

type CallDone = EventOfType<'xstate.done.actor.call.0'>

export const executing = agentSetup.createStateConfig({
  description: 'Tools and sub-agents run; people decide on calls that wait for them.',
  always: [
    { guard: 'callsSettled', target: 'draining' },
    { guard: 'stalledByStore', target: 'paused', actions: advance(pauseForStore) },
    {
      guard: 'onlyHeldCalls',
      target: 'paused',
      actions: advance((draft) => {
        draft.setPause(waitOf(draft.context))
        holdDeadline(draft)
      }),
    },
    {
      guard: 'onlyPausedCalls',
      target: 'paused',
      actions: advance((draft) => pauseRun(draft, reachedLimit(spentRun(draft.context)!)!)),
    },
  ],
  on: {
    'xstate.done.actor.call.*': [
      {
        guard: 'isLastCall',
        target: 'draining',
        actions: advance<CallDone>((draft, { output }) => settleCall(draft, output)),
      },
      { actions: advance<CallDone>((draft, { output }) => settleCall(draft, output)) },
    ],
    'xstate.error.actor.call.*': {
      actions: advance<EventOfType<'xstate.error.actor.call.0'>>((draft, { actorId, error }) =>
        failCall(draft, actorId, messageOf(error)),
      ),
    },
    'xstate.done.actor.hook.*': {
      actions: advance<EventOfType<'xstate.done.actor.hook.0'>>((draft, { output }) => settleHook(draft, output)),
    },
    'xstate.error.actor.hook.*': {
      actions: advance<EventOfType<'xstate.error.actor.hook.0'>>((draft, { actorId, error }) =>
        failHook(draft, actorId, messageOf(error)),
      ),
    },
    decide: {
      actions: advance<EventOfType<'decide'>>((draft, event) => applyDecision(draft, event)),
    },
    sleep: { actions: advance<EventOfType<'sleep'>>(beginSleep) },
    timer: { actions: advance<EventOfType<'timer'>>(wakeCalls) },
    ask: { actions: advance<EventOfType<'ask'>>(askPeople) },
    'ask.approval': { actions: advance<EventOfType<'ask.approval'>>(askApproval) },
    steer: {
      actions: advance<EventOfType<'steer'>>((draft, event) => {
        enqueueMessage(draft, 'steering', event)
        advanceCalls(draft)
      }),
    },
  },
})
