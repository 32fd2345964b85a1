import { callsSettled, heldCalls, isCalling, pausedCalls, recoverCalls, sealCalls, startable } from './calls.ts'
import { cancelCompaction } from './compaction.ts'
import type { AgentContext, AgentInput } from './agentTypes.ts'
import type { Draft } from './draft.ts'
import { endRun, pauseRun, remainingLimits } from './runs.ts'

/**
 * Brings in order what a process that died in the middle of a run left behind. A run whose calls only wait for people waits on, as
 * it is. Any other is paused, so that `resume` goes on: the model is asked again, calls that may run again do, and the others are
 * answered as interrupted.
 */
export function recoverRun(draft: Draft, restored: NonNullable<AgentInput['restored']>): void {
  const { run, isCompacting } = draft.context
  // A run that a failing store had paused may have left calls open as well.
  if (run === null) recoverOpenCalls(draft, restored)
  else if (run.unsaid > 0) forgetRun(draft)
  else {
    if (isCompacting) cancelCompaction(draft, 'the process was interrupted')
    recoverOpenCalls(draft, restored)
    if (waitsForPeople(draft.context)) waitOn(draft)
    else interruptRun(draft)
  }
  if (restored.staysPaused === true && draft.context.pause === null && isAnythingWaiting(draft.context))
    draft.set({ pause: { type: 'interrupted' } })
}

/**
 * A run whose beginning is not all in the log never began: nobody was told of it. What it was to say still waits in a queue, or
 * comes again from whoever was not answered.
 */
function forgetRun(draft: Draft): void {
  endRun(draft, 'aborted')
  draft.set({ owesReply: false })
}

function recoverOpenCalls(draft: Draft, restored: NonNullable<AgentInput['restored']>): void {
  if (draft.context.calls.length === 0) return
  recoverCalls(draft, restored)
  if (callsSettled(draft.context)) sealCalls(draft)
}

/** Nothing is left to begin before somebody decides. What was said in the middle of the run is taken first. */
const waitsForPeople = ({ calls, steering, policy }: AgentContext): boolean =>
  heldCalls({ calls }).length > 0 &&
  !isCalling({ calls }) &&
  pausedCalls({ calls }).length === 0 &&
  startable(calls, policy.toolExecution).length === 0 &&
  steering.length === 0

function waitOn(draft: Draft): void {
  const { task, run } = draft.context
  draft.set({
    pause: { type: 'approvals', callIds: heldCalls(draft.context) },
    // The call of a sub-agent waits for the run there is.
    task: task === null ? null : run!.requestId,
  })
}

function interruptRun(draft: Draft): void {
  const { run, now } = draft.context
  const left = remainingLimits(run!, now)
  pauseRun(draft, { type: 'interrupted' })
  draft.set({ pausedLimits: left })
}

/** Something that would begin by itself. */
const isAnythingWaiting = ({ prompts, reverts, prunes }: AgentContext): boolean =>
  prompts.length > 0 || (reverts?.length ?? 0) > 0 || (prunes?.length ?? 0) > 0
