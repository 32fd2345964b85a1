import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { ConversationView } from '../../../src/conversation/tree/conversationView.ts'
import type { ConversationNode } from '../../../src/conversation/tree/node.ts'
import { toolCallsOf, type AssistantMessage } from '../../../src/protocol/messages.ts'
import type { Tag } from '../../../src/protocol/braking.ts'
import { brakeNotes, revertNote, textChunk, userUpdates } from './sessionUpdates.ts'
import { callUpdate, outcomeUpdate } from './toolCallShape.ts'

/** A past conversation, for a client that did not follow it. */
export interface Past {
  readonly updates: readonly SessionUpdate[]
  /** Ids of the conversation's calls that have not ended. */
  readonly openCalls: readonly string[]
}

/**
 * Returns a conversation as a client would have seen it live: everything in order, abandoned parts too, with each
 * revert where it happened. Pure.
 */
export function pastUpdates(conversation: Pick<ConversationView, 'log'>): Past {
  const nodes = conversation.log()
  const reverts = revertsByLast(nodes)
  const open = new Set<string>()
  const updates: SessionUpdate[] = []
  for (const [index, node] of nodes.entries()) {
    const { id, message, rebasedFrom, copiedFrom } = node
    if (copiedFrom !== undefined) {
      const before = nodes[index - 1]?.copiedFrom
      if (before === undefined)
        updates.push(brakeNotes['graft.applied']({ id: `n${id}`, copies: copiesFrom(nodes, index) }))
      for (const { target, tag } of reverts.get(id) ?? []) updates.push(revertNote(target, tag))
      continue
    }
    if (message.role === 'user' && rebasedFrom === undefined) updates.push(...userUpdates(id, message))
    if (message.role === 'assistant') {
      updates.push(...replyUpdates(id, message))
      for (const { callId } of toolCallsOf(message.content)) open.add(callId)
    }
    if (message.role === 'toolResult') {
      updates.push(outcomeUpdate(message.callId, message))
      open.delete(message.callId)
    }
    for (const { target, tag } of reverts.get(id) ?? []) updates.push(revertNote(target, tag))
  }
  return { updates, openCalls: [...open] }
}

/** Returns the copies that begin with this node. Two consecutive grafts count as one. */
function copiesFrom(nodes: readonly ConversationNode[], index: number): { nodeId: number; from: number }[] {
  const copies: { nodeId: number; from: number }[] = []
  for (const { id, copiedFrom } of nodes.slice(index)) {
    if (copiedFrom === undefined) break
    copies.push({ nodeId: id, from: copiedFrom })
  }
  return copies
}

function replyUpdates(nodeId: number, { content }: AssistantMessage): SessionUpdate[] {
  return content.flatMap((block): SessionUpdate[] => {
    if (block.type === 'text') return [textChunk('agent_message_chunk', `n${nodeId}`, block.text)]
    if (block.type === 'thinking') return [textChunk('agent_thought_chunk', `n${nodeId}`, block.text)]
    if (block.type === 'toolCall') return [callUpdate({ ...block, toolCallId: block.callId })]
    return []
  })
}

/** Returns the reverts by the last node that each one took off the trunk. */
function revertsByLast(nodes: readonly ConversationNode[]): Map<number, { target: number; tag: Tag }[]> {
  const reverts = new Map<number, { target: number; tag: Tag }[]>()
  for (const { id: target, tags } of nodes) {
    for (const tag of tags) {
      const last = Math.max(target, ...tag.abandoned)
      reverts.set(last, [...(reverts.get(last) ?? []), { target, tag }])
    }
  }
  return reverts
}
