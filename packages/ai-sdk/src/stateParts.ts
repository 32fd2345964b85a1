import type { StateOp } from '../../../src/protocol/parts/state/patch.ts'
import type { ChatStateData } from '../../bridge/src/client/chatState.ts'
import type { AppState } from '../../bridge/src/client/fold/foldAppState.ts'

/** A part with the agent's state. Its place in the message has no meaning. */
export interface UiStatePart {
  type: 'data-state'
  id: string
  data: ChatStateData
}

/** Maximum number of changes after the whole state, and of their characters. Beyond that the part with the whole state is replaced. */
const mostPatches = 32
const mostChars = 65_536

export const wholeState = ({ version, value }: AppState): readonly UiStatePart[] => [
  { type: 'data-state', id: 'state', data: { version, value } },
]

/**
 * Returns the parts of a message after a change that led to `state`: the whole state, then changes of it. Ids of changes are used again after a
 * new whole, so that a client never has more; those that it still has are older than the whole, and count no more. Pure.
 */
export function withChange(
  parts: readonly UiStatePart[],
  state: AppState,
  patch: readonly StateOp[],
): readonly UiStatePart[] {
  const chars = JSON.stringify([...parts.slice(1).map(({ data }) => data), patch]).length
  if (parts.length === 0 || parts.length > mostPatches || chars > mostChars) return wholeState(state)
  return [...parts, { type: 'data-state', id: `state-${parts.length}`, data: { version: state.version, patch } }]
}

export const isStatePart = (part: { readonly type: string }): part is UiStatePart => part.type === 'data-state'
