import { advance, agentSetup } from '../agentSetup.ts'
import type { EventOfType } from '../agentTypes.ts'
import { advanceCalls, decideCall } from '../calls.ts'
import { enqueueMessage } from '../queues.ts'
import { releaseDeadline, startRun, startTurn } from '../runs.ts'
import type { Draft } from '../draft.ts'
import { beginRun } from './idle.ts'

type Resume = EventOfType<'resume'>

function resumeRun(draft: Draft, { id, limits, at }: Resume): void {
  draft.set({ storeError: null, pause: null })
  startRun(draft, { cause: 'resume', requestId: id, limits, at })
}

export const paused = agentSetup.createStateConfig({
  on: {
    decide: {
      guard: 'pausedByApprovals',
      target: 'executing',
      actions: advance<EventOfType<'decide'>>((draft, { callId, decision, reason, at }) => {
        draft.set({ pause: null })
        releaseDeadline(draft, at)
        decideCall(draft, callId, decision, reason)
      }),
    },
    steer: {
      guard: 'pausedByApprovals',
      target: 'executing',
      actions: advance<EventOfType<'steer'>>((draft, event) => {
        draft.set({ pause: null })
        releaseDeadline(draft, event.at)
        enqueueMessage(draft, 'steering', event)
        advanceCalls(draft)
      }),
    },
    prompt: { guard: 'pausedByLimit', target: 'replying', actions: beginRun },
    resume: [
      {
        guard: 'mayResumeCalls',
        target: 'executing',
        actions: advance<Resume>((draft, event) => {
          resumeRun(draft, event)
          startTurn(draft)
          advanceCalls(draft)
        }),
      },
      { guard: 'mayResumeRun', target: 'draining', actions: advance(resumeRun) },
      {
        guard: 'mayResumeIdle',
        target: 'idle',
        actions: advance((draft) => draft.set({ storeError: null, pause: null })),
      },
    ],
    abort: [
      { guard: 'pausedByApprovals', target: 'settling' },
      {
        guard: 'pausedByLimit',
        target: 'idle',
        actions: advance((draft) => draft.set({ pause: null, pausedRun: null })),
      },
    ],
  },
})
