import type { Clock } from '../../protocol/clock.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import { eventOf } from '../../protocol/events.ts'
import type { Store } from '../../protocol/store.ts'
import { loggedFrame } from './feed.ts'
import type { Outbox } from './outbox.ts'
import type { FedEvent, Source } from './source.ts'

/** What a subscription wants. */
export interface Wanted {
  readonly fromSeq: number
  readonly deltas: boolean
  readonly descendants: boolean
}

/** Readings of the log that may find nothing of what the store says it has. */
const mostFruitless = 3
/** Until a store that failed is asked again, in milliseconds. */
const retryMs = 1_000

interface Parts {
  readonly source: Source
  readonly store: Store
  readonly clock: Clock
  readonly outbox: Outbox
  readonly wanted: Wanted
  /** The log cannot be read. */
  readonly fail: (thrown: unknown) => void
}

/**
 * One agent as one client reads it, by cursor: from the log, then from the feed, with no gap and no repeat. A client that reads
 * slowly is told so and gets what it missed from the log again once it has read; nothing is queued for it.
 */
export class Subscription {
  readonly #parts: Parts
  #cursor: number
  #isLive = false
  #isClosed = false
  #isLagging = false
  #fruitless = 0
  readonly #unlisten: () => void
  #forget: () => void = () => {}

  constructor(parts: Parts) {
    this.#parts = parts
    this.#cursor = parts.wanted.fromSeq - 1
    this.#unlisten = parts.source.listen((fed) => this.#take(fed), parts.wanted)
    void this.#catchUp()
  }

  close(): void {
    this.#isClosed = true
    this.#unlisten()
    this.#forget()
  }

  #take(fed: FedEvent): void {
    const { outbox } = this.#parts
    if (!this.#isLive || !this.#wants(fed)) return
    // A record that came while the log was read is there already.
    if (fed.isLogged && fed.seq <= this.#cursor) return
    if (outbox.isFull) return this.#lag()
    if (fed.isLogged && fed.seq > this.#cursor + 1) return this.#fallBack()
    if (fed.isLogged) this.#cursor = fed.seq
    outbox.send(fed.frame)
  }

  #wants({ scope, isDelta }: FedEvent): boolean {
    const { deltas, descendants } = this.#parts.wanted
    if (isDelta && !deltas) return false
    return scope === 'own' || (scope === 'family') === descendants
  }

  /** The agent lived elsewhere for a while: what is missing is in the log. */
  #fallBack(): void {
    this.#isLive = false
    void this.#catchUp()
  }

  #lag(): void {
    this.#isLive = false
    this.#sayLagging()
    this.#forget = this.#parts.outbox.onDrain(() => void this.#catchUp())
  }

  #sayLagging(): void {
    if (this.#isLagging) return
    this.#isLagging = true
    this.#send({ type: 'lagging', agentId: this.#parts.source.agentId, seq: this.#cursor })
  }

  /** Resolves once the client has read, or is gone. */
  #drained(): Promise<void> {
    this.#sayLagging()
    return new Promise((resolve) => {
      const forget = this.#parts.outbox.onDrain(resolve)
      this.#forget = () => {
        forget()
        resolve()
      }
    })
  }

  /** Sends what is missing, from the feed's tail or else from the log, and goes live. */
  async #catchUp(): Promise<void> {
    const { source, outbox, wanted } = this.#parts
    try {
      for (;;) {
        if (this.#isClosed) return
        if (outbox.isFull) return this.#lag()
        const tail = source.after(this.#cursor)
        if (tail === undefined) await this.#readLog()
        else for (const fed of tail) if (!this.#sendNext(fed)) break
        if (this.#cursor >= source.lastSeq && !outbox.isFull) break
      }
      if (this.#isClosed) return
      this.#isLive = true
      this.#isLagging = false
      this.#send({ type: 'caughtUp', agentId: source.agentId, seq: this.#cursor })
      if (wanted.deltas) for (const frame of source.growing()) outbox.send(frame)
    } catch (thrown) {
      if (!this.#isClosed) this.#parts.fail(thrown)
    }
  }

  async #readLog(): Promise<void> {
    const { source, store } = this.#parts
    const { agentId, path } = source
    const before = this.#cursor
    for await (const record of store.read(agentId, this.#cursor + 1)) {
      const frame = loggedFrame(eventOf(record, { agentId, path }))
      // The reading goes on where it is: a log read anew from its beginning each time would take ever longer.
      while (this.#parts.outbox.isFull && !this.#isClosed) await this.#drained()
      if (!this.#sendNext({ seq: record.seq, frame })) return
    }
    if (this.#cursor > before) this.#fruitless = 0
    else await this.#written()
  }

  /** Waits until the store has what it did not have yet. */
  async #written(): Promise<void> {
    const { source } = this.#parts
    const pending = source.durable()
    if (pending === undefined && (this.#fruitless += 1) > mostFruitless) {
      const what = `The log of agent "${source.agentId}" ends with ${this.#cursor}, not ${source.lastSeq}.`
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

  /** Sends the record after the cursor; `false`: no more for now. */
  #sendNext({ seq, frame }: Pick<FedEvent, 'seq' | 'frame'>): boolean {
    if (this.#isClosed || this.#parts.outbox.isFull) return false
    if (seq <= this.#cursor) return true
    this.#cursor = seq
    this.#parts.outbox.send(frame)
    return true
  }

  #send(frame: object): void {
    this.#parts.outbox.send(JSON.stringify(frame))
  }
}
