import { RuntimeError, type ErrorInfo } from '../../protocol/errors.ts'
import type { LogRecord, RecordDraft } from '../../protocol/records.ts'
import type { Store, StoreLease } from '../../protocol/ports/store.ts'
import { exportSession } from '../../log/exportSession.ts'
import type { HostedTools } from './hostedTools.ts'
import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import { CheckpointKeeper, type KeeperOptions, type KeptHost } from './checkpointKeeper.ts'
import { isKeepable } from './keptAgent.ts'
import { freezeInside } from './freezeInside.ts'
import { FamilyHost } from './familyHost.ts'
import { LogWriter, type LogOwner } from './logWriter.ts'

/** A host with the log of its agent: it writes records, and ends when it may write no longer. */
export abstract class LoggedHost extends FamilyHost implements LogOwner {
  /** Store of its log. */
  abstract readonly store: Store
  /** The run and turn that a live event belongs to. */
  abstract readonly at: { readonly runId: string; readonly turnIndex: number }
  abstract readonly sourced: HostedTools | undefined
  abstract readonly ownDefinition: AgentDefinition
  /** `seq` of the last record. */
  abstract readonly lastSeq: number
  abstract emit(event: { readonly type: 'error'; readonly error: ErrorInfo } & LoggedHost['at']): void
  #lease!: StoreLease
  #log!: LogWriter
  /** Writer of its checkpoints; `undefined`: they are not kept. */
  #keeper: CheckpointKeeper | undefined

  /** `lastSeq`: of the log as it was read. */
  protected openLog(lease: StoreLease, lastSeq: number): void {
    this.#lease = lease
    this.#log = new LogWriter(this.store, this, lastSeq, lease.epoch)
    void lease.lost?.then(() => this.#lose())
  }

  /** The record of a draft: without secrets, with its time, and frozen, as observers and models share its objects with the log. */
  protected sealed(draft: RecordDraft): LogRecord {
    const clean = (this.redactor?.value(draft) ?? draft) as { -readonly [K in keyof LogRecord]: LogRecord[K] }
    clean.time = this.clock.now()
    return freezeInside(clean) as LogRecord
  }

  /** Writes a record, soon. */
  protected write(record: LogRecord): void {
    this.#log.append(record)
    this.#keeper?.apply(record)
  }

  /** Begins to keep checkpoints, where the store has them: for agents without a parent, which are opened by themselves. */
  protected keepCheckpoints(from: Pick<KeeperOptions, 'context' | 'created' | 'at' | 'bytes' | 'last'>): void {
    const { checkpoints } = this.store
    if (checkpoints === undefined || this.parent !== undefined || this.incognito) return
    if (!isKeepable(this.ownDefinition)) return
    const failed = (thrown: unknown): void => {
      if (!this.#log.isLost) this.shared.checkpointFailed(this.agentId, thrown)
    }
    this.#keeper = new CheckpointKeeper(this, { ...from, checkpoints, epoch: this.#lease.epoch, failed })
  }

  protected lookAtCheckpoint(): void {
    this.#keeper?.look()
  }

  abstract keep(): ReturnType<KeptHost['keep']>

  /** How many bytes of a torn last line were cut off when the log was opened. */
  get repairedBytes(): number {
    return this.#lease.repairedBytes
  }

  durable(): Promise<void> | undefined {
    return this.#log.durable()
  }

  /** True if the agent's log can no longer be appended to: the agent can only be ended. */
  get isStuck(): boolean {
    return this.#log.isStuck
  }

  /**
   * Called right before each effect: a host that may have lost the log begins none. For an agent of which nothing is stored, the agent above it
   * decides.
   *
   * @throws RuntimeError `STORE_LEASE_LOST`; then the agent ends here
   */
  checkHeld(): void {
    if (this.incognito !== undefined) return this.parent?.checkHeld()
    if (!this.#log.isLost && this.store.holds?.(this.agentId, this.#lease.epoch) !== false) return
    const what = `The log of agent "${this.agentId}" may have been opened by another writer, as its lease is over.`
    const lost = new RuntimeError('STORE_LEASE_LOST', what)
    this.#log.lose(lost)
    throw lost
  }

  /** Resolves once the log says everything so far, and this process still has it. Rejects as `durable` and `checkHeld` do. */
  async held(): Promise<void> {
    await this.durable()
    this.checkHeld()
  }

  /** Waits for the log, after rewriting the records that a failure left over. Rejects if that fails again. */
  written(): Promise<void> {
    return this.#log.written()
  }

  async *exportSession(): AsyncGenerator<string, void, undefined> {
    await this.durable()
    yield* exportSession(this.store, this.agentId)
  }

  /** Waits for the log and releases it to the next writer. */
  async release(): Promise<void> {
    this.sourced?.leave()
    try {
      await this.#log.finish()
      // Whoever took the log writes its checkpoints.
      if (!this.#log.isLost) await this.#keeper?.finish()
    } finally {
      await this.#lease.release()
    }
  }

  /** The log could not be written. */
  storeFailed(error: ErrorInfo): void {
    this.emit({ type: 'error', ...this.at, error })
    this.tell({ type: 'store.failed', error })
  }

  #lose(): void {
    if (this.isStopped) return
    const what = `The log of agent "${this.agentId}" was opened by another writer.`
    this.#log.lose(new RuntimeError('STORE_LEASE_LOST', what))
  }

  /** Called when another writer has the log: the agent continues there, and ends here. */
  leaseLost(error: ErrorInfo): void {
    this.emit({ type: 'error', ...this.at, error })
    this.shared.childHosts.lost(this.self, error)
  }
}
