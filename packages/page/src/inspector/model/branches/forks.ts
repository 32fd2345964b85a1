import type { ConversationView } from '../../../../../../src/conversation/tree/conversationView.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'

/** The part of a conversation that a fork at a node shares. */
export interface Shared {
  readonly messages: number
  readonly turns: number
  /** Last message of the shared part: a step is shared whole, its results included. */
  readonly last: NodeId
}

/** Returns the part that a fork at a node would share; the node may be on the trunk or abandoned. Pure. */
export function sharedBy(conversation: ConversationView, id: NodeId): Shared {
  const node = conversation.node(id)
  if (node === undefined) return { messages: 0, turns: 0, last: id }
  let last = node
  for (const other of conversation.log()) if (other.stepId === node.stepId && other.depth > last.depth) last = other
  return { messages: last.depth, turns: last.turnIndex + (last.message.role === 'user' ? 0 : 1), last: last.id }
}
