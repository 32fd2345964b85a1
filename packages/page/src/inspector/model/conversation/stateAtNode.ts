import type { ConversationView } from '../../../../../../src/conversation/tree/conversationView.ts'
import type { ConversationNode } from '../../../../../../src/conversation/tree/node.ts'
import { difference, type StateOp } from '../../../../../../src/protocol/parts/state/patch.ts'

/** The state of the agent at a message: as it is there, and how it differs from that of the message before. */
export interface StateAtNode {
  readonly value: unknown
  readonly changed: readonly StateOp[]
}

/** Returns the state at a node; `undefined` if nothing has told of one. Pure. */
export function stateAtNode(
  { state }: Pick<ConversationView, 'state'>,
  { id, parentId }: Pick<ConversationNode, 'id' | 'parentId'>,
): StateAtNode | undefined {
  if (state === undefined) return undefined
  const value = state.at(id)
  return { value, changed: difference(state.at(parentId ?? 0), value) }
}
