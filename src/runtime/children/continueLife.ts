import type { OpenInput } from '../../machines/supervisorTypes.ts'
import { isWait } from '../../protocol/runs/waits.ts'
import { lastSaid } from '../events/runs.ts'
import { usedBy, type Life } from './child.ts'
import { answerOf, limitsWithin, usedUp, type ChildAnswer } from './childAnswer.ts'
import { nextRun } from './continued.ts'

/** Continues a run that was interrupted or had reached a limit, or returns the answer if its earlier starts have used up the limits. */
export function continueLife(input: OpenInput, life: Life): ChildAnswer | undefined {
  const { host, run, limits } = life
  const { pause, pausedLimits } = host.machine.context
  if (pause === null) return undefined
  if (isWait(pause)) {
    // It waits in the run it had.
    if (run !== undefined) host.runs.join(run)
    return undefined
  }
  const reason = limits === undefined ? undefined : usedUp(usedBy(life), limits)
  if (reason !== undefined) {
    host.machine.send({ type: 'abort' })
    return answerOf({ stopReason: 'paused', text: lastSaid(host.view.conversation).text, reason }, host.view.definition)
  }
  const left = limits === undefined ? undefined : limitsWithin(pausedLimits ?? {}, limits)
  const next = run ?? host.runs.await(nextRun(input, host))
  if (pause.type === 'interrupted') host.runs.continue(next, left)
  else void host.runs.resume(next, left)
  return undefined
}
