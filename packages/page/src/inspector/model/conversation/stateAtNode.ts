import type { ConversationView } from '../../../../../../src/conversation/tree/conversationView.ts'
import type { ConversationNode } from '../../../../../../src/conversation/tree/node.ts'
import { difference, type StateOp } from '../../../../../../src/protocol/parts/state/patch.ts'

/** The agent's state at a message, and its difference from the state at the message before. */
export interface StateAtNode {
  readonly value: unknown
  readonly changed: readonly StateOp[]
}

/** Returns the state at a node; `undefined` if none is known. Pure. */
export function stateAtNode(
  { state }: Pick<ConversationView, 'state'>,
  { id, parentId }: Pick<ConversationNode, 'id' | 'parentId'>,
): StateAtNode | undefined {
  if (state === undefined) return undefined
  const value = state.at(id)
  return { value, changed: difference(state.at(parentId ?? 0), value) }
}
