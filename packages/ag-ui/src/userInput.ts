import type { Context, ContentPart, Message, PartSource, UserMessage } from '@ag-ui/core'
import type { ConversationView } from '../../../src/conversation/tree/conversationView.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { textOf, type PlainBlock } from '../../../src/protocol/messages.ts'
import type { ProvenanceKind } from '../../../src/protocol/provenance.ts'

/** Marks AG-UI context in the provenance of a message. */
export const contextTier = 'ag-ui'

/** A piece of context, in the shape of a prompt. */
interface ContextMessage {
  readonly content: PlainBlock[]
  readonly provenance?: ProvenanceKind
}

/** Returns new user messages: those after the last answer that the thread does not have. Earlier messages that a client sends are ignored. */
export function newMessages(
  messages: readonly Message[],
  { knows }: { knows(messageId: string): boolean },
): UserMessage[] {
  const answered = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool')
  return messages
    .slice(answered + 1)
    .filter((message): message is UserMessage => message.role === 'user' && !knows(message.id))
}

/** Converts a user message to blocks. @throws RuntimeError `INVALID_CONTENT` for anything but text, images as data or by url, and files as data */
export function blocksOf({ content }: UserMessage): PlainBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content.map(blockOf)
}

function blockOf(part: ContentPart): PlainBlock {
  if (part.type === 'text') return { type: 'text', text: part.text }
  if (part.source.type === 'data') return mediaBlock(part.type, part.source)
  if (part.type === 'image' && part.source.type === 'url')
    return {
      type: 'image',
      url: part.source.value,
      ...(part.source.mimeType == null ? {} : { mimeType: part.source.mimeType }),
    }
  const what = `A part of type "${part.type}" with a source of type "${part.source.type}" came; agents take text, images as data or by url, and files as data.`
  throw new RuntimeError('INVALID_CONTENT', what)
}

/** Converts the bytes of a part to a block. */
export const mediaBlock = (
  type: Exclude<ContentPart['type'], 'text'>,
  { value: data, mimeType }: Extract<PartSource, { type: 'data' }>,
): PlainBlock => (type === 'image' ? { type, data, mimeType } : { type: 'file', data, mimeType })

/** Returns the AG-UI context that is not in the conversation yet: clients send all of it with every run. */
export function newContext(context: readonly Context[], conversation: ConversationView): ContextMessage[] {
  const held = new Map<string, string>()
  for (const { message } of conversation.trunk()) {
    if (message.role !== 'user' || message.provenance?.type !== 'memoryTier') continue
    const { tier, recordId } = message.provenance
    if (tier === contextTier) held.set(recordId, textOf(message.content))
  }
  return context.flatMap(({ description, value }) => {
    const text = `${description}\n${value}`
    if (text.trim() === '' || held.get(description) === text) return []
    const provenance = { type: 'memoryTier', tier: contextTier, recordId: description } as const
    return [{ content: [{ type: 'text', text }], provenance }]
  })
}
