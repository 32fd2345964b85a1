import { isMedia, type Block } from '../../protocol/messages.ts'
import type { ModelRequest, RequestMessage } from '../../protocol/ports/model.ts'
import type { ConversationNode } from '../tree/node.ts'
import { closedReply, openProviderCalls, isSaid, soundCallId, withoutLastThinking } from './renderMessage.ts'
import { sentMedia } from './sentMedia.ts'

/** A reason for which some provider would refuse a request. `rule` is its number in the list of docs/errors.md. */
export interface Violation {
  readonly rule: number
  readonly message: string
}

export interface CheckContext {
  /** The request before this one in the same run: system and tools must not have changed. */
  readonly previous?: ModelRequest | undefined
  /** The trunk that the request was rendered from. Signed thinking must be in it, unmodified. */
  readonly trunk?: readonly ConversationNode[]
}

/** Checks that a request is valid for every provider: an empty list means that it is. Pure. */
export function checkRequest(request: ModelRequest, context: CheckContext = {}): Violation[] {
  return [
    ...checkEnds(request.messages),
    ...checkCalls(request.messages),
    ...checkContent(request.messages),
    ...checkThinking(request.messages, context.trunk),
    ...checkReplies(request.messages),
    ...checkMedia(request.messages),
    ...checkFrame(request, context.previous),
  ]
}

function checkEnds(messages: readonly RequestMessage[]): Violation[] {
  const first = messages[0]?.role
  const last = messages.at(-1)?.role
  const violations: Violation[] = []
  if (first !== 'user') violations.push({ rule: 1, message: `the first message is ${first ?? 'missing'}, not user` })
  if (last === 'assistant') violations.push({ rule: 4, message: 'the last message is assistant' })
  return violations
}

function checkCalls(messages: readonly RequestMessage[]): Violation[] {
  const violations: Violation[] = []
  const seen = new Set<string>()
  /** Open calls by id, each with the index of the message that made it. */
  let waiting = new Map<string, number>()
  messages.forEach((message, index) => {
    if (message.role === 'toolResult') {
      if (!waiting.delete(message.callId)) {
        violations.push({ rule: 3, message: `message ${index} answers call ${message.callId}, which is not open` })
      }
      return
    }
    for (const [callId, at] of waiting)
      violations.push({ rule: 2, message: `call ${callId} of message ${at} is not answered before message ${index}` })
    waiting = new Map()
    if (message.role === 'user' && messages[index - 1]?.role === 'user') {
      violations.push({ rule: 9, message: `messages ${index - 1} and ${index} are both user` })
    }
    for (const block of message.content) {
      if (block.type !== 'toolCall') continue
      if (seen.has(block.callId))
        violations.push({ rule: 5, message: `call id ${block.callId} of message ${index} is used twice` })
      seen.add(block.callId)
      waiting.set(block.callId, index)
    }
  })
  for (const [callId, at] of waiting)
    violations.push({ rule: 2, message: `call ${callId} of message ${at} is never answered` })
  return violations
}

function checkContent(messages: readonly RequestMessage[]): Violation[] {
  return messages.flatMap((message, index) => {
    if (message.content.length === 0) return [{ rule: 6, message: `message ${index} has no content` }]
    return message.content
      .filter((block) => block.type === 'text' && block.text.trim() === '')
      .map(() => ({ rule: 6, message: `message ${index} has an empty text block` }))
  })
}

/** Checks that each reply has text after its thinking, leaves no call of the provider open, and has ids that every provider accepts. */
function checkReplies(messages: readonly RequestMessage[]): Violation[] {
  return messages.flatMap((message, index) => {
    const violations: Violation[] = []
    const ids = message.role === 'toolResult' ? [message.callId] : []
    if (message.role === 'assistant') {
      const next = messages[index + 1]
      if (message.content.at(-1)?.type === 'thinking')
        violations.push({ rule: 10, message: `message ${index} ends with thinking` })
      // The last reply may go on.
      const open =
        next === undefined ? [] : openProviderCalls(message.content, next.role === 'assistant' ? next.content : [])
      for (const block of open)
        violations.push({
          rule: 12,
          message: `message ${index} has a call of the provider without a result: ${block.type === 'provider' ? block.name : ''}`,
        })
      for (const block of message.content) if (block.type === 'toolCall') ids.push(block.callId)
    }
    for (const id of ids)
      if (soundCallId(id) !== id)
        violations.push({ rule: 13, message: `call id ${id} of message ${index} is not 1 to 64 of A-Z a-z 0-9 _ -` })
    return violations
  })
}

/** Checks that every provider accepts the images and files. */
const checkMedia = (messages: readonly RequestMessage[]): Violation[] =>
  messages.flatMap(({ content }, index) =>
    content.flatMap((block) => {
      const sent = isMedia(block) ? sentMedia(block) : block
      if (sent === block) return []
      const why = sent.type === 'text' ? sent.text : `an image that is no ${'mimeType' in block ? block.mimeType : ''}`
      return [{ rule: 11, message: `message ${index} has media that providers refuse: ${why}` }]
    }),
  )

/** Returns a message's signed thinking and calls, in order, which providers verify together. */
const signedParts = (content: readonly Block[]): string[] =>
  content.flatMap((block) => {
    if (block.type === 'toolCall') return [`call ${soundCallId(block.callId)}`]
    return block.type === 'thinking' && block.signature !== undefined ? [JSON.stringify(block)] : []
  })

/** Returns the forms in which a reply may be sent: whole, without trailing thinking, and also without open calls of the provider. */
function sentForms(content: readonly Block[]): (readonly Block[])[] {
  const said = content.filter(isSaid)
  const tail = withoutLastThinking(said)
  const closed = closedReply({ role: 'assistant', content: tail }, { role: 'user', content: [] }).content
  return [content, tail, closed]
}

function checkThinking(
  messages: readonly RequestMessage[],
  trunk: readonly ConversationNode[] | undefined,
): Violation[] {
  if (trunk === undefined) return []
  const written = new Set<string>()
  for (const { message } of trunk) {
    if (message.role !== 'assistant') continue
    // Only the text of an interrupted reply is sent.
    if (message.stopReason === 'aborted') written.add('')
    else for (const content of sentForms(message.content)) written.add(signedParts(content).join('\n'))
  }
  return messages.flatMap((message, index) => {
    if (message.role !== 'assistant' || written.has(signedParts(message.content).join('\n'))) return []
    return [{ rule: 7, message: `signed thinking of message ${index} is not what the model wrote, or left its call` }]
  })
}

function checkFrame(request: ModelRequest, previous: ModelRequest | undefined): Violation[] {
  if (previous === undefined) return []
  const violations: Violation[] = []
  if (request.system !== previous.system)
    violations.push({ rule: 8, message: 'the system prompt changed within the run' })
  if (request.tools !== previous.tools && JSON.stringify(request.tools) !== JSON.stringify(previous.tools)) {
    violations.push({ rule: 8, message: 'the tools changed within the run' })
  }
  return violations
}
