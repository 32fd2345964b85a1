import { isRemembered } from '../../../../../src/protocol/remembered.ts'
import type { AgentEvent, EventOf } from '../../../../../src/protocol/events.ts'
import { isImported } from '../../../../../src/protocol/text/nodeIds.ts'
import type { Block } from '../../../../../src/protocol/messages.ts'
import { textOf, toolCallsOf } from '../../../../../src/protocol/text/messageText.ts'
import { withheldText } from '../../../../../src/protocol/text/withheldText.ts'
import { emptyChat, type Chat, type ChatCall, type ChatMessage, type ChatReply } from './chat.ts'
import { foldPending } from './foldPending.ts'

type Fold = { readonly [T in AgentEvent['type']]?: (chat: Chat, event: EventOf<T>) => Chat }

/**
 * Returns the chat after one more event of its agent, in order. Events of other agents change nothing, except for descendants' calls
 * and questions that wait for people. Pass the agent's records from the first on: `agent.subscribe(listener, { fromSeq: 1 })`. Pure.
 * Unchanged parts stay the same object, so a view that compares identities redraws only changed parts.
 *
 * @example
 * ```ts no-run
 * import { connect, emptyChat, foldMessages } from 'escapement/client'
 *
 * const agent = connect('http://127.0.0.1:8080').agent('support-1')
 * let chat = emptyChat(agent.id)
 * agent.subscribe((event) => (chat = foldMessages(chat, event)), { fromSeq: 1 })
 * ```
 */
export function foldMessages(chat: Chat, event: AgentEvent): Chat {
  const isOwn = event.agentId === chat.agentId
  const asked = foldPending(chat, event, { agentId: chat.agentId, childId: childOf(chat, event) })
  const before = asked === chat ? chat : { ...chat, ...asked }
  if (!isOwn) return before
  const handle = own[event.type] as ((chat: Chat, event: AgentEvent) => Chat) | undefined
  const next = handle?.(before, event) ?? before
  return event.seq > next.seq ? { ...next, seq: event.seq } : next
}

/** Returns the sub-agent that carried out the call that an event ends. */
const childOf = (chat: Chat, event: AgentEvent): string | undefined =>
  event.type === 'tool.end' && event.agentId === chat.agentId
    ? replyWith(chat, event.callId)?.calls.find(({ callId }) => callId === event.callId)?.childId
    : undefined

const own: Fold = {
  // The log from its beginning: again, if the server had lost some of it.
  'agent.created': (chat) => (chat.seq === 0 ? chat : emptyChat(chat.agentId)),
  'run.start': ({ pause: _, error: __, ...chat }) => ({ ...chat, status: 'running' }),
  'run.end': endRun,
  'run.abandoned': ({ pause: _, ...chat }) => ({ ...chat, status: 'idle' }),
  'agent.stopped': (chat) => ({ ...chat, status: 'stopped' }),
  'message.added': (chat, { nodeId, message: { content, source, provenance } }) =>
    // What the agent remembered is not what anybody said.
    isRemembered(provenance)
      ? chat
      : added(chat, { id: `n${nodeId}`, nodeId, role: 'user', text: textOf(content), content, source }),
  'guard.decided': (chat, event) => {
    const { withheld = [] } = event
    const text = withheldText(event)
    return changed(chat, (message) =>
      message.role === 'user' && withheld.includes(message.nodeId ?? 0)
        ? { ...message, text, content: [{ type: 'text', text }] }
        : message,
    )
  },
  'reply.start': (chat, event) => grown(chat, event, (reply) => ({ ...reply, text: '', thinking: '', calls: [] })),
  'reply.delta': (chat, event) =>
    grown(chat, event, (reply) => ({ ...reply, text: reply.text.slice(0, event.offset) + event.text })),
  'thinking.delta': (chat, event) =>
    grown(chat, event, (reply) => ({ ...reply, thinking: reply.thinking.slice(0, event.offset) + event.text })),
  'toolCall.delta': (chat, event) => grown(chat, event, (reply) => ({ ...reply, calls: written(reply.calls, event) })),
  'reply.reset': (chat, event) => {
    const status = event.retryAt === undefined ? 'failed' : 'growing'
    return grown(chat, event, (reply) => ({ ...reply, text: '', thinking: '', calls: [], status, error: event.error }))
  },
  'reply.end': endReply,
  'tool.start': (chat, { callId, childId }) =>
    called(chat, callId, (call) => ({ ...call, status: 'running', ...(childId === undefined ? {} : { childId }) })),
  'tool.progress': (chat, { callId, progress }) => called(chat, callId, (call) => ({ ...call, progress })),
  'tool.end': endCall,
  'call.reported': (chat, { callId }) => called(chat, callId, ({ progress: _, ...call }) => call),
  'revert.applied': (chat, { applied, target, rebased = [] }) => {
    if (!applied) return chat
    const places = new Map(rebased.map(({ from, nodeId }) => [from, nodeId]))
    const reverted = changed(chat, (message) => {
      const nodeId = places.get(message.nodeId ?? 0)
      if (nodeId !== undefined) return { ...message, nodeId }
      return target === undefined || !(message.nodeId! > target) ? message : { ...message, hidden: 'reverted' }
    })
    return placed(reverted, new Set(places.values()))
  },
  'graft.applied': (chat, { copies }) => {
    const places = new Map(copies.map(({ from, nodeId }) => [from, nodeId]))
    const grafted = changed(chat, (message) => {
      const nodeId = places.get(message.nodeId ?? 0)
      if (nodeId === undefined) return message
      const { hidden: _, ...shown } = message
      return { ...shown, nodeId }
    })
    return placed(grafted, new Set(places.values()))
  },
  'prune.applied': (chat, { applied, masked, shown, steps }) => {
    if (!applied || masked === true) return chat
    const pruned = new Set(steps)
    return changed(chat, (message) => {
      if (!pruned.has(message.nodeId ?? 0)) return message
      if (shown !== true) return hide(message, 'pruned')
      const { hidden: _, ...again } = message
      return message.hidden === 'pruned' ? again : message
    })
  },
  'compaction.end': (chat, { overlay }) => {
    if (overlay === undefined) return chat
    const { from, to, kept } = overlay
    const isIn = ({ nodeId = 0 }: ChatMessage): boolean => nodeId >= from && nodeId <= to && !kept.includes(nodeId)
    return changed(chat, (message) => (isIn(message) ? hide(message, 'summarised') : message))
  },
}

/** Returns the id of a reply, from its turn. An imported reply has the id of its node. */
const replyId = (event: { readonly runId: string; readonly turnIndex: number; readonly nodeId?: number }): string =>
  isImported(event) ? `n${event.nodeId}` : `t${event.turnIndex}`

const added = (chat: Chat, message: ChatMessage): Chat => ({
  ...chat,
  messages: [...chat.messages, { ...message, ...afterOf(chat, message.nodeId) }],
})

/** Returns the id of the message that precedes a node or, without a node, the message that the next one will follow. */
function afterOf({ messages }: Chat, nodeId = Infinity): Pick<ChatMessage, 'after'> {
  const before = messages.reduce<ChatMessage | undefined>((newest, message) => {
    const isBefore = message.hidden !== 'reverted' && message.nodeId !== undefined && message.nodeId < nodeId
    return isBefore && message.nodeId > (newest?.nodeId ?? 0) ? message : newest
  }, undefined)
  return before === undefined ? {} : { after: before.id }
}

/** Returns the chat with a new predecessor for each of the messages that were moved. */
const placed = (chat: Chat, nodeIds: ReadonlySet<number>): Chat =>
  changed(chat, (message) => {
    if (message.nodeId === undefined || !nodeIds.has(message.nodeId)) return message
    const { after: _, ...rest } = message
    return { ...rest, ...afterOf(chat, message.nodeId) }
  })

/** Returns the chat with some messages changed; the same chat if none is. */
function changed(chat: Chat, change: (message: ChatMessage) => ChatMessage): Chat {
  const messages = chat.messages.map(change)
  return messages.every((message, index) => message === chat.messages[index]) ? chat : { ...chat, messages }
}

function replaced(chat: Chat, index: number, message: ChatMessage): Chat {
  const messages = [...chat.messages]
  messages[index] = message
  return { ...chat, messages }
}

/** Returns the message hidden for a reason. A hidden message keeps its first reason. */
const hide = (message: ChatMessage, hidden: NonNullable<ChatMessage['hidden']>): ChatMessage =>
  message.hidden === undefined ? { ...message, hidden } : message

/** Appends to the reply of a turn, and begins it if necessary. A reply that has ended is not changed. */
function grown(
  chat: Chat,
  event: { readonly runId: string; readonly turnIndex: number },
  grow: (reply: ChatReply) => ChatReply,
): Chat {
  const id = replyId(event)
  const index = chat.messages.findLastIndex((message) => message.id === id)
  const reply = chat.messages[index]
  if (reply === undefined)
    return added(chat, grow({ id, role: 'assistant', text: '', thinking: '', calls: [], status: 'growing' }))
  if (reply.role !== 'assistant' || reply.nodeId !== undefined) return chat
  const { error: _, ...rest } = reply
  return replaced(chat, index, grow({ ...rest, status: 'growing' }))
}

function written(calls: readonly ChatCall[], { callId, name = '', text }: EventOf<'toolCall.delta'>): ChatCall[] {
  const index = calls.findIndex((call) => call.callId === callId)
  if (index === -1) return [...calls, { callId, name, status: 'writing', inputText: text }]
  return calls.map((call, at) => (at === index ? { ...call, inputText: (call.inputText ?? '') + text } : call))
}

function endReply(chat: Chat, event: EventOf<'reply.end'>): Chat {
  const { nodeId, message } = event
  const id = replyId(event)
  const { content } = message
  const calls = toolCallsOf(content).map(({ callId, name, input }): ChatCall => ({
    callId,
    name,
    input,
    status: 'waiting',
  }))
  const status = message.stopReason === 'aborted' ? 'cutOff' : 'done'
  const reply: ChatReply = {
    id,
    nodeId,
    role: 'assistant',
    text: textOf(content),
    thinking: thinkingOf(content),
    calls,
    status,
    content,
  }
  const index = chat.messages.findLastIndex((known) => known.id === id)
  const { after } = chat.messages[index] ?? {}
  return index === -1 ? added(chat, reply) : replaced(chat, index, after === undefined ? reply : { ...reply, after })
}

const thinkingOf = (content: readonly Block[]): string =>
  content.map((block) => (block.type === 'thinking' ? block.text : '')).join('')

/** Returns the newest reply with a call of this id. */
const replyWith = ({ messages }: Chat, callId: string): ChatReply | undefined =>
  messages.findLast(
    (message): message is ChatReply =>
      message.role === 'assistant' && message.calls.some((call) => call.callId === callId),
  )

/** Changes the newest call with this id. */
function called(chat: Chat, callId: string, change: (call: ChatCall) => ChatCall): Chat {
  const reply = replyWith(chat, callId)
  if (reply === undefined) return chat
  return replaced(chat, chat.messages.lastIndexOf(reply), {
    ...reply,
    calls: reply.calls.map((call) => (call.callId === callId ? change(call) : call)),
  })
}

function endCall(
  chat: Chat,
  { callId, data, dataApart, message: { content, isError, synthetic } }: EventOf<'tool.end'>,
): Chat {
  return called(chat, callId, ({ progress: _, ...call }) => {
    const status = isError ? 'failed' : 'done'
    const given = data !== undefined ? { data } : dataApart === undefined ? {} : { dataApart }
    return { ...call, status, result: content, ...given, ...(synthetic === undefined ? {} : { synthetic }) }
  })
}

function endRun({ pause: _, error: __, ...chat }: Chat, { stopReason, reason, error }: EventOf<'run.end'>): Chat {
  const isGrowing = (message: ChatMessage): boolean => message.role === 'assistant' && message.status === 'growing'
  const messages = chat.messages.flatMap((message): ChatMessage[] => {
    if (message.role !== 'assistant' || message.status !== 'growing') return [message]
    const isEmpty = message.text === '' && message.thinking === '' && message.calls.length === 0
    return isEmpty ? [] : [{ ...message, status: stopReason === 'error' ? 'failed' : 'cutOff' }]
  })
  return {
    ...chat,
    messages: chat.messages.some(isGrowing) ? messages : chat.messages,
    status: stopReason === 'paused' ? 'paused' : 'idle',
    ...(reason === undefined ? {} : { pause: reason }),
    ...(error === undefined ? {} : { error }),
  }
}
