import { brakeWords } from '../../words/src/brakes/brakeWords.ts'
import { partWords } from '../../words/src/parts/partWords.ts'
import { EventType, type Event } from '@ag-ui/core'
import type { AgentEvent, EventOf } from '../../../src/protocol/events.ts'
import { formatNodeId } from '../../../src/protocol/ids.ts'
import { textOf, toolCallsOf } from '../../../src/protocol/messages.ts'
import { toolCallIdOf, replyMessageId, resultMessageId } from './ids.ts'
import type { OpenParts } from './openParts.ts'
import { argumentsOf, contentOf } from './threadMessages.ts'

/** The newest piece of a reply under way. */
export type Piece = Pick<EventOf<'reply.delta' | 'thinking.delta' | 'toolCall.delta'>, 'type' | 'text'>

/** Destination of AG-UI events, with the thread's knowledge that they need. */
export interface EventWriter {
  /** Id of the thread's agent. */
  readonly rootId: string
  readonly parts: OpenParts
  /** True while no more should be written. */
  readonly isFull: boolean
  write(event: Event): void
  /** Rewrites the conversation, which changed other than by an addition at its end. */
  rewrite(): void
  /** Returns the id of a user message that the client does not have. `undefined`: the client has it. */
  unseenMessageId(event: EventOf<'message.added'>): string | undefined
  /** Writes the unwritten part of a reply under way. */
  pull(agentId: string, newest: Piece): unknown
  /** Returns the sub-agent that carries out a call. */
  childOf(call: { readonly agentId: string; readonly callId: string }): string | undefined
}

/** Returns the key of a sub-agent's part. Keys of the parts within it start with its id. */
export const childKey = (childId: string): string => `subagent:${childId}`

type EventMapping<T extends AgentEvent['type']> = (event: EventOf<T>, writer: EventWriter) => void
type Table = { readonly [T in AgentEvent['type']]?: EventMapping<T> }

/** Returns the field that marks events of sub-agents. */
export const ownerOf = (rootId: string, agentId: string): { subagentRunId?: string } =>
  agentId === rootId ? {} : { subagentRunId: agentId }

/** Starts the text of a reply. */
export function openText(writer: EventWriter, { agentId, turnIndex }: { agentId: string; turnIndex: number }): string {
  const messageId = replyMessageId(agentId, turnIndex)
  const who = ownerOf(writer.rootId, agentId)
  writer.parts.open(
    `${agentId} reply text`,
    { type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant', ...who },
    { type: EventType.TEXT_MESSAGE_END, messageId, ...who },
  )
  return messageId
}

/** Starts a turn as a step. */
export function openStep(writer: EventWriter, { agentId, turnIndex }: { agentId: string; turnIndex: number }): void {
  const stepName = `turn ${turnIndex + 1}`
  const who = ownerOf(writer.rootId, agentId)
  writer.parts.open(
    `${agentId} step ${turnIndex}`,
    { type: EventType.STEP_STARTED, stepName, ...who },
    { type: EventType.STEP_FINISHED, stepName, ...who },
  )
}

/** Writes the calls of a reply that were not streamed, or whose names had not arrived. */
function writeCalls(writer: EventWriter, { agentId, turnIndex, message }: EventOf<'reply.end'>): void {
  const who = ownerOf(writer.rootId, agentId)
  for (const { callId, name, input } of toolCallsOf(message.content)) {
    if (writer.parts.has(`${agentId} reply call ${callId}`)) continue
    const toolCallId = toolCallIdOf(writer.rootId, agentId, callId)
    const parentMessageId = replyMessageId(agentId, turnIndex)
    writer.write({ type: EventType.TOOL_CALL_START, toolCallId, toolCallName: name, parentMessageId, ...who })
    writer.write({ type: EventType.TOOL_CALL_ARGS, toolCallId, delta: argumentsOf(input), ...who })
    writer.write({ type: EventType.TOOL_CALL_END, toolCallId, ...who })
  }
}

/** Writes the text of a reply that was not streamed. */
function writeText(writer: EventWriter, event: EventOf<'reply.end'>, text: string): void {
  if (text === '' || writer.parts.has(`${event.agentId} reply text`)) return
  const messageId = openText(writer, event)
  const who = ownerOf(writer.rootId, event.agentId)
  writer.write({ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta: text, ...who })
}

const custom =
  <T extends AgentEvent['type']>(name: string): EventMapping<T> =>
  (event, writer) => {
    const { v: _, path: __, ...value } = event as AgentEvent & { v?: number }
    writer.write({
      type: EventType.CUSTOM,
      name: `escapement.${name}`,
      value,
      ...ownerOf(writer.rootId, event.agentId),
    })
  }

/** True if an event belongs to the thread's own agent. */
const isOwn = (event: AgentEvent, writer: EventWriter): boolean => event.agentId === writer.rootId

/** Records after which the client's messages no longer match those of the trunk. */
const rewriting: Table = Object.fromEntries(
  [...Object.keys(brakeWords.change), 'compaction.end'].map((type) => [
    type,
    (event: AgentEvent & { readonly applied: boolean }, writer: EventWriter): void => {
      custom(type)(event, writer)
      if (event.applied && isOwn(event, writer)) writer.rewrite()
    },
  ]),
)

const table: Table = {
  'turn.start': (event, writer) => openStep(writer, event),
  'turn.end': (event, writer) => writer.parts.close(`${event.agentId} step ${event.turnIndex}`),
  'message.added': (event, writer) => {
    if (!isOwn(event, writer)) return
    const messageId = writer.unseenMessageId(event)
    if (messageId === undefined) return
    const delta = contentOf(event.message.content)
    if (typeof delta !== 'string') return writer.rewrite()
    writer.write({ type: EventType.TEXT_MESSAGE_START, messageId, role: 'user' })
    writer.write({ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta })
    writer.write({ type: EventType.TEXT_MESSAGE_END, messageId })
  },
  'reply.delta': (event, writer) => writer.pull(event.agentId, event),
  'thinking.delta': (event, writer) => writer.pull(event.agentId, event),
  'toolCall.delta': (event, writer) => writer.pull(event.agentId, event),
  'reply.end': (event, writer) => {
    writeText(writer, event, textOf(event.message.content))
    writeCalls(writer, event)
    writer.parts.closeAll(`${event.agentId} reply `)
    // What was streamed of it goes.
    if (event.withheld !== undefined && isOwn(event, writer)) writer.rewrite()
  },
  'reply.reset': (event, writer) => {
    writer.parts.closeAll(`${event.agentId} reply `)
    custom('reply.reset')(event, writer)
    if (isOwn(event, writer)) writer.rewrite()
  },
  'tool.start': (event, writer) => {
    const { agentId, childId, callId, turnIndex, name } = event
    if (childId === undefined) return
    openChild(writer, { childId, name, agentId, turnIndex, callId })
  },
  'tool.end': (event, writer) => {
    const { agentId, turnIndex, callId, message } = event
    const { isError, synthetic } = message
    const childId = writer.childOf(event)
    if (childId !== undefined) closeChild(writer, childId, isError ? textOf(message.content) : undefined)
    writer.write({
      type: EventType.TOOL_CALL_RESULT,
      messageId: resultMessageId(agentId, turnIndex, callId),
      toolCallId: toolCallIdOf(writer.rootId, agentId, callId),
      content: contentOf(message.content),
      role: 'tool',
      ...(isError ? { metadata: { escapement: { isError, ...(synthetic === undefined ? {} : { synthetic }) } } } : {}),
      ...ownerOf(writer.rootId, agentId),
    })
    if (event.data === undefined) return
    const toolCallId = toolCallIdOf(writer.rootId, agentId, callId)
    const value = { toolCallId, name: event.name, data: event.data }
    writer.write({ type: EventType.CUSTOM, name: 'escapement.data', value, ...ownerOf(writer.rootId, agentId) })
  },
  'run.end': (event, writer) => {
    if (isOwn(event, writer)) return
    const { agentId, stopReason, error } = event
    writer.parts.closeAll(`${agentId} `)
    const { code = stopReason, message = `The sub-agent ended: ${stopReason}.` } = error ?? {}
    const isFailed = stopReason === 'error' || stopReason === 'aborted'
    writer.parts.close(
      childKey(agentId),
      isFailed ? { type: EventType.SUBAGENT_ERROR, subagentRunId: agentId, code, message } : undefined,
    )
  },
  'tool.progress': custom('tool.progress'),
  'tag.expired': custom('tag.expired'),
  'model.waiting': custom('model.waiting'),
  'model.waited': custom('model.waited'),
  'model.warning': custom('model.warning'),
  'source.status': custom('source.status'),
  'guard.decided': custom('guard.decided'),
  'approval.requested': custom('approval.requested'),
  'approval.decided': custom('approval.decided'),
  'question.asked': custom('question.asked'),
  'question.answered': custom('question.answered'),
  'call.requested': custom('call.requested'),
  'revert.applied': (event, writer) => {
    custom('revert.applied')(event, writer)
    const { tag, target } = event
    if (tag !== undefined && target !== undefined) {
      const value = { nodeId: formatNodeId(target), tag }
      writer.write({
        type: EventType.CUSTOM,
        name: 'escapement.tag.added',
        value,
        ...ownerOf(writer.rootId, event.agentId),
      })
    }
    if (event.applied && isOwn(event, writer)) writer.rewrite()
  },
  ...rewriting,
  'undo.end': custom('undo.end'),
  'prune.applied': custom('prune.applied'),
  'pin.applied': custom('pin.applied'),
  'stall.detected': custom('stall.detected'),
  'policy.end': custom('policy.end'),
  ...Object.fromEntries(Object.keys(partWords).map((type) => [type, custom(type)])),
  error: custom('error'),
  'events.dropped': (_, writer) => writer.rewrite(),
}

/** A sub-agent that runs for a call. */
export interface CalledChild {
  readonly childId: string
  readonly name: string
  /** The agent that called it, and where. */
  readonly agentId: string
  readonly turnIndex: number
  readonly callId: string
}

/** Announces a sub-agent, whose events carry its id. */
export function openChild(writer: EventWriter, { childId, name, agentId, turnIndex, callId }: CalledChild): void {
  writer.parts.open(
    childKey(childId),
    {
      type: EventType.SUBAGENT_STARTED,
      subagentRunId: childId,
      name,
      parentToolCallId: toolCallIdOf(writer.rootId, agentId, callId),
      parentMessageId: replyMessageId(agentId, turnIndex),
      ...(agentId === writer.rootId ? {} : { parentSubagentRunId: agentId }),
    },
    { type: EventType.SUBAGENT_FINISHED, subagentRunId: childId },
  )
}

/** Ends a sub-agent's part and the parts within it, unless it has ended already. */
function closeChild(writer: EventWriter, childId: string, failure: string | undefined): void {
  writer.parts.closeAll(`${childId} `)
  const message = failure === '' ? 'The sub-agent failed.' : failure
  writer.parts.close(
    childKey(childId),
    message === undefined ? undefined : { type: EventType.SUBAGENT_ERROR, subagentRunId: childId, message },
  )
}

/** Writes an event as AG-UI events. Many events have none. */
export function writeAgUiEvents(event: AgentEvent, writer: EventWriter): void {
  const map = table[event.type] as EventMapping<AgentEvent['type']> | undefined
  map?.(event, writer)
}
