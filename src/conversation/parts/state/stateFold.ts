import type { RevertOutcome } from '../../../protocol/braking.ts'
import { check, corrupt } from '../../../log/fold.ts'
import type { ConversationNode } from '../../tree/node.ts'
import type { BrakeFolds, Reshaped } from '../../tree/reshaped.ts'
import { TreeState } from './treeState.ts'

type Moved = Pick<RevertOutcome, 'state'> & { readonly seq: number }

export const stateFold: BrakeFolds<'state.patched'> = {
  'state.patched': (conversation, record) => {
    if (conversation.state === undefined && !('initial' in record))
      throw corrupt(record, 'nothing says what the state was before it')
    const state = conversation.state ?? new TreeState(record.initial)
    check(record, state.change(record, conversation.statePlace))
    conversation.state = state
  },
}

/** Reverts the state together with a revert to a node of the trunk. Called before the trunk is cut. */
export function revertState(
  conversation: Reshaped,
  { seq, state, rebased = [] }: Moved & Pick<RevertOutcome, 'rebased'>,
  target: ConversationNode,
): void {
  const place = { step: target.stepId, end: target.id, last: conversation.lastNodeId }
  conversation.state?.revert(seq, place, rebased[0]?.nodeId, state?.lost ?? [])
}

/** Repeats the state changes of copied steps. */
export function copyState(
  conversation: Reshaped,
  { seq, state, copies }: Moved & { readonly copies: Parameters<TreeState['copy']>[1] },
): void {
  conversation.state?.copy(seq, copies, state?.lost ?? [])
}
