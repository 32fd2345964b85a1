import type { NodeId } from '../../protocol/ids.ts'
import type { Conversation } from '../tree/conversation.ts'
import type { ConversationNode } from '../tree/node.ts'
import { maskOf } from '../request/maskedResults.ts'
import { cutBy } from '../request/overlay.ts'
import { stepOf } from './prune/pruneNotes.ts'

/** Reason why a step is not shown in full. `output hidden`: its results are masked; `cut short`: some of its output is shown in part. */
export type HiddenReason = 'reverted' | 'hidden' | 'summarised' | 'output hidden' | 'cut short'

/** Returns the reason why the next request does not show all of a step, given by its nodes; `undefined` if it does. */
export function whyHidden(conversation: Conversation, nodes: readonly ConversationNode[]): HiddenReason | undefined {
  const first = nodes[0]!
  // Every revert, prune and summary keeps what people said.
  if (first.message.role === 'user') return undefined
  if (!conversation.onTrunk(first.id)) return 'reverted'
  const { overlay } = conversation
  if (overlay !== undefined && first.id >= overlay.from && first.id <= overlay.to)
    return overlay.kept.includes(first.id) ? undefined : 'summarised'
  if (conversation.annotations?.hiddenBy(first.stepId) !== undefined) return 'hidden'
  if (conversation.annotations?.masked.has(first.stepId) === true && nodes.some((node) => maskOf(node) !== undefined))
    return 'output hidden'
  if (overlay === undefined || first.id < overlay.from) return undefined
  return nodes.some((node) => cutBy(overlay, node) !== node.message) ? 'cut short' : undefined
}

/** Returns the abandoned steps whose copies the next request shows in full, each with the id of its copy. */
export function shownCopies(conversation: Conversation): ReadonlyMap<NodeId, NodeId> {
  const copies = new Map<NodeId, NodeId>()
  for (const { id, stepId, copiedFrom } of conversation.path) {
    if (copiedFrom === undefined || id !== stepId) continue
    if (whyHidden(conversation, stepOf(id, conversation).nodes) === undefined) copies.set(copiedFrom, id)
  }
  return copies
}
