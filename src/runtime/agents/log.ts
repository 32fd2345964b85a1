import { exportSession } from '../../log/exportSession.ts'
import { RuntimeError, type ErrorInfo } from '../../protocol/errors.ts'
import type { LogRecord, RecordDraft } from '../../protocol/records.ts'
import type { StoreLease } from '../../protocol/ports/store.ts'
import type { TreeAgent } from '../children/treeAgent.ts'
import { CheckpointKeeper, type KeeperOptions, type KeptHost } from './checkpointKeeper.ts'
import type { HostShared } from './hostOptions.ts'
import { LogWriter, type LogOwner } from './logWriter.ts'

/** The agent whose log it is. */
interface Logged extends Pick<TreeAgent, 'agentId' | 'store' | 'parent' | 'incognito' | 'announcer'> {
  readonly machine: Pick<TreeAgent['machine'], 'at' | 'isStopped'> & {
    tell(event: { readonly type: 'store.failed'; readonly error: ErrorInfo }): void
  }
  readonly shared: Pick<HostShared, 'clock' | 'sources' | 'checkpointFailed'>
  /** Called when another writer has the log: the agent continues there, and ends here. */
  lost(error: ErrorInfo): void
}

/** The log of one agent while it is loaded: writes records, and ends the agent when it may write no longer. */
export class AgentLog implements LogOwner {
  readonly #agent: Logged
  readonly #lease: StoreLease
  readonly #writer: LogWriter
  /** Writer of its checkpoints; `undefined`: they are not kept. */
  #keeper: CheckpointKeeper | undefined
  #isReleased = false

  /** `lastSeq`: of the log as it was read. */
  constructor(agent: Logged, lease: StoreLease, lastSeq: number) {
    this.#agent = agent
    this.#lease = lease
    this.#writer = new LogWriter(agent.store, this, lastSeq, lease.epoch)
    void lease.lost?.then(() => this.#lose())
  }

  get agentId(): string {
    return this.#agent.agentId
  }

  /** Epoch of its lease, if leases have one. */
  get epoch(): number | undefined {
    return this.#lease.epoch
  }

  /** Begins to keep checkpoints, where the store has them: for agents without a parent, which are opened by themselves. */
  keepCheckpoints(
    host: KeptHost,
    from: Pick<KeeperOptions, 'context' | 'created' | 'at' | 'bytes' | 'shared' | 'last'>,
  ): void {
    const { agentId, store, parent, incognito, shared } = this.#agent
    const { checkpoints } = store
    if (checkpoints === undefined || parent !== undefined || incognito) return
    const failed = (thrown: unknown): void => {
      if (!this.#writer.isLost) shared.checkpointFailed(agentId, thrown)
    }
    this.#keeper = new CheckpointKeeper(host, { ...from, checkpoints, epoch: this.#lease.epoch, failed })
  }

  /**
   * The records of the drafts of one step: without secrets, with the same time, and frozen, as observers and models share their objects with the
   * log. Without secrets to blank they are the same objects.
   */
  sealed(drafts: readonly RecordDraft[]): readonly LogRecord[] {
    const { clock, sources } = this.#agent.shared
    const records = (sources.redactor?.value(drafts) ?? drafts) as readonly LogRecord[]
    for (const record of records) freezeInside(record)
    const time = clock.now()
    for (const record of records as readonly { time: number }[]) record.time = time
    return records
  }

  /** Writes records, soon. */
  write(records: readonly LogRecord[]): void {
    for (const record of records) this.#writer.append(record)
    if (this.#keeper !== undefined) for (const record of records) this.#keeper.apply(record)
  }

  /** Something happened to the agent: a checkpoint may be due. */
  lookAtCheckpoint(): void {
    this.#keeper?.look()
  }

  /** How many bytes of a torn last line were cut off when the log was opened. */
  get repairedBytes(): number {
    return this.#lease.repairedBytes
  }

  /** Resolves once every record so far is in the store; `undefined` if it already is. */
  durable(): Promise<void> | undefined {
    return this.#writer.durable()
  }

  /** True if the log can no longer be appended to: the agent can only be ended. */
  get isStuck(): boolean {
    return this.#writer.isStuck
  }

  /**
   * Called right before each effect: a host that may have lost the log begins none. For an agent of which nothing is stored, the agent above it
   * decides.
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

  /** Resolves once the log says everything so far, and this process still has it. Rejects as `durable` and `checkHeld` do. */
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
    yield* exportSession(this.#agent.store, this.agentId)
  }

  /** Waits for the log and releases it to the next writer. */
  async release(): Promise<void> {
    this.#isReleased = true
    try {
      await this.#writer.finish()
      // Whoever took the log writes its checkpoints.
      if (!this.#writer.isLost) await this.#keeper?.finish()
    } finally {
      this.#keeper = undefined
      await this.#lease.release()
    }
  }

  /** The log could not be written. */
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

  /** Called when another writer has the log. */
  leaseLost(error: ErrorInfo): void {
    const { announcer, machine } = this.#agent
    announcer.emit({ type: 'error', ...machine.at, error })
    this.#agent.lost(error)
  }
}

/** The log of an unloaded agent, of which nothing is left to be written. */
export const logAtRest = { repairedBytes: 0, isStuck: false, durable: () => undefined } as unknown as AgentLog

/** Freezes everything inside a plain value. */
function freezeInside(value: object): void {
  for (const inner of Object.values(value)) {
    if (typeof inner !== 'object' || inner === null || Object.isFrozen(inner)) continue
    freezeInside(inner as object)
    Object.freeze(inner)
  }
}
