import { messageOf } from '../../protocol/errors.ts'
import { advance, agentSetup } from '../agentSetup.ts'
import { abortAtRest, beginAbort, endAbort } from '../aborts.ts'
import type { EventOfType } from '../agentTypes.ts'
import { startBackground } from '../background.ts'
import { advanceCalls, cancelCalls, failCall, readyPausedCalls, settleCall } from '../calls.ts'
import { applyDecision } from '../decisions.ts'
import { dropSaid, enqueueMessage, enqueuePrompt } from '../queues.ts'
import { endUndo } from '../undoing.ts'
import { fireSchedules } from '../schedules.ts'
import { wakeCalls } from '../sleeping.ts'
import { dropResuming, pauseForStore, releaseDeadline, startRun, startTurn } from '../runs.ts'
import { beginEnding } from './stopped.ts'
import type { Draft } from '../draft.ts'

type Resume = EventOfType<'resume'>

function resumeRun(draft: Draft, { id, limits }: Resume): void {
  const { pause, pausedLimits } = draft.context
  draft.set({ storeError: null })
  startRun(draft, { cause: 'resume', requestId: id, limits: limits ?? pausedLimits ?? undefined })
  startBackground(draft)
  // It was about to answer, unless it is given more.
  if (limits === undefined && pause?.type === 'interrupted' && pause.limit !== undefined)
    draft.setRun({ answer: { limit: pause.limit, isAsked: false } })
}

/** Gives up the run that the pause ended. Without such a run, lifts the pause that held back waiting work. */
function leaveRun(draft: Draft): void {
  if (draft.context.pausedRun === null) draft.setPause(null)
  else draft.record({ type: 'run.abandoned', ...draft.at })
}

type CallDone = EventOfType<'xstate.done.actor.call.0'>
type CallFailed = EventOfType<'xstate.error.actor.call.0'>

/** Ends a wait for people, though other calls may still wait. */
function endWait(draft: Draft): void {
  draft.setPause(null)
  releaseDeadline(draft)
}

export const paused = agentSetup.createStateConfig({
  description: 'Waits for a person, for more allowance, or for its store.',
  always: [
    { guard: 'isEnding', target: 'stopped' },
    { guard: 'isTaskDone', target: 'stopped' },
  ],
  on: {
    decide: {
      guard: 'decidesHeldCall',
      target: 'executing',
      actions: advance<EventOfType<'decide'>>((draft, event) => {
        endWait(draft)
        applyDecision(draft, event)
      }),
    },
    steer: {
      guard: 'pausedByApprovals',
      target: 'executing',
      description: 'a person spoke',
      actions: advance<EventOfType<'steer'>>((draft, event) => {
        endWait(draft)
        enqueueMessage(draft, 'steering', event)
        advanceCalls(draft)
      }),
    },
    timer: {
      guard: 'wakesCall',
      target: 'executing',
      description: 'a time has come',
      actions: advance<EventOfType<'timer'>>((draft, event) => {
        endWait(draft)
        wakeCalls(draft, event)
      }),
    },
    // A tool need not wait for the answer to what it asked.
    'xstate.done.actor.call.*': [
      {
        guard: 'pausedByApprovals',
        target: 'executing',
        description: 'a call ended',
        actions: advance<CallDone>((draft, { output }) => {
          endWait(draft)
          settleCall(draft, output)
        }),
      },
      { actions: advance<CallDone>((draft, { output }) => settleCall(draft, output)) },
    ],
    'xstate.error.actor.call.*': [
      {
        guard: 'pausedByApprovals',
        target: 'executing',
        description: 'a call ended',
        actions: advance<CallFailed>((draft, { actorId, error }) => {
          endWait(draft)
          failCall(draft, actorId, messageOf(error))
        }),
      },
      { actions: advance<CallFailed>((draft, { actorId, error }) => failCall(draft, actorId, messageOf(error))) },
    ],
    prompt: {
      guard: 'mayLeaveRun',
      target: 'idle',
      actions: advance<EventOfType<'prompt'>>((draft, event) => {
        cancelCalls(draft, 'skipped')
        leaveRun(draft)
        enqueuePrompt(draft, event)
      }),
    },
    schedules: [
      {
        guard: 'scheduleLeavesRun',
        target: 'idle',
        description: 'a schedule is due',
        actions: advance<EventOfType<'schedules'>>((draft, event) => {
          cancelCalls(draft, 'skipped')
          leaveRun(draft)
          fireSchedules(draft, event)
        }),
      },
      { actions: advance<EventOfType<'schedules'>>(fireSchedules) },
    ],
    resume: [
      {
        guard: 'mayResumeCalls',
        target: 'executing',
        actions: advance<Resume>((draft, event) => {
          resumeRun(draft, event)
          startTurn(draft)
          readyPausedCalls(draft)
          advanceCalls(draft)
        }),
      },
      { guard: 'mayResumeRun', target: 'draining', actions: advance(resumeRun) },
      {
        guard: 'mayResumeIdle',
        target: 'idle',
        actions: advance((draft) => {
          draft.set({ storeError: null })
          draft.setPause(null)
          startBackground(draft)
        }),
      },
    ],
    // Approvals that wait are still there when the agent is resumed from its log.
    close: [
      { guard: 'hasChildren', actions: beginEnding },
      { target: 'stopped', actions: beginEnding },
    ],
    abort: [
      {
        guard: 'pausedByStore',
        actions: advance((draft, event) => {
          dropResuming(draft)
          beginAbort(draft, event)
          endAbort(draft)
          leaveRun(draft)
          pauseForStore(draft)
        }),
      },
      { guard: 'isRunning', target: 'settling' },
      {
        guard: 'pausedBetweenTurns',
        target: 'idle',
        actions: advance((draft, event) => {
          cancelCalls(draft, 'aborted')
          endUndo(draft, 'the run was aborted')
          dropSaid(draft)
          leaveRun(draft)
          abortAtRest(draft, event)
        }),
      },
    ],
  },
})
