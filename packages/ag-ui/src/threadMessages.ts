import { isRemembered } from '../../../src/protocol/remembered.ts'
import type { ContentPart, Message, PartSource } from '@ag-ui/core'
import type { ConversationView } from '../../../src/conversation/tree/conversationView.ts'
import type { ConversationNode } from '../../../src/conversation/tree/node.ts'
import type { NodeId } from '../../../src/protocol/ids.ts'
import { textOf, toolCallsOf, type Block, type MediaBlock, type PlainBlock } from '../../../src/protocol/messages.ts'
import { contextTier } from './userInput.ts'
import { replyMessageId, resultMessageId, thinkingMessageId } from './ids.ts'

/** Converts blocks to AG-UI content: a text, or parts if there are images or files. */
export function contentOf(blocks: readonly PlainBlock[]): string | ContentPart[] {
  if (blocks.every(({ type }) => type === 'text')) return textOf(blocks)
  return blocks.map((block) =>
    block.type === 'text' ? { type: 'text', text: block.text } : { type: kindOf(block), source: sourceOf(block) },
  )
}

const kindOf = ({ type, mimeType = '' }: MediaBlock): Exclude<ContentPart['type'], 'text'> =>
  type === 'image'
    ? type
    : mimeType.startsWith('audio/')
      ? 'audio'
      : mimeType.startsWith('video/')
        ? 'video'
        : 'document'

const sourceOf = (block: MediaBlock): PartSource =>
  'url' in block
    ? { type: 'url', value: block.url, ...(block.mimeType === undefined ? {} : { mimeType: block.mimeType }) }
    : { type: 'data', value: block.data, mimeType: block.mimeType }

/** Returns a call's arguments as JSON. Arguments that were not JSON stay as they came. */
export const argumentsOf = (input: unknown): string =>
  typeof input === 'string' ? input : (JSON.stringify(input) ?? '{}')

const thoughtOf = (content: readonly Block[]): string =>
  content.map((block) => (block.type === 'thinking' ? block.text : '')).join('')

/** Ids that clients gave to user messages, by node. */
export type ClientMessageIds = ReadonlyMap<NodeId, string>

/** Returns an agent's conversation as AG-UI messages: the trunk, and the step that is not sealed yet. */
export function threadMessages(
  agentId: string,
  conversation: ConversationView,
  clientIds: ClientMessageIds,
): Message[] {
  const open = conversation.log().filter(({ id }) => conversation.node(id) === undefined)
  return [...conversation.trunk(), ...open].flatMap((node) => messagesOf(agentId, node, clientIds))
}

function messagesOf(agentId: string, node: ConversationNode, clientIds: ClientMessageIds): Message[] {
  const { id: nodeId, message, turnIndex, copiedFrom } = node
  if (message.role === 'user') {
    if (isContext(node)) return []
    return [{ id: userMessageId(agentId, node, clientIds), role: 'user', content: contentOf(message.content) }]
  }
  if (message.role === 'toolResult') {
    const { callId, content, isError } = message
    return [
      {
        id: resultMessageId(agentId, turnIndex, callId),
        role: 'tool',
        toolCallId: callId,
        content: contentOf(content),
        ...(isError ? { error: textOf(content) } : {}),
      },
    ]
  }
  // Of the turn in which it was copied there is a reply already.
  const id = copiedFrom === undefined ? replyMessageId(agentId, turnIndex) : `${agentId}/n${nodeId}`
  const thought = thoughtOf(message.content)
  const text = textOf(message.content)
  const calls = toolCallsOf(message.content)
  const messages: Message[] = []
  if (thought !== '') messages.push({ id: thinkingMessageId(id), role: 'reasoning', content: thought })
  if (text === '' && calls.length === 0) return messages
  messages.push({
    id,
    role: 'assistant',
    content: text,
    ...(calls.length === 0
      ? {}
      : {
          toolCalls: calls.map(({ callId, name, input }) => ({
            id: callId,
            type: 'function' as const,
            function: { name, arguments: argumentsOf(input) },
          })),
        }),
  })
  return messages
}

/** True if a node is context from a client, which is in the conversation but is not one of the client's messages. */
function isContext({ message }: ConversationNode): boolean {
  if (message.role !== 'user') return false
  const { provenance } = message
  return (provenance?.type === 'memoryTier' && provenance.tier === contextTier) || isRemembered(provenance)
}

/** True if a node is the message of a prompt rather than context. */
export const isPrompt = (node: ConversationNode): boolean =>
  node.message.role === 'user' && node.message.source === 'prompt' && !isContext(node)

/** Returns the id of a user message: the client's own if it is known. */
export const userMessageId = (
  agentId: string,
  { id, rebasedFrom }: Pick<ConversationNode, 'id' | 'rebasedFrom'>,
  clientIds: ClientMessageIds,
): string =>
  clientIds.get(id) ?? (rebasedFrom === undefined ? undefined : clientIds.get(rebasedFrom)) ?? `${agentId}/n${id}`

/** Returns user messages that are not in the conversation yet, for `agree`. */
export const unsaid = (ids: readonly string[]): Message[] => ids.map((id) => ({ id, role: 'user', content: '' }))

/** True if a client has the thread's messages. Messages of other kinds are ignored. */
export function agree(clients: readonly Message[], ours: readonly Message[]): boolean {
  const shown = clients.filter(isShared)
  const held = ours.filter(isShared)
  return shown.length === held.length && shown.every((message, index) => isSame(message, held[index]!))
}

/**
 * True if a client with the messages `shown` ends up with those of the snapshot that it receives: it keeps what it has
 * in place and appends the rest. It also keeps its reasoning when the snapshot has none.
 */
export function comesOutRight(shown: readonly Message[], snapshot: readonly Message[]): boolean {
  if (shown.some(({ role }) => role === 'reasoning' || role === 'activity')) return false
  const kept = new Set(shown.map(({ id }) => id))
  const ids = snapshot.map(({ id }) => id)
  const known = new Set(ids)
  const first = shown.map(({ id }) => id).filter((id) => known.has(id))
  const last = ids.filter((id) => !kept.has(id))
  return [...first, ...last].every((id, index) => id === ids[index])
}

/** True if two messages are the same. A client that left during a reply has only a part of it. */
function isSame(shown: Message, held: Message): boolean {
  if (shown.id !== held.id || shown.role !== held.role) return false
  if (shown.role !== 'assistant' || held.role !== 'assistant') return true
  const [calls, ours] = [shown.toolCalls ?? [], held.toolCalls ?? []]
  return (
    (shown.content ?? '') === (held.content ?? '') &&
    calls.length === ours.length &&
    calls.every(
      (call, index) =>
        call.id === ours[index]!.id && isSameJson(call.function.arguments, ours[index]!.function.arguments),
    )
  )
}

/** True if two JSON texts are equal: arguments are as the model wrote them, or parsed and serialised again. */
function isSameJson(one: string, other: string): boolean {
  if (one === other) return true
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other))
  } catch {
    return false
  }
}

const isShared = (message: Message): boolean =>
  message.subagentRunId === undefined && ['user', 'assistant', 'tool'].includes(message.role)
