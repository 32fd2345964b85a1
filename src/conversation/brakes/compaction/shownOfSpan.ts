import type { NodeId } from '../../../protocol/ids.ts'
import type { Conversation } from '../../tree/conversation.ts'
import { noteStep, type HiddenSpan } from '../hiddenSpan.ts'
import { maskOf } from '../../request/maskedResults.ts'
import type { ConversationNode } from '../../tree/node.ts'
import type { CompactionPlan } from './planCompaction.ts'
import { memoOf } from '../prune/pruneNotes.ts'

/**
 * Returns the nodes of a span that a summary has to cover, as the model saw them. Nodes that stay whole beside the summary are left out, except
 * messages of people, and so are nodes covered by the previous summary. Hidden steps are replaced by their part of the memo. Masked results stay
 * masked, so that removed content does not fill the prompt for the summary. Pure.
 */
export function shownOfSpan(conversation: Conversation, { span, kept }: CompactionPlan): ConversationNode[] {
  const { overlay, annotations } = conversation
  const whole = new Set(kept)
  const isSummarised = ({ id }: ConversationNode): boolean =>
    overlay !== undefined && id >= overlay.from && id <= overlay.to
  const hidden = new Map<HiddenSpan, NodeId[]>()
  for (const node of span) {
    const by = node.id === node.stepId && !isSummarised(node) ? annotations?.hiddenBy(node.id) : undefined
    if (by !== undefined) hidden.set(by, [...(hidden.get(by) ?? []), node.id])
  }
  return span.flatMap((node): ConversationNode | [] => {
    const { id, stepId, message } = node
    if (isSummarised(node)) return overlay!.kept.includes(id) && !whole.has(id) ? node : []
    if (whole.has(id)) return message.role === 'user' ? node : []
    const by = annotations?.hiddenBy(stepId)
    if (by === undefined) return annotations?.masked.has(stepId) === true ? withMask(node) : node
    const steps = hidden.get(by)!
    // The memo of a prune stands before the span if its first step does.
    const isShownHere = by.fold !== undefined || noteStep(by, conversation) === steps[0]
    const memo = id === steps[0] && isShownHere ? memoOf(by, steps, conversation) : undefined
    if (memo === undefined || message.role !== 'assistant') return []
    return { ...node, message: { ...message, content: [{ type: 'text', text: `(hidden steps) ${memo}` }] } }
  })
}

function withMask(node: ConversationNode): ConversationNode {
  const message = maskOf(node, false)
  return message === undefined ? node : { ...node, message }
}
