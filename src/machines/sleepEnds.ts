import { timeWords } from '../protocol/parts/schedules/timesWords.ts'
import type { AgentContext, CallState, LivePause } from './agentTypes.ts'
import { endCall, synthesize } from './callEnds.ts'
import { waitsForPeople } from './callFacts.ts'
import type { Draft } from './draft.ts'

/** Ends the sleep of a call, which gets its result or runs again. */
export function endSleep(draft: Draft, index: number, early?: 'steering'): void {
  const { callId, key, until = 0, goesOn } = draft.callAt(index)
  if (goesOn === true && early === undefined)
    return draft.record({ type: 'timer.fired', ...draft.at, callId, key, due: until, again: true })
  const why = early === undefined ? {} : { early }
  draft.record({ type: 'timer.fired', ...draft.at, callId, key, due: until, ...why })
  if (goesOn === true) return synthesize(draft, index, 'skipped')
  const time = timeWords(draft.context.now)
  const text =
    early === undefined
      ? `It is ${time} now.`
      : `Woken early, at ${time}, by a message: the sleep was to last until ${timeWords(until)}.`
  endCall(draft, index, { content: [{ type: 'text', text }], isError: false })
}

type Calling = Pick<AgentContext, 'calls'>

/** Returns true for a call that waits for a time. */
export const isSleeping = ({ status }: Pick<CallState, 'status'>): boolean => status === 'sleeping'

/** Returns the sleeping calls, each with the end of its sleep. */
export const sleepers = ({ calls }: Calling): (CallState & { readonly until: number })[] =>
  calls.flatMap((call) => (isSleeping(call) && call.until !== undefined ? [{ ...call, until: call.until }] : []))

/** Returns the reason for a pause in which calls wait: for people or else for a time. */
export function waitOf(context: Calling): LivePause {
  const asked = context.calls.filter((call) => waitsForPeople(call) && !isSleeping(call))
  return asked.length > 0
    ? { type: 'approvals', callIds: asked.map(({ callId }) => callId) }
    : { type: 'timer', until: Math.min(...sleepers(context).map(({ until }) => until)) }
}
