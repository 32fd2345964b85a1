import type { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { HostDraft, Journal } from './journal.ts'
import type { InputRecord } from './replica.ts'

interface Acknowledged {
  resolve(): void
  reject(error: unknown): void
}

/** The host of a machine, as its events know it. */
interface Taker {
  /** Takes an event that the store has. */
  take(record: InputRecord): void
  /** Called when all were taken. */
  rest(): void
  /** Called when the log cannot be written. */
  fail(error: RuntimeError): void
}

/** The events of one machine: each is recorded, and taken once the store has it, in the order of the log. */
export class Inbox {
  readonly #journal: Journal
  readonly #taker: Taker
  readonly #acks = new Map<number, Acknowledged>()
  #waiting: InputRecord[] = []
  /** Number of events that were not taken yet. */
  #untaken = 0
  #pumping: Promise<void> | undefined
  #isOpen = true

  constructor(journal: Journal, taker: Taker) {
    this.#journal = journal
    this.#taker = taker
  }

  /** Number of events that wait. */
  get length(): number {
    return this.#untaken
  }

  /** True while events wait or are taken. */
  get isBusy(): boolean {
    return this.#waiting.length > 0 || this.#pumping !== undefined
  }

  /** Records an event. */
  accept(draft: Extract<HostDraft, { type: 'host.event' | 'host.effect.end' }>): InputRecord {
    const record: InputRecord = this.#journal.append(draft)
    this.#waiting.push(record)
    this.#untaken += 1
    if (this.#isOpen) this.#pumping ??= this.#pump()
    return record
  }

  /** Resolves once an accepted event was taken, or is in the store for whoever opens the machine next. */
  taken({ seq }: InputRecord): Promise<void> {
    const { promise, ...ack } = Promise.withResolvers<void>()
    this.#acks.set(seq, ack)
    return promise
  }

  /** Takes no more: events that come are only recorded. Resolves once none is being taken. Never rejects. */
  async close(): Promise<void> {
    this.#isOpen = false
    await this.#pumping
  }

  /** Tells those who wait still for an event that the machine has ended. */
  end(reason: RuntimeError | undefined): void {
    this.#isOpen = false
    for (const { resolve, reject } of this.#acks.values()) {
      if (reason === undefined) resolve()
      else reject(reason)
    }
    this.#acks.clear()
  }

  /** Never rejects. */
  async #pump(): Promise<void> {
    try {
      while (this.#waiting.length > 0 && this.#isOpen) {
        const batch = this.#waiting
        this.#waiting = []
        await this.#journal.durable()
        for (const record of batch) {
          this.#untaken -= 1
          // Whoever waits for it goes on after this step, in which it is taken.
          this.#acks.get(record.seq)?.resolve()
          this.#acks.delete(record.seq)
          if (this.#isOpen) this.#taker.take(record)
        }
      }
    } catch (thrown) {
      this.#taker.fail(thrown as RuntimeError)
    } finally {
      this.#pumping = undefined
      this.#taker.rest()
    }
  }
}
