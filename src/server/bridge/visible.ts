import type { ConversationView } from '../../conversation/conversationView.ts'
import type { ConversationNode } from '../../conversation/node.ts'
import type { AgentSummary } from '../../protocol/frames.ts'
import type { AgentEvent, EventOf, GrowingReply } from '../../protocol/events.ts'
import type { Block, Message } from '../../protocol/messages.ts'
import type { Pending } from '../../protocol/pending.ts'
import type { ProvenanceKind } from '../../protocol/provenance.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { Right } from '../../protocol/rights.ts'
import { outwardEvent } from './outwardError.ts'

/** How much of an agent a client is shown: everything, or what was said and the names of calls. */
export type View = 'all' | 'messages'

export const viewOf = (rights: ReadonlySet<Right>): View => (rights.has('see.all') ? 'all' : 'messages')

/** Arguments, results and questions' inputs, to those who are not to see them. */
const nothing = Object.freeze({})

/** Of what people and applications put into a conversation, only people's words are messages to all. */
const isSaid = (provenance: ProvenanceKind | undefined): boolean =>
  provenance === undefined || ['steering', 'followUp', 'loopTurn', 'imported'].includes(provenance.type)

function blockForMessages(block: Block): Block[] {
  if (block.type === 'thinking') return []
  if (block.type === 'toolCall') return [{ ...block, input: nothing }]
  return block.type === 'provider' ? [{ ...block, data: null }] : [block]
}

/** A message without what only the operator sees; `undefined`: nobody said it. */
function messageForMessages(message: Message): Message | undefined {
  if (message.role === 'user') return isSaid(message.provenance) ? message : undefined
  if (message.role === 'assistant') return { ...message, content: message.content.flatMap(blockForMessages) }
  const { role, callId, toolName, isError, synthetic } = message
  return { role, callId, toolName, isError, content: [], ...(synthetic === undefined ? {} : { synthetic }) }
}

type Shown<T extends AgentEvent['type']> = 'whole' | 'withheld' | ((event: EventOf<T>) => EventOf<T> | undefined)

const withoutInput = <E extends { readonly input: unknown }>(event: E): E => ({ ...event, input: nothing })

/** What a revert did to the messages, without what its note says. */
function withoutNote({ economics: _, undo: __, ...event }: EventOf<'revert.applied'>): EventOf<'revert.applied'> {
  return event.applied ? { ...event, tag: { ...event.tag, text: '' } } : { ...event, reason: '' }
}

/** What is shown of each kind of event to who sees messages alone. */
const shownOf: { readonly [T in AgentEvent['type']]: Shown<T> } = {
  'agent.created': 'whole',
  'agent.stopped': 'whole',
  'run.start': ({ model: _, limits: __, given: ___, ...event }) => ({ ...event, limits: {} }),
  'run.end': ({ left: _, unfinished: __, ...event }) => event,
  'run.abandoned': 'whole',
  'turn.start': 'whole',
  'tools.changed': 'withheld',
  'turn.prepared': 'withheld',
  'use.changed': 'withheld',
  'turn.captured': 'withheld',
  'turn.end': 'withheld',
  'message.added': (event) => (messageForMessages(event.message) === undefined ? undefined : event),
  'reply.end': ({ withheld: _, ...event }) => ({
    ...event,
    message: messageForMessages(event.message) as typeof event.message,
  }),
  'reply.reset': ({ repair: _, ...event }) => event,
  'tool.start': withoutInput,
  'tool.end': ({ message, spent: _, delivers: __, ...event }) => ({
    ...event,
    message: messageForMessages(message) as typeof message,
  }),
  'child.spawned': 'whole',
  'child.ended': ({ error: _, ...event }) => event,
  'approval.requested': withoutInput,
  'approval.decided': ({ input: _, reason: __, ...event }) => event,
  'question.asked': withoutInput,
  'question.answered': 'whole',
  // A client carries it out, with these arguments.
  'call.requested': 'whole',
  'queue.changed': ({ added, ...event }) =>
    added === undefined || !isSaid(added.provenance)
      ? event
      : { ...event, added: { id: added.id, content: added.content } },
  'compaction.start': 'withheld',
  'compaction.end': 'withheld',
  'compaction.requested': 'withheld',
  'guard.decided': ({ error: _, guard: __, ...event }) => event,
  'revert.requested': 'withheld',
  'revert.applied': withoutNote,
  'undo.step': 'withheld',
  'undo.end': 'withheld',
  'prune.requested': 'withheld',
  'prune.applied': 'withheld',
  'pin.requested': 'withheld',
  'pin.applied': 'withheld',
  'graft.requested': 'withheld',
  'graft.applied': ({ reason: _, economics: __, ...event }) => event,
  'stall.detected': 'withheld',
  'policy.requested': 'withheld',
  'policy.start': 'withheld',
  'policy.end': 'withheld',
  'memory.extracted': 'withheld',
  'turn.request': 'withheld',
  'reply.start': ({ model: _, ...event }) => event,
  'reply.delta': 'whole',
  'thinking.delta': 'withheld',
  'toolCall.delta': (event) => ({ ...event, text: '' }),
  'tool.progress': 'withheld',
  'model.warning': 'withheld',
  'model.waiting': 'withheld',
  'model.waited': 'withheld',
  'state.changed': 'whole',
  'tag.expired': 'withheld',
  'source.status': 'withheld',
  error: 'withheld',
  'record.withheld': 'whole',
  'events.dropped': 'whole',
}

/** A record of which a client is told only that it is there. */
function withheld(event: AgentEvent): EventOf<'record.withheld'> {
  const { agentId, path, seq, time, incognito } = event
  const at = 'runId' in event ? { runId: event.runId, turnIndex: event.turnIndex } : { runId: '', turnIndex: 0 }
  return { type: 'record.withheld', agentId, path, seq, time, ...at, ...(incognito === true ? { incognito } : {}) }
}

/**
 * An event as a client may see it: without paths of the server, and to one who sees messages alone without what is none. `undefined`: nothing
 * of it, and as it is not in the log, nothing stands in its place.
 */
export function visibleEvent(event: AgentEvent, view: View): AgentEvent | undefined {
  if (view === 'all') return outwardEvent(event)
  const show = shownOf[event.type] as Shown<AgentEvent['type']>
  const shown = show === 'whole' ? event : show === 'withheld' ? undefined : show(event as never)
  if (shown !== undefined) return outwardEvent(shown)
  return 'v' in event ? withheld(event) : undefined
}

/** A record of an agent's log as a client may see it; `undefined`: nothing of it. */
export function visibleRecord(record: LogRecord, view: View): LogRecord | undefined {
  const show = shownOf[record.type] as Shown<AgentEvent['type']>
  if (view === 'all' || show === 'whole') return record
  return show === 'withheld' ? undefined : (show(record as never) as LogRecord | undefined)
}

function visibleNode(node: ConversationNode): ConversationNode[] {
  const message = messageForMessages(node.message)
  if (message === undefined) return []
  const { ranWith: _, ...rest } = node
  return [{ ...rest, message, tags: [] }]
}

/** The messages of a conversation as a client may see them. */
export const visibleNodes = (nodes: readonly ConversationNode[], view: View): readonly ConversationNode[] =>
  view === 'all' ? nodes : nodes.flatMap(visibleNode)

/** A conversation as a client may see it. */
export function visibleConversation(conversation: ConversationView, view: View): ConversationView {
  if (view === 'all') return conversation
  const seen = (nodes: ConversationNode[]): ConversationNode[] => nodes.flatMap(visibleNode)
  return {
    head: conversation.head,
    tokens: conversation.tokens,
    trunk: () => seen(conversation.trunk()),
    log: () => seen(conversation.log()),
    abandoned: () => seen(conversation.abandoned()),
    steps: () => conversation.steps().map((step) => ({ ...step, nodes: seen([...step.nodes]) })),
    node: (id) => {
      const node = conversation.node(id)
      return node && visibleNode(node)[0]
    },
    tags: () => [],
    pins: () => conversation.pins(),
    masks: () => conversation.masks(),
  }
}

/** What waits for people, as a client may see it: a call that it is to carry out keeps its arguments. */
export const visiblePending = <P extends Pick<Pending, 'input'> & { readonly kind?: Pending['kind'] }>(
  pending: P,
  view: View,
): P => (view === 'all' || pending.kind === 'call' ? pending : { ...pending, input: nothing })

export const visibleReply = (reply: GrowingReply | undefined, view: View): GrowingReply | undefined =>
  view === 'all' || reply === undefined ? reply : { ...reply, thinking: '' }

/** An entry of a list as a client may see it: `doing` names arguments. */
export function visibleSummary<S extends Partial<Pick<AgentSummary, 'doing' | 'contextTokens'>>>(
  summary: S,
  view: View,
): S {
  if (view === 'all') return summary
  const { doing: _, contextTokens: __, ...shown } = summary
  return shown as S
}
