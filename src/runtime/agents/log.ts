import { RuntimeError, type ErrorInfo, messageOf } from '../../protocol/errors.ts'
import type { LogRecord, RecordDraft } from '../../protocol/records.ts'
import { type StoreLease, stored, type Store } from '../../protocol/ports/store.ts'
import type { TreeAgent } from '../children/treeAgent.ts'
import { CheckpointKeeper, type KeeperOptions, type KeptHost } from './checkpointKeeper.ts'
import type { HostShared } from './hostOptions.ts'
import { callbackBugs, isLikelyBug } from '../../protocol/callbackBugs.ts'

/** The agent that the log belongs to. */
interface Logged extends Pick<TreeAgent, 'agentId' | 'store' | 'parent' | 'incognito' | 'announcer'> {
  readonly machine: Pick<TreeAgent['machine'], 'at' | 'isStopped'> & {
    tell(event: { readonly type: 'store.failed'; readonly error: ErrorInfo }): void
  }
  readonly shared: Pick<HostShared, 'clock' | 'sources' | 'isStoreOver' | 'checkpointFailed' | 'exportSession'>
  /** Ends the agent here because another writer has the log, where the agent continues. */
  lost(error: ErrorInfo): void
}

/** The log of one agent while it is loaded: writes records, and ends the agent when it may write no longer. */
export class AgentLog implements LogOwner {
  readonly #agent: Logged
  readonly #lease: StoreLease
  readonly #writer: LogWriter
  /** Writer of the agent's checkpoints; `undefined` if they are not kept. */
  #keeper: CheckpointKeeper | undefined
  #isReleased = false

  /** Opens the log for writing. `lastSeq`: `seq` of the last record as the log was read. */
  constructor(agent: Logged, lease: StoreLease, lastSeq: number) {
    this.#agent = agent
    this.#lease = lease
    this.#writer = new LogWriter(agent.store, this, lastSeq, lease.epoch)
    void lease.lost?.then(() => this.#lose())
  }

  get agentId(): string {
    return this.#agent.agentId
  }

  /** Epoch of the agent's lease, if leases have one. */
  get epoch(): number | undefined {
    return this.#lease.epoch
  }

  /** Begins to keep checkpoints, if the store has them: for agents without a parent, which are opened by themselves. */
  keepCheckpoints(
    host: KeptHost,
    from: Pick<KeeperOptions, 'context' | 'created' | 'at' | 'bytes' | 'shared' | 'last'>,
  ): void {
    const { store, parent, incognito } = this.#agent
    const { checkpoints } = store
    if (checkpoints === undefined || parent !== undefined || incognito) return
    this.#keeper = new CheckpointKeeper(host, { ...from, checkpoints, epoch: this.#lease.epoch })
  }

  checkpointFailed(thrown: unknown): void {
    if (!this.#writer.isLost) this.#agent.shared.checkpointFailed(this.agentId, thrown)
  }

  /**
   * Returns the records for the drafts of one step: without secrets, with the same time, and frozen, because
   * observers and models share their objects with the log. Without secrets to blank they are the same objects.
   */
  sealed(drafts: readonly RecordDraft[]): readonly LogRecord[] {
    const { clock, sources } = this.#agent.shared
    const records = (sources.redactor?.value(drafts) ?? drafts) as readonly LogRecord[]
    for (const record of records) freezeInside(record)
    const time = clock.now()
    for (const record of records as readonly { time: number }[]) record.time = time
    return records
  }

  /** Queues records to be written soon. */
  write(records: readonly LogRecord[]): void {
    for (const record of records) this.#writer.append(record)
    if (this.#keeper !== undefined) for (const record of records) this.#keeper.apply(record)
  }

  /** Writes a checkpoint if one is due. Called whenever something happened to the agent. */
  lookAtCheckpoint(): void {
    this.#keeper?.look()
  }

  /** Number of bytes cut off from a torn last line when the log was opened. */
  get repairedBytes(): number {
    return this.#lease.repairedBytes
  }

  /** Resolves once every record so far is in the store; `undefined` if it already is. */
  durable(): Promise<void> | undefined {
    return this.#writer.durable()
  }

  /** True if the log can no longer be appended to, so that the agent can only be ended. */
  get isStuck(): boolean {
    return this.#writer.isStuck
  }

  /**
   * Checks, right before each effect, that this process still has the log: a host that may have lost it begins none.
   * For an incognito agent, the agent above decides.
   *
   * @throws RuntimeError `STORE_LEASE_LOST`; then the agent ends here
   */
  checkHeld(): void {
    const { agentId, incognito, parent, store } = this.#agent
    if (incognito !== undefined) return parent?.log.checkHeld()
    if (!this.#writer.isLost && store.holds?.(agentId, this.#lease.epoch) !== false) return
    const what = `The log of agent "${agentId}" may have been opened by another writer, as its lease is over.`
    const lost = new RuntimeError('STORE_LEASE_LOST', what)
    this.#writer.lose(lost)
    throw lost
  }

  /** Resolves once the log contains everything so far, and this process still has it. Rejects as `durable` and `checkHeld` do. */
  async held(): Promise<void> {
    await this.durable()
    this.checkHeld()
  }

  /** Waits for the log, after rewriting the records that a failure left over. Rejects if that fails again. */
  written(): Promise<void> {
    return this.#writer.written()
  }

  async *exportSession(): AsyncGenerator<string, void, undefined> {
    await this.durable()
    yield* this.#agent.shared.exportSession(this.#agent.store, this.agentId)
  }

  /** Waits for the log and releases it to the next writer. */
  async release(): Promise<void> {
    this.#isReleased = true
    try {
      await this.#writer.finish()
      // Whoever took the log writes its checkpoints.
      if (!this.#writer.isLost && !this.#agent.shared.isStoreOver()) await this.#keeper?.finish()
    } finally {
      this.#keeper = undefined
      await this.#lease.release()
    }
  }

  /** Reports that the log could not be written. */
  storeFailed(error: ErrorInfo): void {
    const { announcer, machine } = this.#agent
    announcer.emit({ type: 'error', ...machine.at, error })
    machine.tell({ type: 'store.failed', error })
  }

  #lose(): void {
    if (this.#isReleased || this.#agent.machine.isStopped) return
    const what = `The log of agent "${this.agentId}" was opened by another writer.`
    this.#writer.lose(new RuntimeError('STORE_LEASE_LOST', what))
  }

  /** Ends the agent here because another writer has the log. */
  leaseLost(error: ErrorInfo): void {
    const { announcer, machine } = this.#agent
    announcer.emit({ type: 'error', ...machine.at, error })
    this.#agent.lost(error)
  }
}

/** Log of an unloaded agent, with nothing left to be written. */
export const logAtRest = { repairedBytes: 0, isStuck: false, durable: () => undefined } as unknown as AgentLog

/** Freezes everything inside a plain value. Lists are walked by index, because asking for their keys takes several times as long. */
function freezeInside(value: object): void {
  if (Array.isArray(value)) for (const item of value) freeze(item)
  else for (const name in value) freeze((value as Readonly<Record<string, unknown>>)[name])
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  freezeInside(value)
  Object.freeze(value)
}

interface Waiter {
  readonly seq: number
  resolve(): void
  reject(error: unknown): void
}

/** The agent of a log, which is notified if the log cannot be written. */
export interface LogOwner {
  readonly agentId: string
  storeFailed(error: ErrorInfo): void
  /** Reports that another writer has the log. No more is written here. */
  leaseLost(error: ErrorInfo): void
}

const nothing: readonly LogRecord[] = Object.freeze([])

/**
 * Writes one agent's records to the store, in order, batching those of one tick. If the store returns `stored`, the next batch is
 * written as soon as it is needed, without waiting. After a failure it keeps the unacknowledged records and stops until `written`
 * is called, which sends the same batch again: the store may have stored them, and only its answer was lost.
 */
export class LogWriter {
  readonly #store: Store
  readonly #owner: LogOwner
  readonly #epoch: number | undefined
  #pending: LogRecord[] | undefined
  /** Records sent but not acknowledged; later records are never added to them. */
  #batch = nothing
  #waiters: Waiter[] | undefined
  #lastSeq: number
  #writtenSeq: number
  /** Phase of the writer. `due`: writes in the next microtask, or as soon as anyone waits. */
  #phase: 'resting' | 'due' | 'writing' = 'resting'
  /** True if the store had stored the last batch by the time it answered; assumed until proven otherwise. */
  #isQuick = true
  #failure: RuntimeError | undefined

  /** Makes a writer. `seq`: of the last record already in the store. `epoch`: of the lease, if it has one. */
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

  /** Notes that the lease is lost. Does nothing if that is already known. */
  lose(failure: RuntimeError): void {
    if (!this.isLost) this.#fail(failure)
  }

  /** Writes the records before the one given up, and the stop of an agent that was stopped for good. */
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

  /** Sends records to the store. Never throws, whatever the store does. */
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
