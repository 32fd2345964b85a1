import { z } from 'zod'
import type { Clock } from '../protocol/clock.ts'
import { RuntimeError, type ErrorInfo } from '../protocol/errors.ts'
import type { AgentEvent } from '../protocol/events.ts'
import type { ServerFrame } from '../protocol/frames.ts'
import { readAnswer } from './answers.ts'
import { Ear, type EarOptions } from './ear.ts'
import type { Asked } from './outgoing.ts'
import type { DeltaFrame } from './deltaCutter.ts'

export type EventFrame = Extract<ServerFrame, { type: 'event' }>

/** What a feed needs of its client. */
export interface FeedOwner {
  readonly clock: Clock
  /** A question that is asked again after a reconnect. */
  ask(frame: Asked): Promise<unknown>
  /** One that belongs to the connection. */
  askHere(frame: Asked, refused: (error: RuntimeError) => void): void
  report(error: ErrorInfo): void
}

interface Waiting {
  call(): void
  refused(error: RuntimeError): void
}

const seqAnswerSchema = z.object({ seq: z.int().nonnegative() })

/** Events of one remote agent: one subscription on the wire for all its listeners, made again after every reconnect. */
export class RemoteFeed {
  readonly #agentId: string
  readonly #owner: FeedOwner
  #ears: readonly Ear[] = []
  /** Commands that wait until it is known from where on is "now". */
  #waiting: Waiting[] | undefined
  /** `seq` of the last record that came; `undefined` while nothing is subscribed to. */
  #position: number | undefined
  /** The highest `seq` that came in this subscription. */
  #known = 0
  #wired = { deltas: false, descendants: false }
  /** A new subscription was asked for, and what comes may still belong to the old one. */
  #isTurning = false
  #path: readonly string[] = []
  /** `seq` of the last record when the agent was spawned here: nothing after it shall be missed. */
  #birth: number | undefined

  constructor(agentId: string, owner: FeedOwner) {
    this.#agentId = agentId
    this.#owner = owner
  }

  /** The agent was spawned here: its first listener hears everything from there on. */
  born(seq: number): void {
    this.#birth = seq
  }

  /** `seq` of the last record that came, if somebody listens. */
  get lastSeq(): number | undefined {
    return this.#position
  }

  /** Adds a listener; returns a function that ends it. @throws RuntimeError `INVALID_OPTION`: that record is still to come. */
  add(wants: EarOptions): () => void {
    if (this.#position !== undefined && (wants.cursor ?? 0) > Math.max(this.#known, this.#position)) {
      const what = `fromSeq is ${wants.cursor! + 1}, but the log of agent "${this.#agentId}" ends with ${this.#known}.`
      throw new RuntimeError('INVALID_OPTION', what)
    }
    const ear = new Ear({ ...wants, cursor: wants.cursor ?? this.#position ?? this.#birth })
    this.#birth = undefined
    this.#ears = [...this.#ears, ear]
    if (ear.cursor === undefined) this.#findNow()
    else if (this.#isBehind(ear)) this.#wire()
    return () => {
      if (!this.#ears.includes(ear)) return
      this.#ears = this.#ears.filter((other) => other !== ear)
      if (this.#ears.length === 0) this.#unwire()
    }
  }

  /** Does something once listeners hear from now on, at once when they do; or says why they never will. */
  whenOpen(call: () => void, refused: (error: RuntimeError) => void): void {
    if (this.#waiting === undefined) call()
    else this.#waiting.push({ call, refused })
  }

  /** There is a new connection. */
  reopen(): void {
    if (this.#position !== undefined && this.#ears.length > 0) this.#wire()
  }

  hear(frame: EventFrame): void {
    const event = frame.event as AgentEvent
    if (typeof event?.type !== 'string' || this.#position === undefined) return
    const isOwn = event.agentId === this.#agentId
    if (isOwn) this.#path = event.path
    if (frame.live === true) for (const ear of this.#ears) ear.hearLive(event, frame.seq, isOwn)
    else this.#hearLogged(event, frame.seq)
  }

  hearDelta(frame: DeltaFrame): void {
    const at = { path: this.#path, seq: this.#position ?? 0, time: this.#owner.clock.now() }
    for (const ear of this.#ears) ear.hearDelta(frame, at)
  }

  /** Everything up to a record was sent; `false`: by a subscription that is no more. */
  caughtUp(seq: number): boolean {
    if (this.#position === undefined || seq > this.#position) return false
    this.#isTurning = false
    return true
  }

  /** Nothing comes any more: of the agent, or with the error because it is not heard. */
  close(error?: RuntimeError): void {
    const ears = this.#ears
    this.#ears = []
    this.#unwire()
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const ear of ears) ear.wants.ended(error)
    for (const { call, refused } of waiting)
      if (error === undefined) call()
      else refused(error)
  }

  #hearLogged(event: AgentEvent, seq: number): void {
    const next = this.#position! + 1
    this.#known = Math.max(this.#known, seq)
    // Of the old subscription, or again.
    if (seq < next || (seq > next && this.#isTurning)) return
    if (seq > next) return this.#wire()
    this.#isTurning = false
    this.#position = seq
    for (const ear of this.#ears) ear.hearLogged(event, seq)
    if (event.type === 'agent.stopped') this.close()
  }

  #isBehind({ cursor, wants }: Ear): boolean {
    const { deltas, descendants } = this.#wired
    if (this.#position === undefined || cursor! < this.#position) return true
    return (wants.deltas && !deltas) || (wants.descendants && !descendants)
  }

  /** Subscribes from where the last of its listeners is. */
  #wire(): void {
    const ears = this.#ears.filter(({ cursor }) => cursor !== undefined)
    if (ears.length === 0) return
    const from = Math.min(...ears.map(({ cursor }) => cursor!))
    this.#position = from
    this.#isTurning = true
    this.#wired = {
      deltas: ears.some(({ wants }) => wants.deltas),
      descendants: ears.some(({ wants }) => wants.descendants),
    }
    const frame = { type: 'agent.subscribe', agentId: this.#agentId, fromSeq: from + 1, ...this.#wired } as const
    this.#owner.askHere(frame, (error) => this.#refused(error, from))
  }

  #unwire(): void {
    if (this.#position === undefined) return
    this.#position = undefined
    this.#known = 0
    this.#owner.askHere({ type: 'agent.unsubscribe', agentId: this.#agentId }, () => {})
  }

  #findNow(): void {
    if (this.#waiting !== undefined) return
    this.#waiting = []
    this.#owner
      .ask({ type: 'agent.snapshot', agentId: this.#agentId })
      .then((answer) => this.#isNow(readAnswer(seqAnswerSchema, answer).seq))
      .catch((error: unknown) => this.close(error as RuntimeError))
  }

  #isNow(seq: number): void {
    for (const ear of this.#ears) ear.cursor ??= seq
    if (this.#ears.some((ear) => this.#isBehind(ear))) this.#wire()
    this.#release()
  }

  #release(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const { call } of waiting) call()
  }

  /** The server's log ends before what was heard of it: it lost what it had said. The log is the truth. */
  #refused(error: RuntimeError, from: number): void {
    if (this.#position === undefined) return
    const isAhead = error.code === 'INVALID_OPTION' && this.#ears.some(({ wants }) => wants.cursor !== from)
    if (!isAhead) return this.close(error)
    this.#owner.report({ code: error.code, message: error.message })
    this.#position = undefined
    for (const ear of this.#ears) ear.cursor = ear.wants.rereads ? 0 : undefined
    this.#findNow()
  }
}
