import { toErrorInfo } from '../../protocol/errors.ts'
import { eventOf } from '../../protocol/events.ts'
import type { Store } from '../../protocol/store.ts'
import type { Feed, FedEvent } from './feed.ts'
import type { Outbox } from './outbox.ts'

/** What a subscription wants. */
export interface Wanted {
  readonly fromSeq: number
  readonly deltas: boolean
}

/**
 * One agent as one client reads it, by cursor: from the log, then from the feed, with no gap and no repeat. A client that reads
 * slowly is told so and gets what it missed from the log again once it has read; nothing is queued for it.
 */
export class Subscription {
  readonly #feed: Feed
  readonly #store: Store
  readonly #outbox: Outbox
  readonly #wanted: Wanted
  readonly #fail: (code: string, message: string) => void
  #cursor: number
  #isLive = false
  #isClosed = false
  #isLagging = false
  #unlisten: () => void
  #forget: () => void = () => {}

  constructor(parts: {
    readonly feed: Feed
    readonly store: Store
    readonly outbox: Outbox
    readonly wanted: Wanted
    readonly fail: (code: string, message: string) => void
  }) {
    this.#feed = parts.feed
    this.#store = parts.store
    this.#outbox = parts.outbox
    this.#wanted = parts.wanted
    this.#fail = parts.fail
    this.#cursor = parts.wanted.fromSeq - 1
    this.#unlisten = this.#feed.listen((fed) => this.#take(fed))
    void this.#catchUp()
  }

  close(): void {
    this.#isClosed = true
    this.#unlisten()
    this.#forget()
  }

  #take(fed: FedEvent): void {
    if (!this.#isLive) return
    if (this.#outbox.isFull) return this.#lag()
    if (fed.isLogged) {
      // A record that came while the log was read is there already.
      if (fed.seq <= this.#cursor) return
      this.#cursor = fed.seq
    } else if (!this.#wanted.deltas && fed.event.type.endsWith('.delta')) return
    this.#outbox.send(fed.frame)
  }

  #lag(): void {
    this.#isLive = false
    if (!this.#isLagging) {
      this.#isLagging = true
      this.#send({ type: 'lagging', agentId: this.#feed.agent.id, seq: this.#cursor })
    }
    this.#forget = this.#outbox.onDrain(() => void this.#catchUp())
  }

  /** Sends what is missing, from the feed's tail or else from the log, and goes live. */
  async #catchUp(): Promise<void> {
    try {
      for (;;) {
        const tail = this.#feed.after(this.#cursor)
        if (tail === undefined) await this.#readLog()
        else for (const fed of tail) if (!this.#sendNext(fed)) break
        if (this.#isClosed) return
        if (this.#outbox.isFull) return this.#lag()
        if (this.#cursor >= this.#feed.lastSeq) break
      }
      this.#isLive = true
      this.#isLagging = false
      this.#send({ type: 'caughtUp', agentId: this.#feed.agent.id, seq: this.#cursor })
      if (this.#wanted.deltas) for (const frame of this.#feed.growing()) this.#outbox.send(frame)
    } catch (thrown) {
      const { code, message } = toErrorInfo(thrown, 'STORE_READ_FAILED')
      if (!this.#isClosed) this.#fail(code, message)
    }
  }

  async #readLog(): Promise<void> {
    const { id: agentId, path } = this.#feed.agent
    const before = this.#cursor
    for await (const record of this.#store.read(agentId, this.#cursor + 1)) {
      const frame = JSON.stringify({
        type: 'event',
        agentId,
        seq: record.seq,
        event: eventOf(record, { agentId, path }),
      })
      if (!this.#sendNext({ seq: record.seq, frame })) return
    }
    // What is not in the log yet is in the tail, unless the tail has moved on meanwhile.
    if (this.#cursor === before) await new Promise((resolve) => setImmediate(resolve))
  }

  /** Sends the record after the cursor; `false`: no more for now. */
  #sendNext({ seq, frame }: Pick<FedEvent, 'seq' | 'frame'>): boolean {
    if (this.#isClosed || this.#outbox.isFull) return false
    if (seq <= this.#cursor) return true
    this.#cursor = seq
    this.#outbox.send(frame)
    return true
  }

  #send(frame: object): void {
    this.#outbox.send(JSON.stringify(frame))
  }
}
