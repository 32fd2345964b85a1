import { messageOf, RuntimeError, type ErrorInfo } from '../../protocol/errors.ts'
import type { LogRecord } from '../../protocol/records.ts'
import { stored, type Store } from '../../protocol/store.ts'

interface Waiter {
  readonly seq: number
  resolve(): void
  reject(error: unknown): void
}

/** Whose log it is, and who hears that it cannot be written. */
export interface LogOwner {
  readonly agentId: string
  storeFailed(error: ErrorInfo): void
}

const nothing: readonly LogRecord[] = Object.freeze([])

/**
 * Writes one agent's records to the store, in order, those of one tick together. A store that has stored a batch as it answers
 * (`stored`) gets the next one as soon as somebody waits for it, and nobody waits. After a failure it keeps what was not
 * acknowledged and stands still until `written` is asked for, which sends the same batch again: the store may have it, and only its answer
 * was lost.
 */
export class LogWriter {
  readonly #store: Store
  readonly #owner: LogOwner
  #pending: LogRecord[] | undefined
  /** Sent and not acknowledged; what came later is never added to it. */
  #batch = nothing
  #waiters: Waiter[] | undefined
  #lastSeq: number
  #writtenSeq: number
  /** `due`: in the next microtask, or as soon as somebody waits. */
  #phase: 'resting' | 'due' | 'writing' = 'resting'
  /** Whether the store had stored the last batch as it answered: taken for granted until it shows. */
  #isQuick = true
  #failure: RuntimeError | undefined

  /** `seq`: of the last record that is in the store already. */
  constructor(store: Store, owner: LogOwner, seq = 0) {
    this.#store = store
    this.#owner = owner
    this.#lastSeq = seq
    this.#writtenSeq = seq
  }

  append(record: LogRecord): void {
    if (this.#pending === undefined) this.#pending = [record]
    else this.#pending.push(record)
    this.#lastSeq = record.seq
    if (this.#phase === 'resting' && this.#failure === undefined) this.#start()
  }

  /** Resolves once all records so far are in the store; `undefined` when they are. Rejects with the store's error. */
  durable(): Promise<void> | undefined {
    const seq = this.#lastSeq
    if (this.#isQuick && this.#phase === 'due') this.#write()
    if (seq <= this.#writtenSeq) return undefined
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => (this.#waiters ??= []).push({ seq, resolve, reject }))
  }

  /** Resolves once all records so far are in the store; writes again what a failure left over. Rejects when it fails again. */
  async written(): Promise<void> {
    if (this.#failure !== undefined) {
      this.#failure = undefined
      this.#start()
    }
    await this.durable()
  }

  /** The last writing: as `written`, but what the store can never take is given up, and all that follows it. */
  async finish(): Promise<void> {
    try {
      await this.written()
    } catch (thrown) {
      if (!this.isStuck) throw thrown
      await this.#giveUp()
    }
  }

  /** The store can never take what is to be written next: it was told so. */
  get isStuck(): boolean {
    return this.#failure?.code === 'RECORD_TOO_LARGE'
  }

  /** What stands before what is given up is written, and that the agent was stopped for good. */
  async #giveUp(): Promise<void> {
    const records = [...this.#batch, ...(this.#pending ?? nothing)]
    this.#batch = nothing
    this.#pending = undefined
    const last = records.at(-1)
    for (const record of records) if (!(await this.#takes(record))) break
    if (last?.type === 'agent.stopped' && last.seq !== this.#writtenSeq)
      await this.#takes({ ...last, seq: this.#writtenSeq + 1 })
  }

  async #takes(record: LogRecord): Promise<boolean> {
    try {
      await this.#send([record])
    } catch (thrown) {
      if (thrown instanceof RuntimeError && thrown.code === 'RECORD_TOO_LARGE') return false
      throw thrown
    }
    this.#writtenSeq = record.seq
    return true
  }

  #start(): void {
    this.#phase = 'due'
    queueMicrotask(() => this.#write())
  }

  /** Writes what is due. Ends at once as long as the store does. */
  #write(): void {
    // Somebody may have waited for it since it was due.
    if (this.#phase !== 'due') return
    this.#phase = 'writing'
    while (this.#takeBatch()) {
      const answer = this.#send(this.#batch)
      this.#isQuick = answer === stored
      if (!this.#isQuick) {
        void this.#acknowledge(answer)
        return
      }
      this.#wrote()
    }
    this.#phase = 'resting'
  }

  /** What a failure left over, else what has come since; `false` when there is nothing to send. */
  #takeBatch(): boolean {
    if (this.#batch.length > 0) return true
    if (this.#pending === undefined) return false
    this.#batch = this.#pending
    this.#pending = undefined
    return true
  }

  /** Never throws, whatever the store does. */
  #send(records: readonly LogRecord[]): Promise<void> {
    try {
      const answer: Promise<void> | undefined = this.#store.append(this.#owner.agentId, records)
      // Whether it stored them is not known, and may be found out too late.
      if (typeof answer?.then !== 'function')
        throw new RuntimeError('STORE_APPEND_FAILED', 'The store answered an append with no promise.')
      return answer
    } catch (thrown) {
      const error = thrown as Error
      return Promise.reject(error)
    }
  }

  async #acknowledge(answer: Promise<void>): Promise<void> {
    try {
      await answer
    } catch (thrown) {
      this.#fail(thrown)
      return
    }
    this.#wrote()
    this.#phase = 'due'
    this.#write()
  }

  #wrote(): void {
    this.#writtenSeq = this.#batch.at(-1)!.seq
    this.#batch = nothing
    while (this.#waiters !== undefined && this.#waiters[0]!.seq <= this.#writtenSeq) {
      this.#waiters.shift()!.resolve()
      if (this.#waiters.length === 0) this.#waiters = undefined
    }
  }

  #fail(thrown: unknown): void {
    this.#phase = 'resting'
    const failure =
      thrown instanceof RuntimeError
        ? thrown
        : new RuntimeError('STORE_APPEND_FAILED', `${messageOf(thrown)}.`, { cause: thrown })
    this.#failure = failure
    const waiters = this.#waiters ?? []
    this.#waiters = undefined
    // The machine hears of it first, so that an effect turned away finds the agent already on its way to a pause.
    this.#owner.storeFailed({ code: failure.code, message: failure.message })
    for (const waiter of waiters) waiter.reject(failure)
  }
}
