import type { ConversationNode } from '../conversation/node.ts'
import { cutMiddle } from '../conversation/cutMiddle.ts'
import { providedText, type Block } from '../protocol/messages.ts'

/** A message as plain text, for a model that summarises. */
export const transcribe = ({ message }: ConversationNode): string =>
  message.role === 'toolResult'
    ? `${message.isError ? 'Error of' : 'Result of'} ${message.toolName}:\n${cutMiddle(message.content.map(describe).join('\n'), 4_000)}`
    : `${message.role === 'user' ? 'User' : 'Agent'}:\n${message.content.map(describe).filter(Boolean).join('\n')}`

function describe(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
      return `(an image, ${block.mimeType})`
    case 'thinking':
      return ''
    case 'provider':
      return `(${providedText(block)} ${cutMiddle(JSON.stringify(block.data) ?? '', 2_000)})`
    case 'toolCall':
      return `calls ${block.name} ${cutMiddle(JSON.stringify(block.input) ?? '', 2_000)}`
  }
}
