import type { Block, Message, ToolResultMessage } from '../../protocol/messages.ts'
import { isMedia } from '../../protocol/text/messageText.ts'
import type { RequestMessage } from '../../protocol/ports/model.ts'
import { asCalled } from '../../protocol/viaCallTool.ts'
import { sentMedia } from './sentMedia.ts'
import { TextHash } from '../../protocol/text/textHash.ts'

/** Returns a message in the form for providers; `undefined` if nothing in it would be accepted, so it is omitted. */
export function renderMessage(message: Message): RequestMessage | undefined {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: said(message.content) }
    case 'toolResult':
      if (isSentAsItIs(message)) return message
      return {
        role: 'toolResult',
        callId: soundCallId(message.callId),
        toolName: soundName(message.via ?? message.toolName),
        content: message.content.some(isSaid) ? said(message.content) : [{ type: 'text', text: '(no output)' }],
        isError: message.isError,
      }
    case 'assistant': {
      // The thinking of an interrupted reply has no signature yet, and providers reject it without one.
      const isCutOff = message.stopReason === 'aborted'
      const kept = isCutOff ? message.content.filter(({ type }) => type === 'text') : message.content
      if (kept.filter(isSaid).every((block) => block.type === 'thinking' || (block.type !== 'text' && isMedia(block))))
        return undefined
      const content = withoutLastThinking(said(kept))
      return { role: 'assistant', content: content.some(isOddCall) ? content.map(soundCall) : content }
    }
  }
}

const sentKeys = ['role', 'callId', 'toolName', 'content', 'isError']

/** Returns a result with only the fields that are sent, in their order. */
function isSentAsItIs(message: ToolResultMessage): boolean {
  return (
    Object.keys(message).every((key, index) => key === sentKeys[index]) &&
    soundName(message.toolName) === message.toolName &&
    soundCallId(message.callId) === message.callId &&
    message.content.length > 0 &&
    said(message.content) === message.content
  )
}

/** Returns true for a block that is not blank. Providers refuse blank blocks. */
export function isSaid(block: Block): boolean {
  switch (block.type) {
    case 'text':
      return block.text.trim() !== ''
    case 'thinking':
      return block.text !== '' || block.signature !== undefined
    case 'provider':
      return block.kind !== 'source'
    default:
      return true
  }
}

/** Returns the content without blank blocks and media that providers refuse; the same array if there are none. */
function said(content: readonly Block[]): readonly Block[] {
  if (
    content.every((block) => isSaid(block) && (block.type === 'text' || !isMedia(block) || sentMedia(block) === block))
  )
    return content
  return content.filter(isSaid).map((block) => (isMedia(block) ? sentMedia(block) : block))
}

/** Removes trailing thinking, as in a reply that was cut off, because providers refuse it. Returns the same array if there is none. */
export function withoutLastThinking(content: readonly Block[]): readonly Block[] {
  const end = content.findLastIndex(({ type }) => type !== 'thinking') + 1
  return end === content.length ? content : content.slice(0, end)
}

/** Pattern of tool names that every provider accepts. A model may have made up any other name. */
export const soundName = (name: string): string =>
  /^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unknown'

/** Pattern of call ids that every provider accepts. OpenAI accepts at most 64 characters. */
export const soundCallId = (id: string): string =>
  /^[A-Za-z0-9_-]{1,64}$/.test(id)
    ? id
    : `${id.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 40)}_${new TextHash().add(id).value.replace('.', '_')}`

const isObject = (input: unknown): boolean => typeof input === 'object' && input !== null && !Array.isArray(input)

const isOddCall = (block: Block): boolean =>
  block.type === 'toolCall' &&
  (block.via !== undefined ||
    !isObject(block.input) ||
    soundName(block.name) !== block.name ||
    soundCallId(block.callId) !== block.callId)

/** Returns a call as the model made it, without names that providers reject and arguments that are not a JSON object. */
function soundCall(block: Block): Block {
  if (block.type !== 'toolCall') return block
  const { name, input } = asCalled(block)
  return {
    type: 'toolCall',
    callId: soundCallId(block.callId),
    name: soundName(name),
    input: isObject(input) ? input : { malformed: input ?? null },
  }
}
