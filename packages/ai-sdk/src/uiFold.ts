import { brakeWords } from '../../words/src/brakes/brakeWords.ts'
import type { AgentEvent, EventOf, GrowingReply } from '../../../src/protocol/events.ts'
import { formatNodeId } from '../../../src/protocol/ids.ts'
import { isImported } from '../../../src/protocol/text/nodeIds.ts'
import { saidByTool, textOf } from '../../../src/protocol/messages.ts'
import type { CallShown } from '../../words/src/parts/describing.ts'
import { wordsOf } from '../../words/src/parts/partWords.ts'
import { withheldText } from '../../../src/protocol/text/withheldText.ts'
import {
  foldAppState,
  noAppState,
  statePatchIn,
  type AppState,
  type FoldedAppState,
} from '../../bridge/src/client/fold/foldAppState.ts'
import { Exchange, type ShownCall } from './exchange.ts'
import { isAgain, saidId } from './ids.ts'
import { wholeState, withChange } from './stateParts.ts'
import { saidParts } from './uiParts.ts'
import type { UiMessage } from './uiTypes.ts'

/**
 * Folds an agent's activity into messages of a chat. It holds the newest exchange, built from the agent's records and those of the agents
 * below it, or from its events, which may start in the middle. Events and records give the same result.
 */
export class UiFold {
  readonly agentId: string
  /** The newest exchange. */
  exchange: Exchange | undefined
  /** `seq` of the last record that was taken. */
  seq = 0
  readonly #ended: Exchange[] | undefined
  /** Sub-agents whose calls have not ended, by id. */
  readonly #called = new Map<string, { readonly callId: string; readonly fold: UiFold }>()
  #state: FoldedAppState
  /** `seq` of the first state change since the last run. The next run reports it. */
  #idleSince: number | undefined

  /** `ended` receives each exchange that another one follows. `state`: the state before the first record. */
  constructor(agentId: string, ended?: Exchange[], state?: AppState) {
    this.agentId = agentId
    this.#ended = ended
    this.#state = { known: state, waiting: [] }
  }

  /** The agent's state. `undefined` if nothing has reported it. */
  get state(): AppState | undefined {
    return this.#state.known
  }

  /** `seq` of the record with which the next exchange begins, if that began with this one: what has changed the state before it belongs to it. */
  beginningAt(seq: number): number {
    return this.#idleSince ?? seq
  }

  take(event: AgentEvent): void {
    if (event.agentId !== this.agentId) return this.#takeOther(event)
    this.seq = Math.max(this.seq, event.seq)
    this.#takeState(event)
    const handle = own[event.type] as ((fold: UiFold, event: AgentEvent) => void) | undefined
    handle?.(this, event)
    const call = wordsOf(event)?.call?.(event)
    if (call !== undefined && this.exchange !== undefined) showPart(this.exchange, event, call)
  }

  /** Takes the part of the current reply that came before the first event. `undefined`: that part is not known. */
  takeGrowing(reply: GrowingReply | undefined): void {
    if (reply === undefined || this.exchange === undefined) return
    this.exchange.beginReply()
    this.exchange.grow('reasoning', reply.thinking, 0)
    this.exchange.grow('text', reply.text, 0)
  }

  /** Returns the message so far of a sub-agent that carries out one of the agent's calls, with the call's id. */
  previewOf(childId: string): { readonly toolCallId: string; readonly message: UiMessage } | undefined {
    const called = this.#called.get(childId)
    const call = called && this.exchange?.callOf(this.agentId, called.callId)
    const message = called?.fold.exchange?.message(true)
    return call === undefined || message === undefined ? undefined : { toolCallId: call.toolCallId, message }
  }

  /** Ids of sub-agents that work for calls of the agent. */
  get called(): string[] {
    return [...this.#called.keys()]
  }

  #takeState(event: AgentEvent): void {
    const patch = statePatchIn(event)
    // The log of a fork says nothing of what a step that was open there had changed.
    if (event.type === 'agent.created') this.#state = noAppState
    if (patch === undefined) return
    const { known } = this.#state
    if (known === undefined && !('initial' in event)) return
    this.#state = foldAppState(this.#state, event)
    const { exchange } = this
    if (exchange === undefined || exchange.end !== undefined) this.#idleSince ??= event.seq
    else exchange.stateParts = withChange(exchange.stateParts, this.#state.known!, patch)
  }

  /** Shows state changes made between runs in the exchange that continues now. */
  tellState(): void {
    const { exchange, state } = this
    if (this.#idleSince === undefined) return
    this.#idleSince = undefined
    if (exchange !== undefined && state !== undefined) exchange.stateParts = wholeState(state)
  }

  begin(requestId: string, toCome: number): Exchange {
    const before = this.exchange
    const begun = new Exchange(this.agentId, requestId, toCome)
    // Another answer takes the place of the one before.
    if (isAgain(requestId)) begun.said.push(...(before?.said ?? []))
    else if (before !== undefined) this.#ended?.push(before)
    this.exchange = begun
    return begun
  }

  /** Withholds words that a guard refused. They may belong to an earlier exchange that the guard had not decided about. */
  withhold(decided: EventOf<'guard.decided'>): void {
    const line = withheldText(decided)
    for (const exchange of [...(this.#ended ?? []), ...(this.exchange === undefined ? [] : [this.exchange])])
      for (const nodeId of decided.withheld ?? []) exchange.withhold(nodeId, line)
  }

  callBegins({ callId, childId }: EventOf<'tool.start'>): void {
    if (childId !== undefined) this.#called.set(childId, { callId, fold: new UiFold(childId) })
  }

  callEnds({ callId, message, data }: EventOf<'tool.end'>): void {
    const { exchange } = this
    const call = exchange?.callOf(this.agentId, callId)
    if (exchange === undefined || call === undefined) return
    const content = saidByTool(message)
    exchange.endCall(call, { content, isError: message.isError, data })
    closeQuestions(exchange, call)
    for (const [childId, called] of this.#called) {
      if (called.callId !== callId) continue
      this.#called.delete(childId)
      exchange.endBelow(childId, 'Its agent has ended.')
    }
  }

  /**
   * Takes an event of an agent below. A request to people shows as one of the agent's own calls; everything else shows
   * only in the preview of the running call.
   */
  #takeOther(event: AgentEvent): void {
    const at = event.path.indexOf(this.agentId)
    if (at === -1) return
    const childId = event.path[at + 1] ?? event.agentId
    this.#called.get(childId)?.fold.take(event)
    const handle = others[event.type] as ((exchange: Exchange, event: AgentEvent) => void) | undefined
    if (this.exchange !== undefined) handle?.(this.exchange, event)
  }
}

type Handlers<C> = { readonly [T in AgentEvent['type']]?: (to: C, event: EventOf<T>) => void }

/** Adds a message to the exchange. A message that no person wrote is shown by its kind, such as a report, or not at all. */
function addMessage(fold: UiFold, event: EventOf<'message.added'>): void {
  const { nodeId, message } = event
  const { content, provenance } = message
  const id = saidId(fold.agentId, nodeId)
  if (isImported(event)) {
    const imported = fold.begin(formatNodeId(nodeId), 0)
    imported.addSaid(id, content)
    return
  }
  const exchange = fold.exchange ?? fold.begin(formatNodeId(nodeId), 1)
  const isFirst = exchange.toCome > 0
  const isPrompt = exchange.toCome === 1
  if (isFirst) exchange.toCome -= 1
  if (isPrompt) exchange.promptNode = nodeId
  if (provenance?.type === 'report') {
    const { agentId, name, background } = provenance
    const of = background === undefined ? {} : { background }
    exchange.add({ type: 'data-report', id, data: { agentId, name, ...of, text: textOf(content) } })
  } else if (isPrompt && isAgain(exchange.requestId)) return
  else if (isPrompt) exchange.addSaid(exchange.requestId, content)
  // What the application put before the prompt is for the model.
  else if (provenance !== undefined) return
  else if (isFirst) exchange.addSaid(id, content)
  else exchange.add({ type: 'steering-message', id, parts: saidParts(content) })
}

const inExchange =
  <T extends AgentEvent['type']>(handle: (exchange: Exchange, event: EventOf<T>) => void) =>
  (fold: UiFold, event: EventOf<T>): void => {
    if (fold.exchange !== undefined) handle(fold.exchange, event)
  }

/** Adds a note about a change to the conversation that no other part shows. */
const note = (exchange: Exchange, { seq, type }: AgentEvent, data: object): void =>
  exchange.setData({ type: 'data-escapement', id: `${seq}`, data: { type, ...data } })

/** Shows a background call until it has reported. */
const atWork = (exchange: Exchange, id: string, name: string, status: 'working' | 'failed' | 'done'): void =>
  exchange.setData({ type: 'data-escapement', id: `background-${id}`, data: { type: 'background', id, name, status } })

type Asked = EventOf<'approval.requested' | 'question.asked' | 'call.requested'>

/** Returns the part of a call that people are asked about. A sub-agent's call has none yet, or that of an older call with its id. */
function shown(exchange: Exchange, event: Asked): ShownCall {
  const call = exchange.callOf(event.agentId, event.callId)
  // One in the background has ended with its receipt.
  const isOver =
    call !== undefined && exchange.isEnded(call) && !('background' in event && event.background !== undefined)
  return call === undefined || isOver ? exchange.showCall(event, event) : call
}

/** Shows a call that appears in no reply, or ends it. */
function showPart(exchange: Exchange, event: AgentEvent, { callId, name, input, end }: CallShown): void {
  const known = exchange.callOf(event.agentId, callId)
  const isOver = known === undefined || exchange.isEnded(known)
  const call = isOver ? exchange.showCall(event, { callId, name, input }) : known
  if (end !== undefined) exchange.endCall(call, end)
}

function ask(exchange: Exchange, event: EventOf<'question.asked'>): void {
  const { key, question, schema, problem, agentId, callId, name } = event
  const call = shown(exchange, event)
  const { toolCallId } = call
  const more = problem === undefined ? {} : { problem }
  const data = { status: 'waiting', toolCallId, agentId, callId, name, question, schema, ...more }
  exchange.setData({ type: 'data-question', id: key, data })
}

interface QuestionData {
  readonly status: 'waiting' | 'answered' | 'denied' | 'closed'
  readonly toolCallId: string
}

function answer(exchange: Exchange, { key, decision, value, reason }: EventOf<'question.answered'>): void {
  const asked = exchange.entries.find((entry) => entry.type === 'data-question' && entry.id === key)
  if (asked === undefined || !('data' in asked)) return
  const { problem: _, ...data } = asked.data as QuestionData & { readonly problem?: string }
  const given = decision === 'answer' ? { status: 'answered', value } : { status: 'denied' }
  const why = reason === undefined ? {} : { reason }
  exchange.setData({ type: 'data-question', id: key, data: { ...data, ...given, ...why } })
}

/** Closes the questions of a call that ended without an answer. */
function closeQuestions(exchange: Exchange, { toolCallId }: ShownCall): void {
  for (const entry of exchange.entries) {
    if (entry.type !== 'data-question' || !('data' in entry)) continue
    const data = entry.data as QuestionData
    if (data.toolCallId !== toolCallId || data.status !== 'waiting') continue
    exchange.setData({ ...entry, data: { ...data, status: 'closed' } })
  }
}

const ofPeople: Handlers<Exchange> = {
  'approval.requested': (exchange, event) => exchange.requestApproval(shown(exchange, event), event),
  'approval.decided': (exchange, { key, decision, reason }) =>
    exchange.decideApproval(key, decision === 'approve', reason),
  'question.asked': ask,
  'question.answered': answer,
  'call.requested': (exchange, event) => exchange.giveInput(shown(exchange, event), event.input),
}

const others: Handlers<Exchange> = {
  ...ofPeople,
  'tool.end': (exchange, { agentId, callId, message, data }) => {
    const call = exchange.callOf(agentId, callId)
    if (call === undefined) return
    exchange.endCall(call, { content: saidByTool(message), isError: message.isError, data })
    closeQuestions(exchange, call)
  },
}

const tools = Object.fromEntries(
  Object.entries(ofPeople).map(([type, handle]) => [
    type,
    inExchange(handle as (exchange: Exchange, event: AgentEvent) => void),
  ]),
) as Handlers<UiFold>

const ofBrakes: Handlers<UiFold> = Object.fromEntries(
  Object.entries(brakeWords.summary).map(([type, summary]) => [
    type,
    inExchange((exchange: Exchange, event: Parameters<typeof summary>[0]) => {
      if (event.applied) note(exchange, event, summary(event))
    }),
  ]),
)

const own: Handlers<UiFold> = {
  ...tools,
  'run.start': (fold, { cause, requestId, messages = 1 }) => {
    if (cause === 'resume' && fold.exchange !== undefined) fold.exchange.end = undefined
    else fold.begin(requestId, cause === 'resume' ? 0 : messages)
    fold.tellState()
  },
  'message.added': addMessage,
  'guard.decided': (fold, event) => fold.withhold(event),
  'turn.start': inExchange((exchange) => exchange.beginStep('own')),
  'reply.start': inExchange((exchange) => exchange.beginReply()),
  'reply.delta': inExchange((exchange, { text, offset }) => exchange.grow('text', text, offset)),
  'thinking.delta': inExchange((exchange, { text, offset }) => exchange.grow('reasoning', text, offset)),
  'toolCall.delta': inExchange((exchange, event) => exchange.growCall(event)),
  'reply.reset': inExchange((exchange) => exchange.dropReply()),
  'reply.end': (fold, event) => {
    const exchange = fold.exchange ?? fold.begin(formatNodeId(event.nodeId), 0)
    if (isImported(event)) exchange.beginStep('own')
    exchange.endReply(event.message.content)
  },
  'tool.start': (fold, event) => {
    fold.callBegins(event)
    if (event.background !== undefined && fold.exchange !== undefined)
      atWork(fold.exchange, event.background, event.name, 'working')
  },
  'call.reported': inExchange((exchange, { id, name, isError }) =>
    atWork(exchange, id, name, isError ? 'failed' : 'done'),
  ),
  'tool.end': (fold, event) => fold.callEnds(event),
  'revert.applied': inExchange((exchange, event) => {
    const { applied, category, target, tag } = event
    if (!applied) return
    const to = target === undefined ? {} : { to: formatNodeId(target) }
    note(exchange, event, { category, ...to, ...(tag === undefined ? {} : { text: tag.text }) })
  }),
  ...ofBrakes,
  'prune.applied': inExchange((exchange, event) => {
    const { applied, steps, masked, shown: isShown } = event
    const how = { ...(masked === true ? { masked } : {}), ...(isShown === true ? { shown: true } : {}) }
    if (applied) note(exchange, event, { steps: steps.map(formatNodeId), ...how })
  }),
  'compaction.end': inExchange((exchange, event) => {
    const { applied, tokensBefore, tokensAfter } = event
    if (applied) note(exchange, event, { tokensBefore, tokensAfter })
  }),
  'run.end': inExchange((exchange, event) => exchange.endRun(event)),
  'run.abandoned': inExchange((exchange) => {
    if (exchange.end !== undefined) exchange.end = { ...exchange.end, stopReason: 'aborted' }
  }),
}
