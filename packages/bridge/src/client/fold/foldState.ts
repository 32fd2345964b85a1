import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import type { PauseReason } from '../../../../../src/protocol/records.ts'

/** Current state of an agent. */
export interface LiveState {
  /** Path of the chart's active state, such as `replying.streaming`; `closed` if the agent does not run. */
  readonly state: string
  /** Reason for the pause. */
  readonly pause: PauseReason | null
}

/**
 * Returns the state of an agent after one more of its own events. Start with its snapshot. States are only sent
 * live, so after missed events the state is approximated from the records. Pure.
 */
export function foldState(before: LiveState, event: AgentEvent): LiveState {
  switch (event.type) {
    case 'state.changed':
      return before.state === event.state ? before : { ...before, state: event.state }
    case 'run.start':
      return { state: 'replying', pause: null }
    case 'run.end':
      return event.stopReason === 'paused'
        ? { state: 'paused', pause: event.reason ?? null }
        : { state: 'idle', pause: null }
    case 'agent.stopped':
      return { state: 'stopped', pause: null }
    default:
      return before
  }
}
