import type { ConversationNode } from '../../../../../../src/conversation/tree/node.ts'
import type { ConversationView } from '../../../../../../src/conversation/tree/conversationView.ts'

/** Place of a message. `open`: its step lacks results, and is on the trunk once they are there. */
export type NodePlace = 'trunk' | 'open' | 'abandoned'

/** Returns the place of a message of the log. Pure. */
export function placeOf(
  conversation: Pick<ConversationView, 'trunk' | 'node'>,
  { id, depth }: Pick<ConversationNode, 'id' | 'depth'>,
): NodePlace {
  if (conversation.node(id) === undefined) return 'open'
  return conversation.trunk()[depth - 1]?.id === id ? 'trunk' : 'abandoned'
}
