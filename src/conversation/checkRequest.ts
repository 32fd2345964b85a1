import type { Block } from '../protocol/messages.ts'
import type { ModelRequest, RequestMessage } from '../protocol/model.ts'
import type { ConversationNode } from './node.ts'

/** A reason why some provider would refuse a request; `rule` is its number in the guide's list of nine. */
export interface Violation {
  readonly rule: number
  readonly message: string
}

export interface CheckContext {
  /** The request before this one in the same run: system and tools must not have changed. */
  readonly previous?: ModelRequest | undefined
  /** The trunk the request was rendered from: signed thinking must be in it, unmodified. */
  readonly trunk?: readonly ConversationNode[]
}

/** Checks that a request is valid for every provider: an empty list means that it is. Pure. */
export function checkRequest(request: ModelRequest, context: CheckContext = {}): Violation[] {
  return [
    ...checkEnds(request.messages),
    ...checkCalls(request.messages),
    ...checkContent(request.messages),
    ...checkThinking(request.messages, context.trunk),
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
  /** Open calls, and the messages that made them. */
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

/** A message's signed thinking and calls, in order, which providers verify together. */
const signedParts = (content: readonly Block[]): string[] =>
  content.flatMap((block) => {
    if (block.type === 'toolCall') return [`call ${block.callId}`]
    return block.type === 'thinking' && block.signature !== undefined ? [JSON.stringify(block)] : []
  })

function checkThinking(
  messages: readonly RequestMessage[],
  trunk: readonly ConversationNode[] | undefined,
): Violation[] {
  if (trunk === undefined) return []
  const written = new Set<string>()
  for (const { message } of trunk) {
    if (message.role !== 'assistant') continue
    // Only the text of an interrupted reply is sent.
    written.add(message.stopReason === 'aborted' ? '' : signedParts(message.content).join('\n'))
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
