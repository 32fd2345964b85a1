import { resolve } from 'node:path'
import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import { systemClock, type Clock } from '../../../src/protocol/ports/clock.ts'
import { checkedBy, RuntimeError } from '../../../src/protocol/errors.ts'
import { checkAgentId } from '../../../src/protocol/ids.ts'
import type { LogPage, LogQuery } from '../../../src/protocol/ports/logPages.ts'
import type { SearchHit, SearchQuery } from '../../../src/protocol/ports/logSearch.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { SnapshotLimits } from '../../../src/protocol/ports/snapshots.ts'
import {
  stored,
  type ErasableStore,
  type LeaseOptions,
  type LogHolder,
  type LogStat,
  type LogWorker,
  type StoreLease,
} from '../../../src/protocol/ports/store.ts'
import { bodiesOf } from '../../stores/src/bodiesOf.ts'
import { checkLease, seqFrom } from '../../stores/src/rules/appendChecks.ts'
import { readRecord } from '../../stores/src/readRecord.ts'
import { defaultSnapshotLimits } from '../../stores/src/rules/snapshotLimits.ts'
import { appendLog, type Append } from './appendLog.ts'
import { AppendQueue } from './appendQueue.ts'
import { Connection, isBusy } from './connection.ts'
import { labelsIn } from '../../stores/src/labels.ts'
import { type LeaseHolder, SqliteCheckpoints } from './sqliteCheckpoints.ts'
import { SqliteLease } from './sqliteLease.ts'
import { readPage } from './sqlitePages.ts'
import { TextIndex } from './textIndex.ts'
import { SqliteSnapshots } from './sqliteSnapshots.ts'
import { SqliteTimers } from './sqliteTimers.ts'
import { Writers } from './writers.ts'

export interface SqliteStoreOptions {
  /**
   * Point at which an append counts as stored. `os` (default): the operating system has the records, which survive `kill -9` but not a
   * power cut. `batch`: they are on the disk; appends of one turn of the process share the sync.
   */
  readonly durability?: 'os' | 'batch'
  /** Clock for the time spent waiting for another process. Default: the system's clock. */
  readonly clock?: Clock
  /** Limits on the kept contents of files that one agent changed, for `undo`. Default: as for `fileStore`. */
  readonly snapshots?: Partial<SnapshotLimits>
}

const limit = lazily(() => z.number().positive())
const optionsSchema = lazily(() =>
  onlyFields({
    durability: z.enum(['os', 'batch']),
    clock: z.custom<Clock>(
      (value) => typeof value === 'object' && value !== null && 'now' in value && 'after' in value,
    ),
    snapshots: onlyFields({ maxBytes: limit(), maxCount: limit(), maxFileBytes: limit() }).partial(),
  }).partial(),
)

/** Number of records per page of a log. The first page is small, as many readers want only the beginning. */
const pages = { first: 8, next: 512 } as const

class SqliteStore implements ErasableStore {
  readonly snapshots: SqliteSnapshots
  readonly checkpoints: SqliteCheckpoints
  readonly timers: SqliteTimers
  readonly #connection: Connection
  readonly #queue: AppendQueue
  readonly #texts: TextIndex
  readonly #isSynced: boolean
  readonly #leases = new Map<string, SqliteLease>()
  /** Ended leases not yet released in the tables, because another process was writing for long. The next release includes them. */
  readonly #unreleased = new Set<SqliteLease>()
  /** Opens and deletes in progress. */
  readonly #working = new Set<Promise<unknown>>()
  readonly #writers: Writers
  #closed: Promise<void> | undefined

  constructor(file: string, { durability, clock, snapshots }: SqliteStoreOptions) {
    this.#isSynced = durability === 'batch'
    this.#connection = new Connection(file, { isSynced: this.#isSynced, clock: clock ?? systemClock })
    this.#texts = new TextIndex(this.#connection, clock)
    this.#queue = new AppendQueue(this.#connection, {
      clock: clock ?? systemClock,
      written: (agent) => this.#texts.written(agent),
    })
    const holder: LeaseHolder = {
      leaseOf: (agentId, epoch) => this.#leaseOf(agentId, epoch),
      reading: (work, nothing) => this.#read(work, nothing),
    }
    this.checkpoints = new SqliteCheckpoints(this.#connection, holder)
    this.timers = new SqliteTimers(this.#connection, holder)
    this.#writers = new Writers(this.#connection)
    const given = Object.entries(snapshots ?? {}).filter(([, value]) => value !== undefined)
    this.snapshots = new SqliteSnapshots(this.#connection, { ...defaultSnapshotLimits, ...Object.fromEntries(given) })
  }

  append(agentId: string, records: readonly LogRecord[], epoch?: number): Promise<void> {
    try {
      const append = this.#prepare(agentId, records, epoch)
      if (this.#isSynced || !this.#queue.isEmpty || !this.#wrote(append)) return this.#queue.add(append)
      return stored
    } catch (thrown) {
      const error = this.#connection.failure('STORE_APPEND_FAILED', 'written', thrown)
      if (error.code === 'STORE_LEASE_LOST') this.#leases.get(agentId)?.lose()
      return Promise.reject(error)
    }
  }

  #prepare(agentId: string, records: readonly LogRecord[], epoch: number | undefined): Append {
    return { lease: this.#leaseOf(agentId, epoch), records, bodies: bodiesOf(agentId, records) }
  }

  /** @throws RuntimeError `STORE_CLOSED`, `STORE_NOT_OPEN`, `STORE_LEASE_LOST` */
  #leaseOf(agentId: string, epoch: number | undefined): SqliteLease {
    if (this.#closed !== undefined) throw this.#closedError()
    const held = this.#leases.get(agentId)
    const lease = held?.isReleased === false ? held : undefined
    if (lease === undefined || (epoch !== undefined && epoch !== lease.epoch))
      checkLease(agentId, { held: lease?.epoch, newest: lease?.epoch ?? this.#newestEpoch(agentId) }, epoch)
    return lease!
  }

  #newestEpoch(agentId: string): number {
    if (!this.#connection.isThere) return 0
    return Number(this.#connection.statement('SELECT epoch FROM agents WHERE id = ?').get(agentId)?.['epoch'] ?? 0)
  }

  /** Writes at once; returns `false` if another process is writing. */
  #wrote(append: Append): boolean {
    try {
      append.lease.lastSeq = this.#connection.transaction(() => appendLog(this.#connection, append))
      this.#texts.written(append.lease.number)
      return true
    } catch (thrown) {
      if (isBusy(thrown)) return false
      throw thrown
    }
  }

  async *read(agentId: string, fromSeq = 1, most = Infinity): AsyncGenerator<LogRecord, void, undefined> {
    checkAgentId(agentId)
    let next = fromSeq < 0 ? seqFrom(fromSeq, (await this.stat(agentId))?.size ?? 0) : Math.max(1, fromSeq)
    let left = most
    for (let size: number = pages.first; left > 0; size = pages.next) {
      const wanted = Math.min(size, left)
      const rows = this.#page(agentId, next, wanted)
      for (const { seq, body } of rows) {
        if (seq !== next) throw new RuntimeError('LOG_CORRUPT', `Record ${next} of agent "${agentId}" is missing.`)
        const record = readRecord(body, { file: `${this.#connection.file}, agent "${agentId}"`, line: seq })
        if (record instanceof RuntimeError) throw record
        yield record
        next += 1
      }
      if (rows.length < wanted) return
      left -= rows.length
    }
  }

  #page(agentId: string, from: number, count: number): { readonly seq: number; readonly body: string }[] {
    const sql =
      'SELECT r.seq, r.body FROM agents a JOIN records r ON r.agent = a.number WHERE a.id = ? AND r.seq >= ? ORDER BY r.seq LIMIT ?'
    const rows = this.#read(() => this.#connection.statement(sql).all(agentId, from, count), [])
    return rows.map(({ seq, body }) => ({ seq: Number(seq), body: String(body) }))
  }

  async list(): Promise<readonly string[]> {
    const rows = this.#read(
      () => this.#connection.statement('SELECT id FROM agents WHERE last_seq > 0 ORDER BY id').all(),
      [],
    )
    return rows.map(({ id }) => String(id))
  }

  async stat(agentId: string): Promise<LogStat | undefined> {
    checkAgentId(agentId)
    const sql = 'SELECT last_seq, written_at FROM agents WHERE id = ? AND last_seq > 0'
    const row = this.#read(() => this.#connection.statement(sql).get(agentId), undefined)
    return row === undefined ? undefined : { size: Number(row['last_seq']), writtenAt: Number(row['written_at']) }
  }

  holds(agentId?: string, epoch?: number): boolean {
    if (agentId === undefined) return true
    const lease = this.#leases.get(agentId)
    if (lease?.isLost !== false || (epoch !== undefined && lease.epoch !== epoch)) return false
    // Another process may have taken it, and told nobody.
    return this.#newestEpoch(agentId) === lease.epoch
  }

  async announce(url: string | undefined): Promise<void> {
    if (this.#closed !== undefined) throw this.#closedError()
    await this.#writers.announce(url)
  }

  async workers(): Promise<readonly LogWorker[]> {
    return this.#writers.announced(this.#read(() => this.#writers.rows(), []))
  }

  async holder(agentId: string): Promise<LogHolder | undefined> {
    checkAgentId(agentId)
    const row = this.#read(() => this.#writers.row(agentId), undefined)
    return row === undefined ? undefined : this.#writers.holder(row)
  }

  /** Runs a read, which returns `nothing` while there is no database. A closed store can still read, as any other process can. */
  #read<T>(work: () => T, nothing: T): T {
    try {
      return this.#connection.isThere ? work() : nothing
    } catch (thrown) {
      throw this.#connection.failure('STORE_READ_FAILED', 'read', thrown)
    } finally {
      if (this.#closed !== undefined) this.#connection.close()
    }
  }

  async page(query: LogQuery = {}): Promise<LogPage> {
    return this.#read(() => readPage(this.#connection, query), {
      logs: [],
      ...(query.total === true ? { total: 0 } : {}),
    })
  }

  async search(query: SearchQuery): Promise<readonly SearchHit[]> {
    if (this.#closed === undefined && this.#connection.isThere) await this.#texts.catchUp()
    return this.#read(() => this.#texts.search(query), [])
  }

  open(agentId: string, { takeOver = false }: LeaseOptions = {}): Promise<StoreLease> {
    return this.#alone(agentId, 'STORE_OPEN_FAILED', 'opened', () => this.#open(agentId, takeOver))
  }

  async #open(agentId: string, takeOver: boolean): Promise<StoreLease> {
    const writer = await this.#writers.self()
    const dead = takeOver ? 'any' : await this.#freeOf(agentId)
    const lease = await this.#connection.writing(() => {
      const row = this.#connection.statement('SELECT number, writer, last_seq FROM agents WHERE id = ?').get(agentId)
      const holder = row?.['writer'] ?? null
      if (holder !== null && dead !== 'any' && holder !== dead) throw this.#writers.locked(agentId, Number(holder))
      const epoch = Number(
        this.#connection.statement('UPDATE epochs SET last = last + 1 RETURNING last').get()!['last'],
      )
      const sql =
        'INSERT INTO agents (id, epoch, writer) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO UPDATE SET epoch = ?2, writer = ?3 RETURNING number'
      const number = Number(this.#connection.statement(sql).get(agentId, epoch, writer)!['number'])
      return { agentId, number, epoch, lastSeq: Number(row?.['last_seq'] ?? 0) }
    })
    this.#leases.get(agentId)?.lose()
    const opened = new SqliteLease(lease, (one) => this.#free(one))
    this.#leases.set(agentId, opened)
    return opened
  }

  async #free(lease: SqliteLease): Promise<void> {
    // What was given before is written first.
    while (lease.waiting > 0) await new Promise((done) => setImmediate(done))
    if (this.#leases.get(lease.agentId) === lease) this.#leases.delete(lease.agentId)
    this.snapshots.forget(lease.agentId)
    const leases = [...this.#unreleased, lease]
    this.#unreleased.add(lease)
    try {
      await this.#connection.writing(() => {
        const sql = 'UPDATE agents SET writer = NULL WHERE number = ? AND epoch = ?'
        for (const { number, epoch } of leases) this.#connection.statement(sql).run(number, epoch)
      })
      for (const told of leases) this.#unreleased.delete(told)
    } catch (thrown) {
      throw this.#connection.failure('STORE_APPEND_FAILED', 'let go of', thrown)
    }
  }

  /**
   * Returns the writer from which a log may be taken: its process is gone, or it is this store, which has released the log. `undefined` if
   * the log has no writer.
   *
   * @throws RuntimeError `STORE_LOCKED`
   */
  async #freeOf(agentId: string): Promise<number | undefined> {
    const own = this.#leases.has(agentId) ? undefined : await this.#writers.known
    return this.#writers.dead(agentId, own)
  }

  delete(agentId: string): Promise<void> {
    return this.#alone(agentId, 'STORE_DELETE_FAILED', 'changed', () => this.#delete(agentId))
  }

  async #delete(agentId: string): Promise<void> {
    if (!this.#connection.isThere) return
    const dead = await this.#freeOf(agentId)
    await this.#connection.writing(() => {
      const row = this.#connection
        .statement('SELECT number, writer, path, forked_from, metadata FROM agents WHERE id = ?')
        .get(agentId)
      if (row === undefined) return
      const writer = row['writer'] ?? null
      if (writer !== null && writer !== dead) throw this.#writers.locked(agentId, Number(writer))
      for (const table of ['records', 'contents', 'checkpoints'])
        this.#connection.statement(`DELETE FROM ${table} WHERE agent = ?`).run(row['number']!)
      this.#connection.statement('DELETE FROM checkpoints WHERE agent = ?').run(-Number(row['number']))
      for (const label of labelsIn(row))
        this.#connection
          .statement('DELETE FROM labels WHERE name = ? AND value = ? AND agent = ?')
          .run(...label, row['number']!)
      this.#texts.delete(Number(row['number']))
      this.#connection.statement('DELETE FROM agents WHERE number = ?').run(row['number']!)
    })
  }

  /** Runs work that takes a log. `close` waits for it. */
  async #alone<T>(
    agentId: string,
    code: 'STORE_OPEN_FAILED' | 'STORE_DELETE_FAILED',
    done: string,
    work: () => Promise<T>,
  ): Promise<T> {
    if (this.#closed !== undefined) throw this.#closedError()
    checkAgentId(agentId)
    const working = work()
    this.#working.add(working)
    try {
      return await working
    } catch (thrown) {
      throw this.#connection.failure(code, done, thrown)
    } finally {
      this.#working.delete(working)
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#texts.close()
    await Promise.allSettled(this.#working)
    const released = await Promise.allSettled([...this.#leases.values()].map((lease) => lease.release()))
    await this.#writers.leave()
    this.#connection.close()
    for (const outcome of released) if (outcome.status === 'rejected') throw outcome.reason
  }

  #closedError(): RuntimeError {
    return new RuntimeError('STORE_CLOSED', `The SQLite store of ${this.#connection.file} is closed.`)
  }
}

/**
 * A store in one SQLite file, created if missing, for the logs of any number of agents on one machine. It suits filtered lists of agents,
 * and processes that take agents over from one another. It uses Node's own SQLite and needs no package. Several processes may have the
 * file open. An agent's log is written by one process at a time, and is free once that process is gone. See `Store` for the contract.
 *
 * @throws RuntimeError `INVALID_OPTION` if `file` is blank or an option is wrong, or where Node has no SQLite. Problems with the file are
 * reported by `open` (`STORE_OPEN_FAILED`) and `read` (`STORE_READ_FAILED`): it is not such a database, or its tables are newer than this
 * version knows.
 *
 * @example
 * ```ts
 * import { sqliteStore } from 'escapement/sqlite'
 *
 * const runtime = await createRuntime({ store: sqliteStore('.escapement/agents.db') })
 * await runtime.close() // closes the store too
 * ```
 */
export function sqliteStore(file: string, options: SqliteStoreOptions = {}): ErasableStore {
  if (typeof file !== 'string' || file.trim() === '')
    throw new RuntimeError('INVALID_OPTION', `sqliteStore needs the path of a file, not ${JSON.stringify(file)}.`)
  checkedBy(optionsSchema(), options, 'sqliteStore was given a wrong option')
  return new SqliteStore(resolve(file), options)
}
