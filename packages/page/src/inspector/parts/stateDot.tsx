import { isBusy } from '../model/agent/controls.ts'

const kinds: Readonly<Record<string, string>> = {
  up: 'done',
  paused: 'waiting',
  waiting: 'waiting',
  interrupted: 'waiting',
  stopped: 'ended',
  closed: 'ended',
  ended: 'ended',
  at: 'ended',
  failed: 'failed',
  rejected: 'failed',
  completed: 'done',
  aborted: 'ended',
  running: 'busy',
}

/** A mark for a state; words beside it say which. */
export const StateDot = ({ state }: { readonly state: string }) => (
  <span class={`dot ${kinds[state] ?? (isBusy(state) ? 'busy' : '')}`} aria-hidden="true" />
)
