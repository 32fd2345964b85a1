import { brakeQueues } from '../protocol/brakes/brakeTable.ts'
import { recoverBackground } from './background.ts'
import { heldCalls, isCalling, pausedCalls, recoverCalls, startable } from './calls.ts'
import { cancelCompaction } from './compaction.ts'
import type { AgentContext, AgentInput } from './agentTypes.ts'
import type { Draft } from './draft.ts'
import { cancelConsultation } from './policies.ts'
import { mayAnswer, reachedLimit, remainingLimits } from './limits.ts'
import { waitOf } from './sleepEnds.ts'
import { goOnUndoing } from './undoing.ts'
import { endForeign } from './foreign.ts'
import { endRefused } from './guards/refusals.ts'
import { endRun, pauseRun } from './runs.ts'

/**
 * Cleans up after a process that died in the middle of a run. A run whose calls only wait for people keeps waiting. Any other is paused, so that
 * `resume` continues it: the model is asked again, calls that may run again do, and the others are answered as interrupted.
 */
export function recoverRun(draft: Draft, restored: NonNullable<AgentInput['restored']>): void {
  if (restored.isForeign === true) return endForeign(draft)
  const { run, isCompacting, consulting } = draft.context
  // A crash came between the last call and the record of the end.
  goOnUndoing(draft)
  // One that a person asked for is tried again.
  if (isCompacting) cancelCompaction(draft, 'the process was interrupted')
  if (consulting !== null) cancelConsultation(draft, 'the process was interrupted', true)
  // A run paused by a failing store may have left calls open too.
  if (run === null) recoverCalls(draft, restored)
  else if (run.unsaid > 0) forgetRun(draft)
  else if (run.refusal !== undefined) endRefused(draft)
  else {
    recoverCalls(draft, restored)
    if (waitsForPeople(draft.context)) waitOn(draft)
    else interruptRun(draft)
  }
  recoverBackground(draft, restored)
  if (restored.staysPaused === true && draft.context.pause === null && isAnythingWaiting(draft.context))
    draft.setPause({ type: 'interrupted' })
}

/**
 * Ends a run whose start is not completely in the log. Such a run was never announced. Its message is still in a
 * queue, or will be sent again by a client that got no answer.
 */
const forgetRun = (draft: Draft): void => endRun(draft, 'aborted')

/** True if only decisions of people can start anything more. Messages sent into the run are delivered first. */
const waitsForPeople = ({ calls, steering, policy }: AgentContext): boolean =>
  heldCalls({ calls }).length > 0 &&
  !isCalling({ calls }) &&
  pausedCalls({ calls }).length === 0 &&
  startable(calls, policy.toolExecution).length === 0 &&
  steering.length === 0

function waitOn(draft: Draft): void {
  const { task, run } = draft.context
  draft.setPause(waitOf(draft.context))
  // A sub-agent's call waits for the current run.
  if (task !== null) draft.set({ task: run!.requestId })
}

function interruptRun(draft: Draft): void {
  const { run, now } = draft.context
  const left = remainingLimits(run!, now)
  const limit = run!.answer?.limit ?? (mayAnswer(run!) ? reachedLimit(run!) : undefined)
  const reason = limit === undefined ? ({ type: 'interrupted' } as const) : ({ type: 'interrupted', limit } as const)
  pauseRun(draft, reason, Object.keys(left).length === 0 ? {} : { left })
}

/** Returns true if something would start automatically. */
const isAnythingWaiting = ({
  prompts,
  reporters,
  undoing,
  compactRequests,
  policyRequests,
  ...context
}: AgentContext): boolean =>
  prompts.length > 0 ||
  reporters.length > 0 ||
  undoing !== null ||
  compactRequests.length > 0 ||
  (policyRequests?.length ?? 0) > 0 ||
  brakeQueues.some((queue) => context[queue].length > 0)
