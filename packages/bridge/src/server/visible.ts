import { brakeWords } from '../../../words/src/brakes/brakeWords.ts'
import type { ConversationView } from '../../../../src/conversation/tree/conversationView.ts'
import type { ConversationNode } from '../../../../src/conversation/tree/node.ts'
import { isAsked } from '../../../../src/protocol/asked.ts'
import { errorInfo, errorTable, type ErrorCode, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { Tag } from '../../../../src/protocol/braking.ts'
import type { AgentSummary } from '../../../wire/src/frames.ts'
import type { AgentEvent, EventOf, GrowingReply } from '../../../../src/protocol/events.ts'
import type { Block, Message } from '../../../../src/protocol/messages.ts'
import type { Pending } from '../../../../src/protocol/runs/pending.ts'
import type { ProvenanceKind } from '../../../../src/protocol/provenance.ts'
import type { LogRecord, PauseReason, RecordOf } from '../../../../src/protocol/records.ts'
import { isOfPart } from '../../../../src/protocol/parts/partRecords.ts'
import type { PartRecordType } from '../../../../src/protocol/parts/partRecords.ts'
import { wordsOf } from '../../../words/src/parts/partWords.ts'
import type { Right } from '../../../wire/src/rights.ts'
import { outwardEvent } from './outwardError.ts'

/**
 * View of an agent that a client has: everything; messages and the names of calls (`messages`), also with the
 * arguments of calls that it may carry out (`answering`); or only names (`names`).
 */
export type View = 'all' | 'answering' | 'messages' | 'names'

export const viewOf = (rights: ReadonlySet<Right>): View =>
  rights.has('see.all') ? 'all' : rights.has('answer.own') ? 'answering' : 'messages'

/** Returns the view of a sub-agent, whose messages contain a call's arguments and result. */
export const viewBelow = (view: View): View => (view === 'all' ? 'all' : 'names')

/** Returns the view of an agent, which is a sub-agent's if a call started it. */
export const viewOfAgent = (view: View, { parent }: Pick<RecordOf<'agent.created'>, 'parent'>): View =>
  parent?.callId === undefined ? view : viewBelow(view)

/** The names of tools whose calls a client carries out, with their arguments. */
type ClientTools = readonly string[]
const noTools: ClientTools = []

/** Replacement for arguments, results and inputs of questions that a client must not see. */
const nothing = Object.freeze({})

/**
 * Returns true if all clients may see a user message: messages of people and programs, follow-ups, turns of
 * loops and imported messages. Other messages that an application added are hidden.
 */
const isSaid = (provenance: ProvenanceKind | undefined): boolean =>
  isAsked(provenance) || ['steering', 'followUp', 'loopTurn', 'imported'].includes(provenance!.type)

/** Returns an error for a client that sees only messages, without its own message, which may quote arguments and results. */
export const visibleError = (error: ErrorInfo, view: View): ErrorInfo =>
  view === 'all'
    ? error
    : Object.hasOwn(errorTable, error.code)
      ? errorInfo(error.code as ErrorCode, 'It failed.')
      : { code: error.code, message: 'It failed.' }

/** Returns the reason for a pause, for a client that sees only messages. */
export function visibleReason(reason: PauseReason): PauseReason {
  if (reason.type === 'store') return { ...reason, error: visibleError(reason.error, 'messages') }
  return reason.type === 'stall' ? { ...reason, evidence: '' } : reason
}

/** Returns the end of a run, with its error or reason, as a client may see it. */
export function visibleEnd<T extends { readonly error?: ErrorInfo | undefined; readonly reason?: unknown }>(
  end: T,
  view: View,
): T {
  if (view === 'all') return end
  const { error, reason } = end
  return {
    ...end,
    ...(error === undefined ? {} : { error: visibleError(error, view) }),
    ...(typeof reason === 'object' && reason !== null ? { reason: visibleReason(reason as PauseReason) } : {}),
  }
}

function visibleBlock(block: Block, view: View, tools: ClientTools): Block[] {
  if (block.type === 'toolCall') {
    const isOwn = view === 'answering' && tools.includes(block.name)
    return [isOwn ? block : { ...block, input: nothing }]
  }
  if (block.type === 'thinking' || view === 'names') return []
  return block.type === 'provider' ? [{ ...block, data: null }] : [block]
}

/** Returns a message as a client may see it; `undefined` if hidden. `isAnswer`: a result that ends its run, so its text is shown. */
function visibleMessage(message: Message, view: View, tools: ClientTools, isAnswer = false): Message | undefined {
  if (message.role === 'user') return isSaid(message.provenance) && view !== 'names' ? message : undefined
  if (message.role === 'assistant')
    return { ...message, content: message.content.flatMap((block) => visibleBlock(block, view, tools)) }
  const { role, callId, toolName, isError, synthetic } = message
  const content = isAnswer && view !== 'names' ? message.content.filter(({ type }) => type === 'text') : []
  return { role, callId, toolName, isError, content, ...(synthetic === undefined ? {} : { synthetic }) }
}

/** Visibility of an event: as a whole, not at all, only for clients that see messages, or in part. */
type Shown<T extends AgentEvent['type']> =
  | 'whole'
  | 'withheld'
  | 'said'
  | ((event: EventOf<T>, view: View, tools: ClientTools) => EventOf<T> | undefined)

/** Returns the tag of a revert without its text. */
const withoutWords = ({ kind, turnIndex, abandoned, lastReply }: Tag): Tag => ({
  kind,
  text: '',
  turnIndex,
  abandoned,
  evidence: { calls: [], changed: [] },
  ...(lastReply === undefined ? {} : { lastReply }),
})

/** Returns an event without its input, and without rules, which also reveal arguments. */
const withoutInput = <E extends { readonly input: unknown }>(event: E): E => {
  const { rule: _, suggest: __, ...seen } = event as E & { readonly rule?: unknown; readonly suggest?: unknown }
  return { ...seen, input: nothing } as unknown as E
}

/** Returns a revert with its effect on the messages, without the content of its note. */
function withoutNote({
  economics: _,
  undo: __,
  state: ___,
  ...event
}: EventOf<'revert.applied'>): EventOf<'revert.applied'> {
  return event.applied ? { ...event, tag: withoutWords(event.tag) } : { ...event, reason: '' }
}

/** The part of each kind of event that is shown to clients that see only messages. */
const shownOf: { readonly [T in Exclude<AgentEvent['type'], PartRecordType>]: Shown<T> } = {
  'agent.created': 'whole',
  'agent.stopped': 'whole',
  'run.start': ({ model: _, limits: __, given: ___, ...event }) => ({ ...event, limits: {} }),
  'run.end': ({ left: _, unfinished: __, ...event }, view) => visibleEnd(event, view),
  'run.abandoned': 'whole',
  'turn.start': 'whole',
  'tools.changed': 'withheld',
  'turn.prepared': 'withheld',
  'use.changed': 'withheld',
  'turn.captured': 'withheld',
  'turn.end': 'whole',
  'message.added': (event, view, tools) =>
    visibleMessage(event.message, view, tools) === undefined ? undefined : event,
  'reply.end': ({ withheld: _, ...event }, view, tools) => ({
    ...event,
    message: visibleMessage(event.message, view, tools) as typeof event.message,
  }),
  'reply.reset': ({ repair: _, next: __, ...event }, view) => visibleEnd(event, view),
  'tool.start': withoutInput,
  'tool.end': ({ message, spent: _, data: __, dataApart: ___, value: ____, answer: _____, ...event }, view, tools) => ({
    ...event,
    message: visibleMessage(message, view, tools, event.endsRun) as typeof message,
  }),
  'child.spawned': 'whole',
  'child.ended': ({ error: _, ...event }) => event,
  'approval.requested': withoutInput,
  'approval.decided': ({ input: _, reason: __, grant: ___, ...event }) => event,
  'question.asked': withoutInput,
  'question.answered': 'whole',
  // Who carries it out does so with these arguments.
  'call.requested': (event, view) => (view === 'answering' ? event : withoutInput(event)),
  'queue.changed': ({ added, ...event }, view) =>
    added === undefined
      ? event
      : {
          ...event,
          added: { id: added.id, content: isSaid(added.provenance) && view !== 'names' ? added.content : [] },
        },
  'compaction.start': 'withheld',
  // What it does to the conversation, and none of its words.
  'compaction.end': ({ overlay, reason: _, economics: __, ...event }) =>
    overlay === undefined ? event : { ...event, overlay: { ...overlay, summary: '' } },
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
  ...brakeWords.visible,
  'stall.detected': 'withheld',
  'policy.requested': 'withheld',
  'policy.start': 'withheld',
  'policy.end': 'withheld',
  'turn.request': 'withheld',
  'reply.start': ({ model: _, ...event }) => event,
  'reply.delta': 'said',
  'thinking.delta': 'withheld',
  'toolCall.delta': 'withheld',
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

/** Returns the placeholder for a record that a client may not see. */
function withheld(event: AgentEvent): EventOf<'record.withheld'> {
  const { agentId, path, seq, time, incognito } = event
  const at = 'runId' in event ? { runId: event.runId, turnIndex: event.turnIndex } : { runId: '', turnIndex: 0 }
  const place = event.type === 'message.added' ? { nodeId: event.nodeId, parentId: event.parentId } : {}
  const where = { agentId, path, seq, time, ...at, ...(incognito === true ? { incognito } : {}) }
  return { type: 'record.withheld', ...where, ...place }
}

/** Returns the placeholder for a captured request whose messages the client did not ask for. */
export function captureApart(event: EventOf<'turn.captured'>): EventOf<'record.withheld'> {
  const { attempt, model, kept, messages } = event
  return { ...withheld(event), captured: { attempt, model, kept, messages: messages.length } }
}

/** Returns the part of an event or a record for a client that does not see everything; `undefined` if it is hidden. */
function shown<T extends AgentEvent | LogRecord>(event: T, view: View, tools: ClientTools): T | undefined {
  if (isOfPart(event)) return wordsOf(event)!.visible?.(event)
  const show = shownOf[event.type as keyof typeof shownOf] as Shown<AgentEvent['type']>
  if (typeof show === 'function') return show(event as never, view, tools) as T | undefined
  return show === 'whole' || (show === 'said' && view !== 'names') ? event : undefined
}

/**
 * Returns an event as a client may see it: without the server's paths and, for a client that sees only messages,
 * without everything else. A hidden record is replaced by a placeholder. Any other hidden event is `undefined`.
 */
export function visibleEvent(event: AgentEvent, view: View, tools: ClientTools = noTools): AgentEvent | undefined {
  if (view === 'all') return outwardEvent(event)
  const seen = shown(event, view, tools)
  if (seen !== undefined) return outwardEvent(seen)
  return 'v' in event ? withheld(event) : undefined
}

/** Returns a record of an agent's log as a client may see it; `undefined` if it is hidden. */
export const visibleRecord = (record: LogRecord, view: View): LogRecord | undefined =>
  view === 'all' ? record : shown(record, view, noTools)

function visibleNode(node: ConversationNode, view: View, tools: ClientTools): ConversationNode[] {
  const { ranWith: _, ending, ...rest } = node
  const message = visibleMessage(node.message, view, tools, ending !== undefined)
  if (message === undefined) return []
  return [{ ...rest, message, tags: [], ...(ending === undefined ? {} : { ending: {} }) }]
}

/** Returns the messages of a conversation as a client may see them. */
export const visibleNodes = (nodes: readonly ConversationNode[], view: View): readonly ConversationNode[] =>
  view === 'all' ? nodes : nodes.flatMap((node) => visibleNode(node, view, noTools))

/** Returns a conversation as a client may see it. */
export function visibleConversation(
  conversation: ConversationView,
  view: View,
  tools: ClientTools = noTools,
): ConversationView {
  if (view === 'all') return conversation
  const seen = (nodes: ConversationNode[]): ConversationNode[] =>
    nodes.flatMap((node) => visibleNode(node, view, tools))
  return {
    head: conversation.head,
    tokens: conversation.tokens,
    trunk: () => seen(conversation.trunk()),
    log: () => seen(conversation.log()),
    abandoned: () => seen(conversation.abandoned()),
    steps: () => conversation.steps().map((step) => ({ ...step, nodes: seen([...step.nodes]) })),
    node: (id) => {
      const node = conversation.node(id)
      return node && visibleNode(node, view, tools)[0]
    },
    tags: () => [],
    pins: () => conversation.pins(),
    masks: () => conversation.masks(),
    state: undefined,
  }
}

/** Returns a pending call or question as a client may see it. A call for the client to carry out keeps its arguments. */
export const visiblePending = <P extends Pick<Pending, 'input'> & { readonly kind?: Pending['kind'] }>(
  pending: P,
  view: View,
): P => (view === 'all' || (view === 'answering' && pending.kind === 'call') ? pending : withoutInput(pending))

export const visibleReply = (reply: GrowingReply | undefined, view: View): GrowingReply | undefined =>
  view === 'all' || reply === undefined ? reply : { ...reply, thinking: '', text: view === 'names' ? '' : reply.text }

/** The fields of an agent or a session that are shown in lists. */
type Listed = Partial<Pick<AgentSummary, 'title' | 'last' | 'doing' | 'contextTokens'>> &
  Pick<AgentSummary, 'path'> & { readonly error?: ErrorInfo }

/** Returns a list entry as a client may see it. `doing` reveals arguments, and so does the title of a sub-agent. */
export function visibleSummary<S extends Listed>(summary: S, view: View): S {
  if (view === 'all') return summary
  const { doing: _, contextTokens: __, last, title, ...seen } = visibleEnd(summary, view)
  return {
    ...seen,
    ...(title === undefined || summary.path.length > 0 ? {} : { title }),
    ...(last === undefined ? {} : { last: visibleEnd(last, view) }),
  } as unknown as S
}
