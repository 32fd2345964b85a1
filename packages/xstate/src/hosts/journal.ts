import { RuntimeError, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import { recordVersion, type LogRecord } from '../../../../src/protocol/records.ts'
import type { PartRecordType } from '../../../../src/protocol/parts/partRecords.ts'
import type { StoreLease } from '../../../../src/protocol/ports/store.ts'
import { LogWriter } from '../../../../src/runtime/agents/log.ts'
import type { HostShared } from '../../../../src/runtime/agents/hostOptions.ts'

type HostRecord = Extract<LogRecord, { readonly type: PartRecordType & `host.${string}` }>
type Bare<R> = R extends unknown ? Omit<R, 'v' | 'seq' | 'time'> : never
/** A record of a machine before it has a `seq` in the log. */
export type HostDraft = Bare<HostRecord>

/** The open log of one machine. */
export class Journal {
  readonly #writer: LogWriter
  readonly #lease: StoreLease
  readonly #shared: HostShared
  #seq: number

  /** `failed`: called once nothing more can be written. */
  constructor(shared: HostShared, lease: StoreLease, failed: (error: RuntimeError) => void) {
    const { agentId, lastSeq, epoch } = lease
    const fail = ({ code, message }: ErrorInfo): void =>
      failed(Object.assign(new RuntimeError('STORE_APPEND_FAILED', message), { code }))
    this.#shared = shared
    this.#lease = lease
    this.#seq = lastSeq
    this.#writer = new LogWriter(shared.store, { agentId, storeFailed: fail, leaseLost: fail }, lastSeq, epoch)
    void lease.lost?.then(() => {
      this.#writer.lose(new RuntimeError('STORE_LEASE_LOST', `The log of "${agentId}" was opened by another writer.`))
    })
  }

  /** `seq` of the last record. */
  get seq(): number {
    return this.#seq
  }

  get epoch(): number | undefined {
    return this.#lease.epoch
  }

  /** Appends a record, with secrets redacted as the runtime is set to, and returns it as the log has it. */
  append<D extends HostDraft>(draft: D): D & Pick<HostRecord, 'v' | 'seq' | 'time'> {
    const { clock, sources } = this.#shared
    const clean = sources.redactor?.value(draft) ?? draft
    this.#seq += 1
    const record = { ...clean, v: recordVersion, seq: this.#seq, time: clock.now() } as D & HostRecord
    this.#writer.append(record)
    return record
  }

  /** Resolves once all records so far are in the store. Rejects with the store's error. */
  async durable(): Promise<void> {
    await this.#writer.durable()
  }

  /** Resolves once all records so far are stored, and this process still holds the log: no effect may begin before. */
  async held(): Promise<void> {
    await this.durable()
    const { agentId, epoch } = this.#lease
    if (this.#shared.store.holds?.(agentId, epoch) !== false) return
    const lost = new RuntimeError('STORE_LEASE_LOST', `The lease of "${agentId}" is over.`)
    this.#writer.lose(lost)
    throw lost
  }

  /** Writes the remaining records, and releases the log for another writer. */
  async release(): Promise<void> {
    try {
      await this.#writer.finish()
    } finally {
      await this.#lease.release()
    }
  }
}
