import type { AgentEvent } from '../../../../../../src/protocol/events.ts'

/**
 * Returns the states that a machine was in for less than a frame: those that events name, except for its current one.
 * `from`: number of the events that were looked at before. Pure.
 */
export function recentStates(events: readonly AgentEvent[], from: number, now: string): ReadonlySet<string> {
  const states = new Set<string>()
  for (let at = from; at < events.length; at++) {
    const event = events[at]!
    if (event.type === 'state.changed') states.add(event.previous).add(event.state)
  }
  states.delete(now)
  return states
}
