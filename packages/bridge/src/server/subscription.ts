import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { eventOf } from '../../../../src/protocol/events.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { loggedFrame, type Feed, type FeedEvent } from './feed.ts'
import type { Outbox } from './outbox.ts'
import type { View } from './visible.ts'

/** Options of a subscription. */
export interface Wanted {
  readonly fromSeq: number
  readonly deltas: boolean
  readonly descendants: boolean
  readonly requests: boolean
  /** True to receive captured requests of the log in full. */
  readonly captured: boolean
}

/** Maximum number of consecutive reads of the log that find none of the records that the store claims to have. */
const maxEmptyReads = 3
/** Delay before a store that failed is read again, in milliseconds. */
const retryMs = 1_000

interface Parts {
  readonly feed: Feed
  readonly store: Pick<Store, 'read'>
  readonly clock: Clock
  readonly outbox: Outbox
  readonly wanted: Wanted
  readonly view: View
  /** Called when the log cannot be read. */
  readonly fail: (thrown: unknown) => void
}

/**
 * One client's position in one agent's log. It reads from the log, then from the feed, without gaps or repeats. A slow
 * client is sent `lagging`, and gets the missed records from the log once it has caught up. Nothing is queued for it.
 */
export class Subscription {
  readonly #parts: Parts
  #cursor: number
  /** State of the subscription. `lagging`: it catches up, and the client was told that it reads slowly. */
  #state: 'catchingUp' | 'lagging' | 'live' | 'closed' = 'catchingUp'
  #emptyReads = 0
  readonly #unlisten: () => void
  #forget: () => void = () => {}

  constructor(parts: Parts) {
    this.#parts = parts
    this.#cursor = parts.wanted.fromSeq - 1
    this.#unlisten = parts.feed.listen((event) => this.#take(event), parts.wanted)
    void this.#catchUp()
  }

  /** True if the subscription is closed. It is a getter because the state may change during each await. */
  get #isClosed(): boolean {
    return this.#state === 'closed'
  }

  close(): void {
    this.#state = 'closed'
    this.#unlisten()
    this.#forget()
  }

  #take(event: FeedEvent): void {
    const { outbox } = this.#parts
    if (this.#state !== 'live' || !this.#wants(event)) return
    // A record that arrived while the log was being read has been sent already.
    if (event.isLogged && event.seq <= this.#cursor) return
    if (outbox.isFull) return this.#lag()
    if (event.isLogged && event.seq > this.#cursor + 1) {
      // The agent ran elsewhere for a while: what is missing is in the log.
      this.#state = 'catchingUp'
      return void this.#catchUp()
    }
    if (event.isLogged) this.#cursor = event.seq
    const frame = event.frameFor(this.#parts.view, this.#parts.wanted.captured)
    if (frame !== undefined) outbox.send(frame)
  }

  #wants({ scope, isDelta, isRequest }: FeedEvent): boolean {
    const { deltas, descendants, requests } = this.#parts.wanted
    if (isRequest && !requests) return false
    if (isDelta && !deltas) return false
    return scope === 'own' || (scope === 'descendant') === descendants
  }

  #lag(): void {
    this.#reportLagging()
    this.#forget = this.#parts.outbox.onDrain(() => void this.#catchUp())
  }

  #reportLagging(): void {
    if (this.#state === 'lagging' || this.#state === 'closed') return
    this.#state = 'lagging'
    this.#send({ type: 'lagging', agentId: this.#parts.feed.agentId, seq: this.#cursor })
  }

  /** Resolves once the client has caught up or is gone. */
  #drained(): Promise<void> {
    this.#reportLagging()
    return new Promise((resolve) => {
      const forget = this.#parts.outbox.onDrain(resolve)
      this.#forget = () => {
        forget()
        resolve()
      }
    })
  }

  /** Sends the missing records, from the feed's tail or else from the log, and goes live. */
  async #catchUp(): Promise<void> {
    const { feed, outbox, wanted, view } = this.#parts
    try {
      for (;;) {
        if (this.#isClosed) return
        if (outbox.isFull) return this.#lag()
        const tail = feed.after(this.#cursor)
        if (tail === undefined) await this.#readLog()
        else
          for (const event of tail) if (!this.#sendNext(event.seq, () => event.frameFor(view, wanted.captured))) break
        if (this.#cursor >= feed.lastSeq && !outbox.isFull) break
      }
      if (this.#isClosed) return
      this.#state = 'live'
      this.#send({ type: 'caughtUp', agentId: feed.agentId, seq: this.#cursor })
      if (wanted.deltas) for (const frame of feed.partialDeltas(view)) outbox.send(frame)
    } catch (thrown) {
      if (!this.#isClosed) this.#parts.fail(thrown)
    }
  }

  async #readLog(): Promise<void> {
    const { feed, store, view, wanted } = this.#parts
    const { agentId } = feed
    const before = this.#cursor
    for await (const record of store.read(agentId, this.#cursor + 1)) {
      // The read is continued, not restarted: starting over each time would take ever longer.
      while (this.#parts.outbox.isFull && !this.#isClosed) await this.#drained()
      if (!this.#sendNext(record.seq, () => loggedFrame(eventOf(record, feed), view, wanted.captured))) return
    }
    if (this.#cursor > before) this.#emptyReads = 0
    else await this.#written()
  }

  /** Waits until the store has the missing records. */
  async #written(): Promise<void> {
    const { feed } = this.#parts
    const pending = feed.durable()
    if (pending === undefined && (this.#emptyReads += 1) > maxEmptyReads) {
      const what = `The log of agent "${feed.agentId}" ends with ${this.#cursor}, not ${feed.lastSeq}.`
      throw new RuntimeError('LOG_CORRUPT', what)
    }
    try {
      await (pending ?? new Promise((resolve) => setImmediate(resolve)))
    } catch {
      await this.#pause()
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.after(retryMs, resolve)
      this.#forget = () => {
        cancel()
        resolve()
      }
    })
  }

  /** Sends the record after the cursor; returns `false` if no more should be sent for now. */
  #sendNext(seq: number, frameOf: () => string | undefined): boolean {
    if (this.#isClosed || this.#parts.outbox.isFull) return false
    if (seq <= this.#cursor) return true
    this.#cursor = seq
    const frame = frameOf()
    if (frame !== undefined) this.#parts.outbox.send(frame)
    return true
  }

  #send(frame: object): void {
    this.#parts.outbox.send(JSON.stringify(frame))
  }
}
