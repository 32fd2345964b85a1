import type { ContextFold } from '../../machines/rebuildContext.ts'
import type { Checkpoint, CheckpointStore } from '../../protocol/ports/checkpoints.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import type { Store } from '../../protocol/ports/store.ts'
import { checkpointOf, digestOf, type KeptState } from './keptAgent.ts'
import type { NodePieces } from './keepNodes.ts'
import { share, type SharedState } from './sharedState.ts'

/** Number of records since the last checkpoint before the next is written. Grows with the checkpoint's size, as all of it is written. */
const records = { least: 64, most: 256, aBytes: 1 / 1_024 } as const
/** Minimum number of records if most of a checkpoint is shared with the one before and is not written again. */
const leastBeside = 32
/** Bytes from which on chunks are shared, and the largest unshared part in proportion to the shared one. */
const sharing = { least: 64 * 1_024, mostBeside: 1 / 2 } as const
/** Factor by which more records may come before the shared state is written anew. */
const longer = 2

/** Minimum share of the log that must be new while the agent stays loaded, because only a crash would make use of the checkpoint. */
const leastShare = 1 / 2

/** Returns the number of records after which to write a checkpoint of so many bytes. */
const recordsFor = (bytes: number, least: number = records.least): number =>
  Math.min(records.most, Math.max(least, bytes * records.aBytes))

/** An agent whose checkpoints are kept. */
export interface KeptHost {
  readonly agentId: string
  /** Store of the agent's log. */
  readonly store: Pick<Store, 'read'>
  readonly machine: { readonly state: string; readonly unseen: number; readonly isStopped: boolean }
  readonly log: {
    durable(): Promise<void> | undefined
    /** Reports a checkpoint that could not be written. No data is lost with it. */
    checkpointFailed(thrown: unknown): void
  }
  readonly view: {
    /** `seq` of the last record. */
    readonly lastSeq: number
    /** Returns the states folded from the log, without the context. `goesOn`: they share chunks with the opened checkpoint. */
    keep(goesOn?: boolean): { readonly kept: Omit<KeptState, 'context' | 'created'>; readonly nodes: NodePieces }
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
  /** Size of the last checkpoint in bytes, without its shared state. */
  readonly bytes: number
  /** Shared state of the last checkpoint, which the next may share too. */
  readonly shared?: SharedState | undefined
  /** The last record of the log so far. */
  readonly last: LogRecord | undefined
}

/** Writes the checkpoints of one agent: when it is at rest after many records, and when it is released. */
export class CheckpointKeeper {
  readonly #host: KeptHost
  readonly #checkpoints: CheckpointStore
  readonly #epoch: number | undefined
  readonly #context: ContextFold
  #created: RecordOf<'agent.created'> | undefined
  #at: number
  #bytes: number
  /** Shared state, as long as the last checkpoint is the one that the agent was opened from. */
  #shared: SharedState | undefined
  /** True if folding the records since the last checkpoint costs as much as folding the whole log. */
  #isDue = false
  #last: LogRecord | undefined
  /** Records not yet folded into the context, because most agents write no checkpoint before they end. */
  #unfolded: LogRecord[] | undefined
  #writing: Promise<void> | undefined

  constructor(host: KeptHost, options: KeeperOptions) {
    this.#host = host
    this.#checkpoints = options.checkpoints
    this.#epoch = options.epoch
    this.#context = options.context
    this.#created = options.created
    this.#at = options.at
    this.#bytes = options.bytes
    this.#shared = options.shared
    this.#last = options.last
  }

  /** Notes the next record. */
  apply(record: LogRecord): void {
    this.#last = record
    if (!this.#isVolatile && (this.#unfolded ??= []).push(record) === records.least) this.#fold()
    if (record.type === 'agent.created') this.#created = record
    else if (record.type === 'compaction.end' && record.applied) this.#isDue = true
  }

  /** Folds the waiting records, which are redacted as they were written. */
  #fold(): void {
    const unfolded = this.#unfolded ?? []
    this.#unfolded = undefined
    for (const record of unfolded) this.#context.apply(record)
  }

  /** True for checkpoints that cannot be read while the agent is loaded. */
  get #isVolatile(): boolean {
    return this.#checkpoints.isVolatile === true
  }

  get #since(): number {
    return this.#host.view.lastSeq - this.#at
  }

  /** True if a whole checkpoint is due to be written. */
  get #isLong(): boolean {
    if (this.#shared === undefined) return this.#since >= recordsFor(this.#bytes)
    const { seq, body } = this.#shared
    const isMuch = this.#bytes > body.length * sharing.mostBeside
    return isMuch || this.#host.view.lastSeq - seq >= longer * recordsFor(body.length)
  }

  /** Writes a checkpoint if one is due and the agent is at rest. Called whenever something happened to the agent. */
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

  /** Writes a last checkpoint if it is worth it, after the log is written and before it is released. Never rejects. */
  async finish(): Promise<void> {
    await this.#writing
    if (this.#last?.type === 'agent.stopped') return
    if (this.#isLong || this.#isDue) await this.#write()
    else if (this.#shared !== undefined && this.#since >= recordsFor(this.#bytes, leastBeside))
      await this.#write(this.#shared)
  }

  /** Writes a checkpoint once the log has its record. `shared`: state to continue from. Never rejects: the log has everything. */
  async #write(shared?: SharedState): Promise<void> {
    const [last, created, at, isDue] = [this.#last, this.#created, this.#at, this.#isDue]
    if (last === undefined || created === undefined) return
    const { agentId, store, view, log } = this.#host
    const context = this.#context
    this.#at = last.seq
    this.#isDue = false
    try {
      // The agent was let go of: nothing more comes.
      if (this.#isVolatile) for await (const record of store.read(agentId, context.seq + 1)) context.apply(record)
      this.#fold()
      const { kept, nodes } = view.keep(shared !== undefined)
      const state = { ...kept, created, context: context.keep() }
      const checkpoint = (shared && checkpointOf(last, state, nodes, shared)) ?? this.#whole(last, state, nodes)
      this.#bytes = checkpoint.body.length + (checkpoint.shared?.body.length ?? 0)
      this.#shared = undefined
      await log.durable()
      await this.#checkpoints.write(agentId, checkpoint, this.#epoch)
    } catch (thrown) {
      this.#at = at
      this.#isDue = isDue
      log.checkpointFailed(thrown)
    }
  }

  /** Returns a whole checkpoint. The next one may share most of it. */
  #whole(last: LogRecord, state: KeptState, nodes: NodePieces): Checkpoint {
    const bytes = nodes.shared.reduce((sum, chunk) => sum + chunk.length, 0)
    const isShared = this.#checkpoints.keepsShared === true && bytes >= sharing.least
    return checkpointOf(
      last,
      state,
      nodes,
      isShared ? share(state, nodes.shared, last.seq, digestOf(last)) : undefined,
    )!
  }
}
