import type { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { HostDraft, Journal } from './journal.ts'
import type { InputRecord } from './replica.ts'

interface Acknowledged {
  resolve(): void
  reject(error: unknown): void
}

/** The host of a machine, as its inbox uses it. */
interface Taker {
  /** Takes an event that is in the store. */
  take(record: InputRecord): void
  /** Called when no events are left to take. */
  rest(): void
  /** Called when the log cannot be written. */
  fail(error: RuntimeError): void
}

/** Records the events of one machine, and has each taken once it is in the store, in the order of the log. */
export class Inbox {
  readonly #journal: Journal
  readonly #taker: Taker
  readonly #acks = new Map<number, Acknowledged>()
  #waiting: InputRecord[] = []
  /** Number of events not taken yet. */
  #untaken = 0
  #pumping: Promise<void> | undefined
  #isOpen = true

  constructor(journal: Journal, taker: Taker) {
    this.#journal = journal
    this.#taker = taker
  }

  /** Number of events that are recorded but not taken yet. */
  get length(): number {
    return this.#untaken
  }

  /** True while events wait or are being taken. */
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

  /** Resolves once an accepted event was taken, or is stored for the process that opens the machine next. */
  taken({ seq }: InputRecord): Promise<void> {
    const { promise, ...ack } = Promise.withResolvers<void>()
    this.#acks.set(seq, ack)
    return promise
  }

  /** Stops taking events: later ones are only recorded. Resolves once no event is being taken. Never rejects. */
  async close(): Promise<void> {
    this.#isOpen = false
    await this.#pumping
  }

  /** Settles the promises of those that still wait for an event, because the machine has ended. */
  end(reason: RuntimeError | undefined): void {
    this.#isOpen = false
    for (const { resolve, reject } of this.#acks.values()) {
      if (reason === undefined) resolve()
      else reject(reason)
    }
    this.#acks.clear()
  }

  /** Takes the recorded events one by one. Never rejects. */
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
