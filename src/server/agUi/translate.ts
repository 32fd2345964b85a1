import { EventType, type Event } from '@ag-ui/core'
import type { AgentEvent, EventOf } from '../../protocol/events.ts'
import { formatNodeId } from '../../protocol/ids.ts'
import { textOf, toolCallsOf } from '../../protocol/messages.ts'
import { callName, replyName, resultName } from './names.ts'
import type { OpenParts } from './openParts.ts'
import { argumentsOf, contentOf } from './threadMessages.ts'

/** The newest piece of a reply under way. */
export type Piece = Pick<EventOf<'reply.delta' | 'thinking.delta' | 'toolCall.delta'>, 'type' | 'text'>

/** What a translation writes to, and what it asks. */
export interface Page {
  /** The agent that the thread is. */
  readonly rootId: string
  readonly parts: OpenParts
  /** It takes no more for now. */
  readonly isFull: boolean
  write(event: Event): void
  /** The conversation changed otherwise than by growing. */
  rewrite(): void
  /** The id a client shows a user message by; `undefined`: it has that message already. */
  unseenName(event: EventOf<'message.added'>): string | undefined
  /** Writes what has come of a reply under way and is not told yet. */
  pull(agentId: string, newest: Piece): unknown
  /** The sub-agent that carries a call out. */
  childOf(call: { readonly agentId: string; readonly callId: string }): string | undefined
}

/** A part of a sub-agent's own; what it says is begun by keys with its id. */
export const childKey = (childId: string): string => `subagent:${childId}`

type Translation<T extends AgentEvent['type']> = (event: EventOf<T>, page: Page) => void
type Table = { readonly [T in AgentEvent['type']]?: Translation<T> }

/** Whose an event is; nothing of the agent itself. */
export const ownerOf = (rootId: string, agentId: string): { subagentRunId?: string } =>
  agentId === rootId ? {} : { subagentRunId: agentId }

/** Begins the text of a reply. */
export function openText(page: Page, { agentId, turnIndex }: { agentId: string; turnIndex: number }): string {
  const messageId = replyName(agentId, turnIndex)
  const who = ownerOf(page.rootId, agentId)
  page.parts.open(
    `${agentId} reply text`,
    { type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant', ...who },
    { type: EventType.TEXT_MESSAGE_END, messageId, ...who },
  )
  return messageId
}

/** Begins a turn as a step. */
export function openStep(page: Page, { agentId, turnIndex }: { agentId: string; turnIndex: number }): void {
  const stepName = `turn ${turnIndex}`
  const who = ownerOf(page.rootId, agentId)
  page.parts.open(
    `${agentId} step ${turnIndex}`,
    { type: EventType.STEP_STARTED, stepName, ...who },
    { type: EventType.STEP_FINISHED, stepName, ...who },
  )
}

/** Calls of a reply that were not streamed, or whose name had not come. */
function tellCalls(page: Page, { agentId, turnIndex, message }: EventOf<'reply.end'>): void {
  const who = ownerOf(page.rootId, agentId)
  for (const { callId, name, input } of toolCallsOf(message.content)) {
    if (page.parts.has(`${agentId} reply call ${callId}`)) continue
    const toolCallId = callName(page.rootId, agentId, callId)
    const parentMessageId = replyName(agentId, turnIndex)
    page.write({ type: EventType.TOOL_CALL_START, toolCallId, toolCallName: name, parentMessageId, ...who })
    page.write({ type: EventType.TOOL_CALL_ARGS, toolCallId, delta: argumentsOf(input), ...who })
    page.write({ type: EventType.TOOL_CALL_END, toolCallId, ...who })
  }
}

/** Text of a reply that no delta told. */
function tellText(page: Page, event: EventOf<'reply.end'>, text: string): void {
  if (text === '' || page.parts.has(`${event.agentId} reply text`)) return
  const messageId = openText(page, event)
  const who = ownerOf(page.rootId, event.agentId)
  page.write({ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta: text, ...who })
}

const custom =
  <T extends AgentEvent['type']>(name: string): Translation<T> =>
  (event, page) => {
    const { v: _, path: __, ...value } = event as AgentEvent & { v?: number }
    page.write({ type: EventType.CUSTOM, name: `escapement.${name}`, value, ...ownerOf(page.rootId, event.agentId) })
  }

/** Whether the conversation of the thread itself is meant. */
const isOwn = (event: AgentEvent, page: Page): boolean => event.agentId === page.rootId

const table: Table = {
  'turn.start': (event, page) => openStep(page, event),
  'turn.end': (event, page) => page.parts.close(`${event.agentId} step ${event.turnIndex}`),
  'message.added': (event, page) => {
    if (!isOwn(event, page)) return
    const messageId = page.unseenName(event)
    if (messageId === undefined) return
    const delta = contentOf(event.message.content)
    if (typeof delta !== 'string') return page.rewrite()
    page.write({ type: EventType.TEXT_MESSAGE_START, messageId, role: 'user' })
    page.write({ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta })
    page.write({ type: EventType.TEXT_MESSAGE_END, messageId })
  },
  'reply.delta': (event, page) => page.pull(event.agentId, event),
  'thinking.delta': (event, page) => page.pull(event.agentId, event),
  'toolCall.delta': (event, page) => page.pull(event.agentId, event),
  'reply.end': (event, page) => {
    tellText(page, event, textOf(event.message.content))
    tellCalls(page, event)
    page.parts.closeAll(`${event.agentId} reply `)
  },
  'reply.reset': (event, page) => {
    page.parts.closeAll(`${event.agentId} reply `)
    custom('reply.reset')(event, page)
    if (isOwn(event, page)) page.rewrite()
  },
  'tool.start': (event, page) => {
    const { agentId, childId, callId, turnIndex, name } = event
    if (childId === undefined) return
    openChild(page, { childId, name, agentId, turnIndex, callId })
  },
  'tool.end': (event, page) => {
    const { agentId, turnIndex, callId, message } = event
    const { isError, synthetic } = message
    const childId = page.childOf(event)
    if (childId !== undefined) closeChild(page, childId, isError ? textOf(message.content) : undefined)
    page.write({
      type: EventType.TOOL_CALL_RESULT,
      messageId: resultName(agentId, turnIndex, callId),
      toolCallId: callName(page.rootId, agentId, callId),
      content: contentOf(message.content),
      role: 'tool',
      ...(isError ? { metadata: { escapement: { isError, ...(synthetic === undefined ? {} : { synthetic }) } } } : {}),
      ...ownerOf(page.rootId, agentId),
    })
  },
  'run.end': (event, page) => {
    if (isOwn(event, page)) return
    const { agentId, stopReason, error } = event
    page.parts.closeAll(`${agentId} `)
    const { code = stopReason, message = `The sub-agent ended: ${stopReason}.` } = error ?? {}
    const isFailed = stopReason === 'error' || stopReason === 'aborted'
    page.parts.close(
      childKey(agentId),
      isFailed ? { type: EventType.SUBAGENT_ERROR, subagentRunId: agentId, code, message } : undefined,
    )
  },
  'tool.progress': custom('tool.progress'),
  'tag.expired': custom('tag.expired'),
  'model.warning': custom('model.warning'),
  'approval.requested': custom('approval.requested'),
  'approval.decided': custom('approval.decided'),
  'revert.applied': (event, page) => {
    custom('revert.applied')(event, page)
    const { tag, target } = event
    if (tag !== undefined && target !== undefined) {
      const value = { nodeId: formatNodeId(target), tag }
      page.write({
        type: EventType.CUSTOM,
        name: 'escapement.tag.added',
        value,
        ...ownerOf(page.rootId, event.agentId),
      })
    }
    if (event.applied && isOwn(event, page)) page.rewrite()
  },
  'prune.applied': custom('prune.applied'),
  'compaction.end': (event, page) => {
    custom('compaction.end')(event, page)
    if (event.applied && isOwn(event, page)) page.rewrite()
  },
  error: custom('error'),
  'events.dropped': (_, page) => page.rewrite(),
}

/** A sub-agent that a call began. */
export interface CalledChild {
  readonly childId: string
  readonly name: string
  /** The agent that called it, and where. */
  readonly agentId: string
  readonly turnIndex: number
  readonly callId: string
}

/** Announces a sub-agent: what it does from here on carries its id. */
export function openChild(page: Page, { childId, name, agentId, turnIndex, callId }: CalledChild): void {
  page.parts.open(
    childKey(childId),
    {
      type: EventType.SUBAGENT_STARTED,
      subagentRunId: childId,
      name,
      parentToolCallId: callName(page.rootId, agentId, callId),
      parentMessageId: replyName(agentId, turnIndex),
      ...(agentId === page.rootId ? {} : { parentSubagentRunId: agentId }),
    },
    { type: EventType.SUBAGENT_FINISHED, subagentRunId: childId },
  )
}

/** Ends what a sub-agent began, and itself; one that ended by itself is ended already. */
function closeChild(page: Page, childId: string, failure: string | undefined): void {
  page.parts.closeAll(`${childId} `)
  const message = failure === '' ? 'The sub-agent failed.' : failure
  page.parts.close(
    childKey(childId),
    message === undefined ? undefined : { type: EventType.SUBAGENT_ERROR, subagentRunId: childId, message },
  )
}

/** Writes what an event is in AG-UI; most of what only the log needs is nothing. */
export function translate(event: AgentEvent, page: Page): void {
  const translation = table[event.type] as Translation<AgentEvent['type']> | undefined
  translation?.(event, page)
}
