import type { ContentBlock, SessionUpdate } from '@agentclientprotocol/sdk'
import type { PlainBlock, UserMessage } from '../../protocol/messages.ts'
import { contentBlock } from './toolCallShape.ts'

type ChunkKind = Extract<SessionUpdate['sessionUpdate'], `${string}_message_chunk` | 'agent_thought_chunk'>

/** A piece of a message; those of one message have one id. */
export const chunk = (sessionUpdate: ChunkKind, messageId: string, content: ContentBlock): SessionUpdate => ({
  sessionUpdate,
  messageId,
  content,
})

export const textChunk = (kind: ChunkKind, messageId: string, text: string): SessionUpdate =>
  chunk(kind, messageId, { type: 'text', text })

/** What a person said; nothing of what the application said in a person's place, such as a memory. */
export const userUpdates = (nodeId: number, { content, provenance }: UserMessage): SessionUpdate[] =>
  provenance === undefined
    ? content.map((block: PlainBlock) => chunk('user_message_chunk', `n${nodeId}`, contentBlock(block)))
    : []
