import { callbackBugs, isLikelyBug } from '../../protocol/callbackBugs.ts'
import { messageOf, RuntimeError, type ErrorInfo } from '../../protocol/errors.ts'
import type { LogRecord } from '../../protocol/records.ts'
import { stored, type Store } from '../../protocol/ports/store.ts'

interface Waiter {
  readonly seq: number
  resolve(): void
  reject(error: unknown): void
}

/** The agent of a log, which is told if it cannot be written. */
export interface LogOwner {
  readonly agentId: string
  storeFailed(error: ErrorInfo): void
  /** Called when another writer has its log: no more is written here. */
  leaseLost(error: ErrorInfo): void
}

const nothing: readonly LogRecord[] = Object.freeze([])

/**
 * Writes one agent's records to the store, in order, batching those of one tick. If the store returns `stored`, the next batch is written as
 * soon as it is needed, without waiting. After a failure it keeps the unacknowledged records and stops until `written` is called, which sends
 * the same batch again: the store may have it, and only its answer was lost.
 */
export class LogWriter {
  readonly #store: Store
  readonly #owner: LogOwner
  readonly #epoch: number | undefined
  #pending: LogRecord[] | undefined
  /** Sent but not acknowledged; later records are never added to it. */
  #batch = nothing
  #waiters: Waiter[] | undefined
  #lastSeq: number
  #writtenSeq: number
  /** `due`: written in the next microtask, or as soon as anyone waits. */
  #phase: 'resting' | 'due' | 'writing' = 'resting'
  /** True if the store had stored the last batch by the time it answered; assumed until proven otherwise. */
  #isQuick = true
  #failure: RuntimeError | undefined

  /** `seq` of the last record that is already in the store; `epoch` of the lease, if it has any. */
  constructor(store: Store, owner: LogOwner, seq = 0, epoch?: number) {
    this.#store = store
    this.#owner = owner
    this.#epoch = epoch
    this.#lastSeq = seq
    this.#writtenSeq = seq
  }

  append(record: LogRecord): void {
    if (this.#pending === undefined) this.#pending = [record]
    else this.#pending.push(record)
    this.#lastSeq = record.seq
    if (this.#phase === 'resting' && this.#failure === undefined) this.#start()
  }

  /** Resolves once all records so far are in the store; `undefined` if they are. Rejects with the store's error. */
  durable(): Promise<void> | undefined {
    const seq = this.#lastSeq
    if (this.#isQuick && this.#phase === 'due') this.#write()
    if (seq <= this.#writtenSeq) return undefined
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => (this.#waiters ??= []).push({ seq, resolve, reject }))
  }

  /** Resolves once all records so far are in the store, after rewriting those that a failure left over. Rejects if that fails again. */
  async written(): Promise<void> {
    if (this.#failure !== undefined && !this.isLost) {
      this.#failure = undefined
      this.#start()
    }
    await this.durable()
  }

  /** Writes the rest like `written`, but gives up a record that the store can never accept and everything after it. */
  async finish(): Promise<void> {
    if (this.isLost) return
    try {
      await this.written()
    } catch (thrown) {
      if (this.isLost) return
      if (!this.isStuck) throw thrown
      await this.#giveUp()
    }
  }

  /** True if the store has said that it can never accept the next record. */
  get isStuck(): boolean {
    return this.#failure?.code === 'RECORD_TOO_LARGE'
  }

  /** True if another writer has the log: unwritten records are not part of it, and never will be. */
  get isLost(): boolean {
    return this.#failure?.code === 'STORE_LEASE_LOST'
  }

  /** The lease is lost. Does nothing if that is known. */
  lose(failure: RuntimeError): void {
    if (!this.isLost) this.#fail(failure)
  }

  /** Writes the records before those given up, and that the agent was stopped for good. */
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

  /** Writes the due records. Synchronous as long as the store is. */
  #write(): void {
    // A caller may have had it written since it became due.
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

  /** Takes the records that a failure left over, else the new ones; `false` if there are none to send. */
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
      const answer: Promise<void> | undefined = this.#store.append(this.#owner.agentId, records, this.#epoch)
      // It is not known whether it stored them, and we may find out too late.
      if (typeof answer?.then !== 'function')
        throw new RuntimeError('STORE_APPEND_FAILED', 'The store returned no promise from append.')
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
    if (isLikelyBug(thrown)) callbackBugs.tell('append of the store', thrown)
    const failure =
      thrown instanceof RuntimeError
        ? thrown
        : new RuntimeError('STORE_APPEND_FAILED', `${messageOf(thrown)}.`, { cause: thrown })
    this.#failure = failure
    const waiters = this.#waiters ?? []
    this.#waiters = undefined
    const error = { code: failure.code, message: failure.message }
    // The machine is told first, so that a refused effect finds the agent already pausing, or ended.
    if (this.isLost) this.#owner.leaseLost(error)
    else this.#owner.storeFailed(error)
    for (const waiter of waiters) waiter.reject(failure)
  }
}
