import type { Block, Message } from '../protocol/messages.ts'
import type { RequestMessage } from '../protocol/model.ts'

/** A message as a provider gets it; `undefined` when it has nothing a provider would accept, so that it is left out. */
export function renderMessage(message: Message): RequestMessage | undefined {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: said(message.content) }
    case 'toolResult':
      return {
        role: 'toolResult',
        callId: message.callId,
        toolName: message.toolName,
        content: message.content.some(isSaid) ? said(message.content) : [{ type: 'text', text: '(no output)' }],
        isError: message.isError,
      }
    case 'assistant': {
      // Thinking of a reply that was cut off has no signature yet, and providers refuse it without.
      const content = message.content.filter(
        (block) => isSaid(block) && (message.stopReason !== 'aborted' || block.type === 'text'),
      )
      if (!content.some((block) => block.type === 'text' || block.type === 'toolCall')) return undefined
      return { role: 'assistant', content: content.some(hasOddInput) ? content.map(withObjectInput) : content }
    }
  }
}

const isSaid = (block: Block): boolean =>
  block.type === 'text'
    ? block.text.trim() !== ''
    : block.type !== 'thinking' || block.text !== '' || block.signature !== undefined

/** The content without blank blocks, which providers refuse; the same array when there are none. */
const said = (content: readonly Block[]): readonly Block[] => (content.every(isSaid) ? content : content.filter(isSaid))

const hasOddInput = (block: Block): boolean =>
  block.type === 'toolCall' && (typeof block.input !== 'object' || block.input === null || Array.isArray(block.input))

/** Arguments that are no JSON object cannot be sent back as they came: no provider accepts them. */
const withObjectInput = (block: Block): Block =>
  block.type === 'toolCall' && hasOddInput(block) ? { ...block, input: { malformed: block.input ?? null } } : block
