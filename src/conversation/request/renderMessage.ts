import type { Block, Message, ToolResultMessage, ProviderBlock } from '../../protocol/messages.ts'
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

/** Replacement for a reply if nothing else of it can be sent. */
const cutOff: Block = { type: 'text', text: '(this reply was cut off)' }

/**
 * Returns the provider's own calls that have no result, in a reply or in `next`, which continues it. Providers refuse a request with such a call. A
 * call that waits for one of ours, such as code that calls our tools, gets its result later.
 */
export function openProviderCalls(content: readonly Block[], next: readonly Block[] = []): ReadonlySet<Block> {
  const calls = content.filter((block) => block.type === 'provider' && block.kind === 'call')
  if (calls.length === 0) return noCalls
  const answered = new Set([...content, ...next].flatMap((block) => (isResult(block) ? [callOf(block)] : [])))
  const callers = content.flatMap((block) => (block.type === 'thinking' ? [block.signature ?? ''] : []))
  return new Set(
    calls.filter((block) => {
      const id = callOf(block as ProviderBlock)
      return id !== undefined && !answered.has(id) && !callers.some((data) => data.includes(`"${id}"`))
    }),
  )
}

const noCalls: ReadonlySet<Block> = new Set()

const isResult = (block: Block): block is ProviderBlock => block.type === 'provider' && block.kind === 'result'

/** Returns the id of a call in the form of the AI SDK, the only one that we read. */
function callOf({ data }: ProviderBlock): string | undefined {
  const id: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'toolCallId') : undefined
  return typeof id === 'string' ? id : undefined
}

/** Returns a reply without the provider's calls that remain without a result because `next` follows; the same reply if it has none. */
export function closedReply(reply: RequestMessage, next: RequestMessage): RequestMessage {
  if (reply.role !== 'assistant') return reply
  const open = openProviderCalls(reply.content, next.role === 'assistant' ? next.content : [])
  if (open.size === 0) return reply
  const content = withoutLastThinking(reply.content.filter((block) => !open.has(block)))
  return { role: 'assistant', content: content.length === 0 ? [cutOff] : content }
}
