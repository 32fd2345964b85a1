import type { EventOfType } from './agentTypes.ts'
import { callSlot } from './callFacts.ts'
import { advanceCalls } from './calls.ts'
import type { Draft } from './draft.ts'
import { endSleep } from './sleepEnds.ts'

/** Puts a running call to sleep, because its tool has nothing more to do for now. */
export function beginSleep(draft: Draft, { key, until, goesOn }: EventOfType<'sleep'>): void {
  const index = draft.context.calls.findIndex((call) => call.status === 'running' && call.key === key)
  if (index < 0) return
  const { callId } = draft.callAt(index)
  const more = goesOn === undefined ? {} : { goesOn }
  draft.record({ type: 'timer.set', ...draft.at, callId, key, due: until, ...more })
  draft.children.push({ type: 'stop', id: callSlot(index) })
  advanceCalls(draft)
}

/** Wakes sleeping calls whose time has come. */
export function wakeCalls(draft: Draft, { keys }: EventOfType<'timer'>): void {
  for (const key of keys) {
    const index = draft.context.calls.findIndex((call) => call.status === 'sleeping' && call.key === key)
    if (index >= 0) endSleep(draft, index)
  }
  advanceCalls(draft)
}
