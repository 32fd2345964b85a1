import { applyPatch, type StateOp } from '../../../../src/protocol/parts/state/patch.ts'

/** Data of a part `data-state`: the whole state, or a patch to the whole state in the same message. */
export type ChatStateData<State = unknown> =
  | { readonly version: number; readonly value: State }
  | { readonly version: number; readonly patch: readonly StateOp[] }

/** A chat message, with only the fields that are read here. */
interface Message {
  readonly parts: readonly { readonly type: string; readonly data?: unknown }[]
}

/**
 * Returns the newest state in the messages of `useChat`, with its version; `undefined` until a message has one. Pure.
 *
 * @example
 * ```ts
 * import { chatState } from 'escapement/client'
 *
 * const part = { type: 'data-state', id: 'state', data: { version: 4, value: { title: 'Move house' } } }
 * const state = chatState<{ title: string }>([{ parts: [part] }])
 * console.log(state?.value.title) // Move house
 * ```
 */
export function chatState<State = unknown>(
  messages: readonly Message[],
): { readonly value: State; readonly version: number } | undefined {
  for (const { parts } of messages.toReversed()) {
    const told = parts.filter(({ type }) => type === 'data-state').map(({ data }) => data as ChatStateData<State>)
    const whole = told.find((data) => 'value' in data)
    if (whole === undefined) continue
    const later = told.filter((data) => 'patch' in data).filter(({ version }) => version > whole.version)
    return later
      .toSorted((one, other) => one.version - other.version)
      .reduce((state, { version, patch }) => {
        // One that does not fit is not of this state.
        const { value = state.value } = applyPatch(state.value, patch)
        return { value: value as State, version }
      }, whole)
  }
  return undefined
}
