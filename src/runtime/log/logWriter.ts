import { messageOf, RuntimeError, type ErrorInfo } from '../../protocol/errors.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { Store } from '../../protocol/store.ts'

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

/**
 * Writes one agent's records to the store, in order, those of one tick together. After a failure it keeps what was not
 * acknowledged and stands still until `written` is asked for, which sends the same batch again: the store may have it, and only its answer
 * was lost.
 */
export class LogWriter {
  readonly #store: Store
  readonly #owner: LogOwner
  #pending: LogRecord[] = []
  /** Sent and not acknowledged; what came later is never added to it. */
  #batch: readonly LogRecord[] = []
  #waiters: Waiter[] = []
  #lastSeq = 0
  #writtenSeq = 0
  #isWriting = false
  #failure: RuntimeError | undefined

  /** `seq`: of the last record that is in the store already. */
  constructor(store: Store, owner: LogOwner, seq = 0) {
    this.#store = store
    this.#owner = owner
    this.#lastSeq = seq
    this.#writtenSeq = seq
  }

  append(record: LogRecord): void {
    this.#pending.push(record)
    this.#lastSeq = record.seq
    if (!this.#isWriting && this.#failure === undefined) this.#start()
  }

  /** Resolves once all records so far are in the store; `undefined` when they are. Rejects with the store's error. */
  durable(): Promise<void> | undefined {
    const seq = this.#lastSeq
    if (seq <= this.#writtenSeq) return undefined
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => this.#waiters.push({ seq, resolve, reject }))
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
    const records = [...this.#batch, ...this.#pending]
    this.#batch = []
    this.#pending = []
    const last = records.at(-1)
    for (const record of records) if (!(await this.#takes(record))) break
    if (last?.type === 'agent.stopped' && last.seq !== this.#writtenSeq)
      await this.#takes({ ...last, seq: this.#writtenSeq + 1 })
  }

  async #takes(record: LogRecord): Promise<boolean> {
    try {
      await this.#store.append(this.#owner.agentId, [record])
    } catch (thrown) {
      if (thrown instanceof RuntimeError && thrown.code === 'RECORD_TOO_LARGE') return false
      throw thrown
    }
    this.#writtenSeq = record.seq
    return true
  }

  #start(): void {
    this.#isWriting = true
    queueMicrotask(() => void this.#write())
  }

  async #write(): Promise<void> {
    for (;;) {
      if (this.#batch.length === 0) {
        this.#batch = this.#pending
        this.#pending = []
      }
      const last = this.#batch.at(-1)
      if (last === undefined) break
      try {
        await this.#store.append(this.#owner.agentId, this.#batch)
      } catch (thrown) {
        this.#fail(thrown)
        return
      }
      this.#batch = []
      this.#writtenSeq = last.seq
      this.#release()
    }
    this.#isWriting = false
  }

  #release(): void {
    while (this.#waiters.length > 0 && this.#waiters[0]!.seq <= this.#writtenSeq) this.#waiters.shift()!.resolve()
  }

  #fail(thrown: unknown): void {
    this.#isWriting = false
    const failure =
      thrown instanceof RuntimeError
        ? thrown
        : new RuntimeError('STORE_APPEND_FAILED', `${messageOf(thrown)}.`, { cause: thrown })
    this.#failure = failure
    const waiters = this.#waiters
    this.#waiters = []
    // The machine hears of it first, so that an effect turned away finds the agent already on its way to a pause.
    this.#owner.storeFailed({ code: failure.code, message: failure.message })
    for (const waiter of waiters) waiter.reject(failure)
  }
}
