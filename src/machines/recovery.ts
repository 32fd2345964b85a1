import { callsSettled, recoverCalls, sealCalls } from './calls.ts'
import { cancelCompaction } from './compaction.ts'
import type { AgentInput } from './agentTypes.ts'
import type { Draft } from './draft.ts'
import { endRun, pauseRun, remainingLimits } from './runs.ts'

/**
 * Brings in order what a process that died in the middle of a run left behind, and pauses the run, so that `resume` goes on: the
 * model is asked again, calls that may run again do, and the others are answered as interrupted.
 */
export function recoverRun(draft: Draft, restored: NonNullable<AgentInput['restored']>): void {
  const { run, now, isCompacting } = draft.context
  // A run that a failing store had paused may have left calls open as well.
  if (run === null) return recoverOpenCalls(draft, restored)
  if (run.unsaid > 0) return forgetRun(draft)
  if (isCompacting) cancelCompaction(draft, 'the process was interrupted')
  recoverOpenCalls(draft, restored)
  const left = remainingLimits(run, now)
  pauseRun(draft, { type: 'interrupted' })
  draft.set({ pausedLimits: left })
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
