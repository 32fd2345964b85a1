import { isDelta, isLogged, type AgentEvent, type GrowingReply } from '../../../../src/protocol/events.ts'
import type { ServerFrame } from '../../../wire/src/frames.ts'
import type { Metadata } from '../../../../src/protocol/metadata.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { captureApart, viewBelow, visibleEvent, visibleReply, type View } from './visible.ts'
import { writtenHere } from './written.ts'

/** Maximum number and characters of the newest logged events kept for clients that are slightly behind. Older ones are read from the log. */
const tailLength = 512
const tailChars = 4 * 1024 * 1024
/** Maximum length of a live event's frame, since each `turn.request` contains the whole conversation. */
const maxLiveChars = 1024 * 1024
/** Maximum number of live events that wait for a record to be written. */
const maxHeld = 4_096

const deltaKinds = { 'reply.delta': 'text', 'thinking.delta': 'thinking' } as const

/** Origin of an event: the agent itself, an approval of a sub-agent, or any other event of a sub-agent. */
type Scope = 'own' | 'approval' | 'descendant'

/** An event for subscribers. It is serialised once for all subscribers with the same view, and only if there are any. */
export class FeedEvent {
  readonly seq: number
  readonly isLogged: boolean
  readonly isDelta: boolean
  readonly isRequest: boolean
  readonly scope: Scope
  readonly #event: AgentEvent
  readonly #agentId: string
  readonly #frames = new Map<View, string | undefined>()

  /** Takes `seq`: for an event of a sub-agent, the `seq` of the last record of the agent that is listened to. */
  constructor(event: AgentEvent, scope: Scope = 'own', { agentId, seq }: Pick<AgentEvent, 'agentId' | 'seq'> = event) {
    this.seq = seq
    this.scope = scope
    this.isLogged = scope === 'own' && isLogged(event)
    this.isDelta = isDelta(event)
    this.isRequest = event.type === 'turn.request'
    this.#event = event
    this.#agentId = agentId
  }

  /** Returns the frame for a client; `undefined` if it may not see the event. `captured`: the client wants captured requests in full. */
  frameFor(view: View, captured = true): string | undefined {
    if (!captured && this.#event.type === 'turn.captured') return loggedFrame(this.#event, view, false)
    if (!this.#frames.has(view)) this.#frames.set(view, this.#frame(view))
    return this.#frames.get(view)
  }

  #frame(view: View): string | undefined {
    const event = visibleEvent(this.#event, this.scope === 'own' ? view : viewBelow(view))
    if (event === undefined) return undefined
    if (this.scope === 'own' && (event.type === 'reply.delta' || event.type === 'thinking.delta'))
      return deltaFrame(event.agentId, { ...event, kind: deltaKinds[event.type] })
    return this.isLogged ? eventFrame(event) : liveFrame(event, this.#agentId, this.seq)
  }
}

type FeedListener = (event: FeedEvent) => void

/** Parts of an agent that its feed uses. */
export type Fed = Pick<Agent, 'subscribe' | 'growingReply' | 'lastSeq' | 'durable'> & Partial<Pick<Agent, 'incognito'>>

interface Held {
  readonly entry: FeedEvent
  readonly event: AgentEvent | undefined
}

/**
 * Events of one agent for all its subscribers. Each is serialised once, and the newest are kept. A record is published once the store
 * has it, and nothing overtakes it, so a client never knows more than the log of a killed server. While the store fails, events
 * are published as they come.
 */
export class Feed {
  readonly agentId: string
  /** Ids of the agent's ancestors, root first. */
  readonly path: readonly string[]
  readonly metadata: Metadata | undefined
  /** True once no more events will come. */
  isClosed = false
  #agent: Fed | undefined
  readonly #listeners = new Set<FeedListener>()
  readonly #tail: FeedEvent[] = []
  #tailChars = 0
  readonly #held: Held[] = []
  #unsubscribe: (() => void) | undefined
  #includesDescendants = false
  #unsubscribeDescendants: (() => void) | undefined
  #partialReply: { -readonly [K in keyof GrowingReply]: GrowingReply[K] } | undefined
  #lastSeq: number

  /** Takes `agent`, which is missing if the agent does not run. All its events are then in its log. */
  constructor(
    { agentId, path, metadata, lastSeq }: Pick<Feed, 'agentId' | 'path' | 'lastSeq'> & Partial<Pick<Feed, 'metadata'>>,
    agent?: Fed,
  ) {
    this.agentId = agentId
    this.path = path
    this.metadata = metadata
    this.#lastSeq = lastSeq
    if (agent !== undefined) this.attach(agent)
  }

  /** `seq` of the last record that was sent. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /** Set for an incognito agent, whose data is not stored. */
  get incognito(): true | undefined {
    return this.#agent?.incognito === true ? true : undefined
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0
  }

  /** Resolves once the store has every record so far; `undefined` if it already has. Rejects when the store fails. */
  durable(): Promise<void> | undefined {
    return this.#agent?.durable()
  }

  /** Attaches an agent that has started, perhaps again. Listeners follow this instance. */
  attach(agent: Fed): void {
    if (agent === this.#agent) return
    this.#unsubscribe?.()
    this.#agent = agent
    this.#partialReply = agent.growingReply
    this.#unsubscribe = agent.subscribe((event) => this.#take(event))
    if (this.#includesDescendants) this.#subscribeToDescendants()
  }

  /** Detaches the agent, because it does not run in this process, or no longer does. */
  rest(): void {
    if (this.#agent === undefined || this.#held.length > 0) return
    this.#unsubscribe?.()
    this.#unsubscribeDescendants?.()
    this.#unsubscribe = undefined
    this.#unsubscribeDescendants = undefined
    this.#agent = undefined
    this.#partialReply = undefined
  }

  /** Publishes the next record of an agent that another process drives. Any other record is ignored. */
  follow(event: AgentEvent): void {
    // What is held will be told in its turn.
    if (this.#held.length === 0 && event.seq === this.#lastSeq + 1) this.#publish(new FeedEvent(event), event)
  }

  listen(listener: FeedListener, { descendants }: { readonly descendants: boolean }): () => void {
    this.#listeners.add(listener)
    if (descendants && !this.#includesDescendants) this.#subscribeToDescendants()
    return () => this.#listeners.delete(listener)
  }

  #subscribeToDescendants(): void {
    this.#includesDescendants = true
    this.#unsubscribeDescendants?.()
    this.#unsubscribeDescendants = this.#agent?.subscribe((event) => this.#takeOfDescendant(event), {
      descendants: true,
    })
  }

  /** Returns the logged events after `seq`; `undefined` if some are no longer in memory. */
  after(seq: number): readonly FeedEvent[] | undefined {
    if (seq >= this.#lastSeq) return []
    const [first] = this.#tail
    if (first === undefined || first.seq > seq + 1) return undefined
    return this.#tail.slice(seq + 1 - first.seq)
  }

  /** Returns the current reply so far, as one delta of each kind. */
  partialDeltas(view: View): string[] {
    const reply = visibleReply(this.#partialReply, view)
    if (reply === undefined) return []
    return (['thinking', 'text'] as const).flatMap((kind) =>
      reply[kind] === '' ? [] : [deltaFrame(this.agentId, { ...reply, kind, offset: 0, text: reply[kind] })],
    )
  }

  close(): void {
    this.isClosed = true
    this.#unsubscribe?.()
    this.#unsubscribeDescendants?.()
    this.#listeners.clear()
  }

  #take(event: AgentEvent): void {
    if (event.agentId === this.agentId) this.#hold(new FeedEvent(event), event)
    // Approvals of sub-agents reach their ancestors too, whose clients may have to decide.
    else if (this.#mayTell(event)) this.#hold(this.#liveEvent(event, 'approval'))
  }

  /**
   * Returns true if subscribers may receive an event. Events of incognito agents stay within feeds of incognito
   * agents, whose sub-agents are incognito too.
   */
  #mayTell(event: AgentEvent): boolean {
    return event.incognito !== true || this.incognito === true
  }

  #takeOfDescendant(event: AgentEvent): void {
    if (event.agentId !== this.agentId && this.#mayTell(event)) this.#hold(this.#liveEvent(event, 'descendant'))
  }

  #liveEvent(event: AgentEvent, scope: Scope): FeedEvent {
    return new FeedEvent(event, scope, { agentId: this.agentId, seq: this.#agent?.lastSeq ?? this.#lastSeq })
  }

  #hold(entry: FeedEvent, event?: AgentEvent): void {
    const isPending = entry.isLogged && this.#isUnwritten
    if (this.#held.length === 0 && !isPending) return this.#publish(entry, event)
    if (!entry.isLogged && this.#held.length >= maxHeld) return
    this.#held.push({ entry, event })
    if (this.#held.length === 1) void this.#release()
  }

  /** True while the store does not have the newest record. */
  get #isUnwritten(): boolean {
    const pending = this.durable()
    pending?.catch(() => {})
    return pending !== undefined
  }

  async #release(): Promise<void> {
    let isOurs = true
    while (this.#held.length > 0) {
      const count = this.#held.length
      // While the store fails, the records stay in memory until it works again.
      isOurs = (await writtenHere(this.durable())) && isOurs
      for (const { entry, event } of this.#held.slice(0, count))
        if (isOurs || !entry.isLogged) this.#publish(entry, event)
      this.#held.splice(0, count)
    }
  }

  #publish(entry: FeedEvent, event: AgentEvent | undefined): void {
    if (entry.isLogged) this.#addToTail(entry)
    if (event !== undefined) this.#updateReply(event)
    for (const listener of this.#listeners) listener(entry)
  }

  #addToTail(entry: FeedEvent): void {
    // The tail must have no gap.
    if (entry.seq !== this.#lastSeq + 1) this.#clearTail()
    this.#lastSeq = entry.seq
    this.#tail.push(entry)
    this.#tailChars += charsOf(entry)
    while (this.#tail.length > tailLength || this.#tailChars > tailChars)
      this.#tailChars -= charsOf(this.#tail.shift()!)
  }

  #clearTail(): void {
    this.#tail.length = 0
    this.#tailChars = 0
  }

  #updateReply(event: AgentEvent): void {
    if (event.type === 'reply.start') {
      this.#partialReply = { runId: event.runId, turnIndex: event.turnIndex, text: '', thinking: '' }
    } else if (event.type === 'reply.end' || event.type === 'reply.reset' || event.type === 'run.end') {
      this.#partialReply = undefined
    } else if (this.#partialReply !== undefined && event.type === 'reply.delta') this.#partialReply.text += event.text
    else if (this.#partialReply !== undefined && event.type === 'thinking.delta')
      this.#partialReply.thinking += event.text
  }
}

const charsOf = (entry: FeedEvent): number => entry.frameFor('all')?.length ?? 0

const eventFrame = (event: AgentEvent): string =>
  JSON.stringify({ type: 'event', agentId: event.agentId, seq: event.seq, event })

/** Returns a logged event as a frame. An event that a client may not see is replaced by a placeholder for its log position. */
export const loggedFrame = (event: AgentEvent, view: View, captured = true): string =>
  eventFrame(loggedEvent(event, view, captured))

/** Returns an event of the log in the form for a client. `captured`: the client wants captured requests in full. */
export function loggedEvent(event: AgentEvent, view: View, captured: boolean): AgentEvent {
  const seen = visibleEvent(event, view) ?? event
  return !captured && seen.type === 'turn.captured' ? captureApart(seen) : seen
}

/** Returns a live event after record `seq` of `agentId` as a frame. If it is too large, it is replaced by `events.dropped`. */
function liveFrame(event: AgentEvent, agentId: string, seq: number): string {
  const frame = JSON.stringify({ type: 'event', agentId, seq, event, live: true })
  if (frame.length <= maxLiveChars || event.type === 'events.dropped') return frame
  const { path, time } = event
  const at = 'runId' in event ? { runId: event.runId, turnIndex: event.turnIndex } : { runId: '', turnIndex: 0 }
  const dropped = {
    type: 'events.dropped',
    agentId: event.agentId,
    path,
    seq: event.seq,
    time,
    ...at,
    count: 1,
  } as const
  return liveFrame(dropped, agentId, seq)
}

type Delta = Omit<Extract<ServerFrame, { type: 'delta' }>, 'type' | 'agentId'>

const deltaFrame = (agentId: string, { runId, turnIndex, kind, offset, text }: Delta): string =>
  JSON.stringify({ type: 'delta', agentId, runId, turnIndex, kind, offset, text })
