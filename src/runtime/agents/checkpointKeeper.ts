import type { ContextFold } from '../../machines/rebuildContext.ts'
import type { CheckpointStore } from '../../protocol/ports/checkpoints.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import type { Store } from '../../protocol/ports/store.ts'
import { bodyOf, checkpointForm, digestOf, type KeptState } from './keptAgent.ts'

/** How many records must have come since the last checkpoint: the more, the larger that is, as all of it is written. */
const records = { least: 64, most: 256, aBytes: 1 / 1_024 } as const
/** While the agent stays loaded: the share of its log that must have come since. Only a crash would make use of it. */
const leastShare = 1 / 2

/** An agent of which checkpoints are kept. */
export interface KeptHost {
  readonly agentId: string
  /** Store of its log. */
  readonly store: Pick<Store, 'read'>
  readonly machine: { readonly state: string; readonly unseen: number; readonly isStopped: boolean }
  readonly log: { durable(): Promise<void> | undefined }
  readonly view: {
    /** `seq` of the last record. */
    readonly lastSeq: number
    /** Returns the states folded from the agent's log, without the context. */
    keep(): { readonly kept: Omit<KeptState, 'context' | 'created'>; readonly nodes: readonly Uint8Array[] }
  }
}

/** State that an agent's checkpoints continue from. */
export interface KeeperOptions {
  readonly checkpoints: CheckpointStore
  readonly epoch: number | undefined
  /** Context folded from the log so far; the keeper folds later records into it. */
  readonly context: ContextFold
  readonly created: RecordOf<'agent.created'> | undefined
  /** `seq` of the last checkpoint; 0 without one. */
  readonly at: number
  /** How large it is. */
  readonly bytes: number
  /** The last record of the log so far. */
  readonly last: LogRecord | undefined
  /** Called with the error of a checkpoint that could not be written: nothing is lost with it. */
  readonly failed: (thrown: unknown) => void
}

/** Writes checkpoints of one agent: when it is at rest after many records, and when it is let go of. */
export class CheckpointKeeper {
  readonly #host: KeptHost
  readonly #options: KeeperOptions
  #created: RecordOf<'agent.created'> | undefined
  #at: number
  #bytes: number
  /** True if the records since the last checkpoint cost as much to fold as the whole log. */
  #isDue = false
  #last: LogRecord | undefined
  /** Records that the context has yet to be folded over: most agents write no checkpoint before they end. */
  readonly #unfolded: LogRecord[] = []
  #writing: Promise<void> | undefined

  constructor(host: KeptHost, options: KeeperOptions) {
    this.#host = host
    this.#options = options
    this.#created = options.created
    this.#at = options.at
    this.#bytes = options.bytes
    this.#last = options.last
  }

  /** Takes the next record. */
  apply(record: LogRecord): void {
    this.#last = record
    if (!this.#isVolatile && this.#unfolded.push(record) === records.least) this.#fold()
    if (record.type === 'agent.created') this.#created = record
    else if (record.type === 'compaction.end' && record.applied) this.#isDue = true
  }

  /** Folds the waiting records, which are redacted as they were written. */
  #fold(): void {
    for (const record of this.#unfolded.splice(0)) this.#options.context.apply(record)
  }

  /** True for checkpoints that cannot be read while the agent is loaded. */
  get #isVolatile(): boolean {
    return this.#options.checkpoints.isVolatile === true
  }

  get #since(): number {
    return this.#host.view.lastSeq - this.#at
  }

  get #isLong(): boolean {
    const { least, most, aBytes } = records
    return this.#since >= Math.min(most, Math.max(least, this.#bytes * aBytes))
  }

  /** Something happened to the agent. */
  look(): void {
    if (this.#isVolatile || !this.#isLong || this.#since < this.#host.view.lastSeq * leastShare || !this.#isAtRest)
      return
    if (this.#writing !== undefined) return
    // After what others wait for in this turn of the process.
    this.#writing = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => (this.#isAtRest ? this.#write() : undefined))
      .finally(() => (this.#writing = undefined))
  }

  get #isAtRest(): boolean {
    const { state, unseen, isStopped } = this.#host.machine
    return state === 'idle' && unseen === 0 && !isStopped
  }

  /** The log is written, and is let go of next. Never rejects. */
  async finish(): Promise<void> {
    await this.#writing
    if ((this.#isLong || this.#isDue) && this.#last?.type !== 'agent.stopped') await this.#write()
  }

  /** The record it stands at is in the log before it. Never rejects: the log has everything. */
  async #write(): Promise<void> {
    const [last, created, at, isDue] = [this.#last, this.#created, this.#at, this.#isDue]
    if (last === undefined || created === undefined) return
    const { checkpoints, epoch, context, failed } = this.#options
    const { agentId, store } = this.#host
    this.#at = last.seq
    this.#isDue = false
    try {
      // The agent was let go of: nothing more comes.
      if (this.#isVolatile) for await (const record of store.read(agentId, context.seq + 1)) context.apply(record)
      this.#fold()
      const { kept, nodes } = this.#host.view.keep()
      const body = bodyOf({ ...kept, created, context: context.keep() }, nodes)
      this.#bytes = body.length
      await this.#host.log.durable()
      await checkpoints.write(agentId, { seq: last.seq, form: checkpointForm, digest: digestOf(last), body }, epoch)
    } catch (thrown) {
      this.#at = at
      this.#isDue = isDue
      failed(thrown)
    }
  }
}
