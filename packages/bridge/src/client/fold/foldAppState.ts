import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import { applyPatch, frozenState, type StateOp } from '../../../../../src/protocol/parts/state/patch.ts'

/** The application state of an agent. */
export interface AppState {
  /** The state. It is frozen. */
  readonly value: unknown
  /** `seq` of the record that last changed the state; 0 if none did. */
  readonly version: number
}

/** A change that came before the state was known. */
interface Change {
  readonly version: number
  readonly patch: readonly StateOp[]
}

/** The state so far, or the changes that wait for it. */
export interface FoldedAppState {
  readonly known: AppState | undefined
  readonly waiting: readonly Change[]
}

export const noAppState: FoldedAppState = Object.freeze({ known: undefined, waiting: Object.freeze([]) })

/** Returns the state after one more event of the agent. Pure. */
export function foldAppState(before: FoldedAppState, event: AgentEvent): FoldedAppState {
  const patch = statePatchIn(event)
  if (patch === undefined) return before
  const { known, waiting } = before
  const base =
    known ?? (event.type === 'state.patched' && 'initial' in event ? { value: event.initial, version: 0 } : undefined)
  const change = { version: event.seq, patch }
  return base === undefined ? { known, waiting: [...waiting, change] } : { known: after(base, [change]), waiting }
}

/** Returns the state once the server has sent it, with the changes that the server did not know of yet. Pure. */
export function toldAppState({ known, waiting }: FoldedAppState, told: AppState | undefined): FoldedAppState {
  if (told === undefined || (known !== undefined && known.version >= told.version))
    return { known, waiting: noAppState.waiting }
  return { known: after({ ...told, value: frozenState(told.value) }, waiting), waiting: noAppState.waiting }
}

/** Returns the change to the state that an event carries; `undefined` if it carries none. */
export function statePatchIn(event: AgentEvent): readonly StateOp[] | undefined {
  if (event.type === 'state.patched') return event.patch
  return event.type === 'revert.applied' || event.type === 'graft.applied' ? event.state?.patch : undefined
}

function after(state: AppState, changes: readonly Change[]): AppState {
  let { value, version } = state
  for (const change of changes) {
    if (change.version <= version) continue
    // One that does not fit is not of this state; the next answer of the server is.
    value = applyPatch(value, change.patch).value ?? value
    version = change.version
  }
  return Object.freeze({ value, version })
}
