import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { RuntimeError, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { AgentEvent, EventOrigin } from '../../../../src/protocol/events.ts'
import type { ServerFrame } from '../../../wire/src/frames.ts'
import { readAnswer } from './answers.ts'
import { FeedListener, type DeltaFrame, type ListenerOptions } from './feedListener.ts'
import type { Asked } from './outgoing.ts'
import { count, fields } from './shape.ts'

export type EventFrame = Extract<ServerFrame, { type: 'event' }>

/** Functions of the client that a feed uses. */
export interface FeedOwner {
  readonly clock: Clock
  /** Sends a query, and repeats it after a reconnect. */
  ask(frame: Asked): Promise<unknown>
  /** Sends a query that is not repeated after a reconnect. */
  askOnce(frame: Asked, refused: (error: RuntimeError) => void): void
  report(error: ErrorInfo): void
  /** Returns the `seq` of the last known record of an agent without listeners. */
  knownSeq?(agentId: string): number | undefined
}

/** The current subscription. */
interface Subscription {
  /** `seq` of the last received record. */
  position: number
  readonly deltas: boolean
  readonly descendants: boolean
  readonly requests: boolean
  readonly captured: boolean
  /** State of the subscription. `opening`: events may still belong to the previous one. `live`: the log has been delivered. */
  state: 'opening' | 'open' | 'live'
}

interface Waiting {
  call(): void
  refused(error: RuntimeError): void
}

const seqAnswerShape = fields<{ readonly seq: number }>({ seq: count })

/** Events of one remote agent: one subscription for all its listeners, renewed after every reconnect. */
export class RemoteFeed {
  readonly #agentId: string
  readonly #owner: FeedOwner
  #listeners: readonly FeedListener[] = []
  /** Callbacks that wait until the end of the log is known; `undefined` once it is. */
  #waiting: Waiting[] | undefined
  #subscription: Subscription | undefined
  /** The highest `seq` received while subscribed. */
  #maxSeq = 0
  /** Fields that all events of the agent share; pieces of replies arrive without them. */
  #origin: Pick<EventOrigin, 'path' | 'incognito'> = { path: [] }
  /** `seq` of the last record if this client spawned the agent. No event after it may be missed. */
  #spawnSeq: number | undefined

  constructor(agentId: string, owner: FeedOwner) {
    this.#agentId = agentId
    this.#owner = owner
  }

  /** Notes that the agent was spawned here. Its first listener starts after this record. */
  spawned(seq: number): void {
    this.#spawnSeq = seq
  }

  /** `seq` of the last received record, while there are listeners. */
  get lastSeq(): number | undefined {
    return this.#subscription?.position
  }

  /** Adds a listener. Returns a function that removes it. @throws RuntimeError `INVALID_OPTION` if its first record does not exist yet */
  add(wants: ListenerOptions): () => void {
    const { position } = this.#subscription ?? {}
    if (position !== undefined && (wants.cursor ?? 0) > Math.max(this.#maxSeq, position)) {
      const what = `fromSeq is ${wants.cursor! + 1}, but the log of agent "${this.#agentId}" ends with ${this.#maxSeq}.`
      throw new RuntimeError('INVALID_OPTION', what)
    }
    const listener = new FeedListener({ ...wants, cursor: wants.cursor ?? position ?? this.#known() })
    this.#spawnSeq = undefined
    this.#listeners = [...this.#listeners, listener]
    if (listener.cursor === undefined) this.#findEnd()
    else if (this.#isBehind(listener)) this.#subscribe()
    else if (this.#subscription?.state === 'live') queueMicrotask(() => this.#tellCaughtUp([listener]))
    return () => {
      if (!this.#listeners.includes(listener)) return
      this.#listeners = this.#listeners.filter((other) => other !== listener)
      if (this.#listeners.length === 0) this.#unsubscribe()
    }
  }

  #known(): number | undefined {
    return this.#spawnSeq ?? this.#owner.knownSeq?.(this.#agentId)
  }

  /** Calls `call` once listeners know where to start, possibly immediately, or `refused` if they never will. */
  whenOpen(call: () => void, refused: (error: RuntimeError) => void): void {
    if (this.#waiting === undefined) call()
    else this.#waiting.push({ call, refused })
  }

  /** Subscribes again after a reconnect, if there are listeners. */
  reopen(): void {
    if (this.#subscription !== undefined && this.#listeners.length > 0) this.#subscribe()
  }

  take(frame: EventFrame): void {
    const event = frame.event as AgentEvent
    const subscription = this.#subscription
    if (typeof event?.type !== 'string' || subscription === undefined) return
    const isOwn = event.agentId === this.#agentId
    if (isOwn) this.#origin = originOf(event)
    if (frame.live === true) for (const listener of this.#listeners) listener.takeLive(event, frame.seq, isOwn)
    else this.#takeLogged(subscription, event, frame.seq)
  }

  takeDelta(frame: DeltaFrame): void {
    // Of an earlier subscription: what there is of the reply comes once the log has.
    if (this.#subscription?.state !== 'live') return
    const at = { ...this.#origin, seq: this.#subscription.position, time: this.#owner.clock.now() }
    for (const listener of this.#listeners) listener.takeDelta(frame, at)
  }

  /** Handles the notice that everything up to a record was sent. Returns `false` if that was by an earlier subscription. */
  caughtUp(seq: number): boolean {
    if (this.#subscription === undefined || seq > this.#subscription.position) return false
    this.#subscription.state = 'live'
    this.#tellCaughtUp(this.#listeners)
    return true
  }

  /** Ends the listeners when no more events will come: the agent has ended or, with an error, cannot be read. */
  close(error?: RuntimeError): void {
    const listeners = this.#listeners
    this.#listeners = []
    this.#unsubscribe()
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const listener of listeners) listener.wants.onEnd(error)
    for (const { call, refused } of waiting)
      if (error === undefined) call()
      else refused(error)
  }

  #takeLogged(subscription: Subscription, event: AgentEvent, seq: number): void {
    const next = subscription.position + 1
    this.#maxSeq = Math.max(this.#maxSeq, seq)
    // From the previous subscription, or a repeat.
    if (seq < next || (seq > next && subscription.state === 'opening')) return
    if (seq > next) return this.#subscribe()
    if (subscription.state === 'opening') subscription.state = 'open'
    subscription.position = seq
    for (const listener of this.#listeners) listener.takeLogged(event, seq)
    if (event.type === 'agent.stopped') this.close()
  }

  #tellCaughtUp(listeners: readonly FeedListener[]): void {
    for (const listener of listeners)
      if (listener.cursor !== undefined && this.#listeners.includes(listener)) listener.wants.onCaughtUp?.()
  }

  #isBehind({ cursor, wants }: FeedListener): boolean {
    const subscription = this.#subscription
    if (subscription === undefined || cursor! < subscription.position) return true
    return (['deltas', 'descendants', 'requests', 'captured'] as const).some(
      (part) => wants[part] && !subscription[part],
    )
  }

  /** Subscribes from the position of the listener that is furthest behind. */
  #subscribe(): void {
    const listeners = this.#listeners.filter(({ cursor }) => cursor !== undefined)
    if (listeners.length === 0) return
    const from = Math.min(...listeners.map(({ cursor }) => cursor!))
    const deltas = listeners.some(({ wants }) => wants.deltas)
    const descendants = listeners.some(({ wants }) => wants.descendants)
    const requests = listeners.some(({ wants }) => wants.requests)
    const captured = listeners.some(({ wants }) => wants.captured)
    this.#subscription = { position: from, deltas, descendants, requests, captured, state: 'opening' }
    // A server of an older version does not know these words.
    const more = { ...(requests ? { requests } : {}), ...(captured ? {} : { captured }) }
    const frame = {
      type: 'agent.subscribe',
      agentId: this.#agentId,
      fromSeq: from + 1,
      deltas,
      descendants,
      ...more,
    } as const
    this.#owner.askOnce(frame, (error) => this.#refused(error, from))
  }

  #unsubscribe(): void {
    if (this.#subscription === undefined) return
    this.#subscription = undefined
    this.#maxSeq = 0
    this.#owner.askOnce({ type: 'agent.unsubscribe', agentId: this.#agentId }, () => {})
  }

  #findEnd(): void {
    if (this.#waiting !== undefined) return
    this.#waiting = []
    this.#owner
      .ask({ type: 'agent.snapshot', agentId: this.#agentId })
      .then((answer) => this.#startAt(readAnswer(seqAnswerShape, answer).seq))
      .catch((error: unknown) => this.close(error as RuntimeError))
  }

  #startAt(seq: number): void {
    for (const listener of this.#listeners) listener.cursor ??= seq
    if (this.#listeners.some((listener) => this.#isBehind(listener))) this.#subscribe()
    this.#release()
  }

  #release(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const { call } of waiting) call()
  }

  /** Handles a server's log that ends before records it had sent. The server has lost them, and the log is authoritative. */
  #refused(error: RuntimeError, from: number): void {
    if (this.#subscription === undefined) return
    const isAhead = error.code === 'INVALID_OPTION' && this.#listeners.some(({ wants }) => wants.cursor !== from)
    if (!isAhead) return this.close(error)
    this.#owner.report({ code: error.code, message: error.message })
    this.#subscription = undefined
    for (const listener of this.#listeners) listener.cursor = listener.wants.rereads ? 0 : undefined
    this.#findEnd()
  }
}

const originOf = ({ path, incognito }: AgentEvent): Pick<EventOrigin, 'path' | 'incognito'> =>
  incognito === undefined ? { path } : { path, incognito }
