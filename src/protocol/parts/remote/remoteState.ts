import type { RecordDraft } from '../../records.ts'

type DraftOf<T extends RecordDraft['type']> = Extract<RecordDraft, { readonly type: T }>

/** Tasks that agents elsewhere carry out for running calls, by the id of the call. */
export type RemoteState = { readonly [callId: string]: { readonly childId: string; readonly handle: unknown } }

/** Fold of these records, until the call has its own result. */
export const remoteState = {
  initial: {} as RemoteState,
  on: {
    'child.noted': (state: RemoteState, { callId, childId, handle }: DraftOf<'child.noted'>): RemoteState => ({
      ...state,
      [callId]: { childId, handle },
    }),
    'tool.end': (state: RemoteState, { callId }: DraftOf<'tool.end'>): RemoteState | undefined => {
      if (!Object.hasOwn(state, callId)) return state
      const { [callId]: _, ...others } = state
      return Object.keys(others).length === 0 ? undefined : others
    },
    // Calls of before are over, also those of a past that a fork shares.
    'reply.end': (): undefined => undefined,
  },
}
