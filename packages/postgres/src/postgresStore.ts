import { quietClock, systemClock } from '../../../src/protocol/ports/clock.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { checkAgentId } from '../../../src/protocol/ids.ts'
import type { LogPage, LogQuery } from '../../../src/protocol/ports/logPages.ts'
import type { SearchHit, SearchQuery } from '../../../src/protocol/ports/logSearch.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type {
  ErasableStore,
  LeaseOptions,
  LogHolder,
  LogStat,
  LogWorker,
  StoreFigures,
  StoreLease,
} from '../../../src/protocol/ports/store.ts'
import { bodiesOf } from '../../stores/src/bodiesOf.ts'
import { checkLease, leaseLost, seqFrom } from '../../stores/src/rules/appendChecks.ts'
import { defaultSnapshotLimits } from '../../stores/src/rules/snapshotLimits.ts'
import { checkPlace, type PostgresPlace } from './address.ts'
import { AppendQueue } from './appendQueue.ts'
import { Database, type Row } from './database.ts'
import type { PostgresPool } from './pool.ts'
import { PostgresCheckpoints } from './postgresCheckpoints.ts'
import { type LeaseOf, PostgresLease } from './postgresLease.ts'
import { checkPostgresOptions, type PostgresStoreOptions } from './postgresOptions.ts'
import { PostgresSnapshots } from './postgresSnapshots.ts'
import { PostgresTimers } from './postgresTimers.ts'
import { LogReader } from './logReader.ts'
import { hasTables, prepareTables } from './tables.ts'
import { readPage } from './postgresPages.ts'
import { TextIndex } from './textIndex.ts'
import { isAlive, Worker, workerWords } from './worker.ts'

/** Time limit for deleting one log, in milliseconds. */
const deletionMs = 300_000

class PostgresStore implements ErasableStore {
  readonly snapshots: PostgresSnapshots
  readonly checkpoints: PostgresCheckpoints
  readonly timers: PostgresTimers
  readonly #database: Database
  readonly search?: (query: SearchQuery) => Promise<readonly SearchHit[]>
  readonly #texts: TextIndex
  readonly #queue: AppendQueue
  readonly #reader: LogReader
  readonly #worker: Worker
  readonly #leases = new Map<string, PostgresLease>()
  /** Opens and deletes in progress, by agent. */
  readonly #working = new Map<string, Promise<unknown>>()
  #prepared: Promise<void> | undefined
  #isThere = false
  #closed: Promise<void> | undefined

  constructor(place: PostgresPlace, options: PostgresStoreOptions) {
    const { schema = 'escapement', leaseMs = 10_000, connections = 4, queryTimeoutMs = 5_000 } = options
    const { retryMs = 30_000, clock = systemClock, snapshots, search = true, logger } = options
    this.#database = new Database(place, { schema, connections, queryTimeoutMs, retryMs, clock, logger })
    this.#texts = new TextIndex(this.#database, clock)
    this.#reader = new LogReader(this.#database)
    if (search) this.search = (query) => this.#search(query)
    this.#queue = new AppendQueue(this.#database, queryTimeoutMs, (agent) => {
      if (search) this.#texts.written(agent)
    })
    // Beats do not keep a process alive.
    const beats = clock === systemClock ? quietClock : clock
    this.#worker = new Worker(this.#database, { leaseMs, clock: beats }, () => this.#leases.values())
    const leaseOf: LeaseOf = (agentId, epoch) => this.#leaseOf(agentId, epoch)
    this.checkpoints = new PostgresCheckpoints(this.#database, queryTimeoutMs, leaseOf)
    this.timers = new PostgresTimers(this.#database, leaseOf)
    const given = Object.entries(snapshots ?? {}).filter(([, value]) => value !== undefined)
    this.snapshots = new PostgresSnapshots(this.#database, { ...defaultSnapshotLimits, ...Object.fromEntries(given) })
  }

  async append(agentId: string, records: readonly LogRecord[], epoch?: number): Promise<void> {
    // At once, so that the order of calls is kept.
    const lease = this.#heldAs(agentId, epoch) ?? (await this.#leaseOf(agentId, epoch))
    await this.#queue.add(lease, records, bodiesOf(agentId, records))
    if (this.#worker.holds) return
    // The process was frozen, or the database gone: what follows the records is only for who still has the log.
    await this.#doing('STORE_APPEND_FAILED', 'written', () => this.#database.patiently(() => this.#worker.renew()))
    if (lease.isLost) throw leaseLost(agentId, lease.epoch, undefined)
  }

  /** Returns the current lease of an agent if it has the given epoch. */
  #heldAs(agentId: string, epoch: number | undefined): PostgresLease | undefined {
    if (this.#closed !== undefined) throw this.#closedError()
    const lease = this.#leases.get(agentId)
    if (lease === undefined || lease.isReleased || (epoch !== undefined && epoch !== lease.epoch)) return undefined
    // What is known is not asked for again.
    if (lease.isLost) throw leaseLost(agentId, lease.epoch, undefined)
    return lease
  }

  /** Returns the current lease. @throws RuntimeError `STORE_CLOSED`, `STORE_NOT_OPEN`, `STORE_LEASE_LOST` */
  async #leaseOf(agentId: string, epoch: number | undefined): Promise<PostgresLease> {
    const held = this.#heldAs(agentId, epoch)
    if (held !== undefined) return held
    const lease = this.#leases.get(agentId)
    const out = lease?.isReleased === false ? lease : undefined
    checkLease(agentId, { held: out?.epoch, newest: out?.epoch ?? (await this.#newestEpoch(agentId, epoch)) }, epoch)
    return out!
  }

  /** Returns the epoch of the newest lease so far, if it matters. */
  async #newestEpoch(agentId: string, named: number | undefined): Promise<number> {
    if (named === undefined) return 0
    const sql = `SELECT epoch FROM ${this.#database.schema}.agents WHERE id = $1`
    const rows = await this.#doing('STORE_APPEND_FAILED', 'written', () => this.#query(sql, [agentId]))
    return Number(rows[0]?.['epoch'] ?? 0)
  }

  async *read(agentId: string, fromSeq = 1, most = Infinity): AsyncGenerator<LogRecord, void, undefined> {
    checkAgentId(agentId)
    try {
      if (!(await this.#hasTables())) return
      const from = fromSeq < 0 ? seqFrom(fromSeq, (await this.stat(agentId))?.size ?? 0) : fromSeq
      yield* this.#reader.read(agentId, from, most)
    } catch (thrown) {
      throw this.#database.failure('STORE_READ_FAILED', 'read', thrown)
    }
  }

  async list(): Promise<readonly string[]> {
    const sql = `SELECT id FROM ${this.#database.schema}.agents WHERE last_seq > 0 ORDER BY id`
    const rows = await this.#doing('STORE_READ_FAILED', 'read', () => this.#query(sql))
    return rows.map(({ id }) => String(id))
  }

  async stat(agentId: string): Promise<LogStat | undefined> {
    checkAgentId(agentId)
    const sql = `SELECT last_seq, written_at FROM ${this.#database.schema}.agents WHERE id = $1 AND last_seq > 0`
    const [row] = await this.#doing('STORE_READ_FAILED', 'read', () => this.#query(sql, [agentId]))
    return row === undefined ? undefined : { size: Number(row['last_seq']), writtenAt: Number(row['written_at']) }
  }

  page(query: LogQuery = {}): Promise<LogPage> {
    return this.#doing('STORE_READ_FAILED', 'read', async () =>
      (await this.#hasTables())
        ? readPage(this.#database, query)
        : { logs: [], ...(query.total === true ? { total: 0 } : {}) },
    )
  }

  #search(query: SearchQuery): Promise<readonly SearchHit[]> {
    return this.#doing('STORE_READ_FAILED', 'read', async () =>
      (await this.#hasTables()) ? this.#texts.search(query) : [],
    )
  }

  /** Runs a query, which finds nothing while there are no tables. A closed store can still read, as any other process can. */
  async #query(text: string, values?: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.#hasTables()) ? await this.#database.query(text, values) : []
  }

  async #hasTables(): Promise<boolean> {
    this.#isThere ||= await hasTables(this.#database)
    return this.#isThere
  }

  async open(agentId: string, { takeOver = false }: LeaseOptions = {}): Promise<StoreLease> {
    return await this.#alone(agentId, 'STORE_OPEN_FAILED', 'opened', takeOver, () => this.#open(agentId, takeOver))
  }

  async #open(agentId: string, takeOver: boolean): Promise<StoreLease> {
    await this.#prepare()
    const lease = await this.#take(agentId, takeOver)
    if (lease !== undefined) return lease
    if (!(await this.#worker.endDead(agentId))) throw await this.#locked(agentId)
    return (await this.#take(agentId, takeOver)) ?? Promise.reject(await this.#locked(agentId))
  }

  /** Takes the log; `undefined` if another process has it. */
  async #take(agentId: string, takeOver: boolean): Promise<StoreLease | undefined> {
    const worker = await this.#worker.number
    const { schema } = this.#database
    const rows = await this.#database.query(
      `INSERT INTO ${schema}.agents AS a (id, epoch, worker) VALUES ($1, nextval('${schema}.epochs'), $2)
      ON CONFLICT (id) DO UPDATE SET epoch = nextval('${schema}.epochs'), worker = $2
      WHERE $3 OR a.worker IS NULL OR a.worker = $2
        OR NOT EXISTS (SELECT FROM ${schema}.workers w WHERE w.number = a.worker AND ${isAlive('w')})
      RETURNING number, epoch, last_seq`,
      [agentId, worker, takeOver],
    )
    const [row] = rows
    if (row === undefined) return undefined
    this.#leases.get(agentId)?.lose()
    const [number, epoch, lastSeq] = [Number(row['number']), Number(row['epoch']), Number(row['last_seq'])]
    const lease = new PostgresLease({ agentId, number, epoch, lastSeq }, (one) => this.#free(one))
    this.#leases.set(agentId, lease)
    return lease
  }

  async #prepare(): Promise<void> {
    this.#prepared ??= prepareTables(this.#database)
    this.#prepared.catch(() => (this.#prepared = undefined))
    await this.#prepared
    this.#isThere = true
  }

  async announce(url: string | undefined): Promise<void> {
    if (this.#closed !== undefined) throw this.#closedError()
    await this.#doing('STORE_OPEN_FAILED', 'written', async () => {
      if (url !== undefined) await this.#prepare()
      await this.#worker.announce(url)
    })
  }

  async holder(agentId: string): Promise<LogHolder | undefined> {
    checkAgentId(agentId)
    return this.#doing('STORE_READ_FAILED', 'read', async () =>
      (await this.#hasTables()) ? this.#worker.holder(agentId) : undefined,
    )
  }

  async workers(): Promise<readonly LogWorker[]> {
    return this.#doing('STORE_READ_FAILED', 'read', async () =>
      (await this.#hasTables()) ? this.#worker.announced() : [],
    )
  }

  holds(agentId?: string, epoch?: number): boolean {
    if (agentId === undefined || !this.#worker.holds) return this.#worker.holds
    const lease = this.#leases.get(agentId)
    return lease?.isLost === false && (epoch === undefined || lease.epoch === epoch)
  }

  figures(): StoreFigures {
    const leaseAgeMs = this.#worker.saidAgoMs
    return { ...this.#queue.figures, ...(leaseAgeMs === undefined ? {} : { leaseAgeMs }) }
  }

  async #locked(agentId: string): Promise<RuntimeError> {
    const { schema, name } = this.#database
    const [row] = await this.#database.query(
      `SELECT w.holder, extract(epoch FROM w.beat + w.lease - clock_timestamp())::float8 AS left
      FROM ${schema}.agents a JOIN ${schema}.workers w ON w.number = a.worker WHERE a.id = $1`,
      [agentId],
    )
    const who = row === undefined ? 'a holder that is just letting go of it' : workerWords(row)
    return new RuntimeError('STORE_LOCKED', `The log of agent "${agentId}" in ${name} is held by ${who}.`)
  }

  async #free(lease: PostgresLease): Promise<void> {
    // What was given before is written first.
    await lease.written()
    // `close` frees many at once.
    if (this.#leases.get(lease.agentId) !== lease) return
    await this.#worker.release([lease])
    this.#forget(lease)
  }

  #forget(lease: PostgresLease): void {
    if (this.#leases.get(lease.agentId) !== lease) return
    this.#leases.delete(lease.agentId)
    this.snapshots.forget(lease.agentId)
  }

  async delete(agentId: string): Promise<void> {
    await this.#alone(agentId, 'STORE_DELETE_FAILED', 'changed', false, () => this.#delete(agentId))
  }

  async #delete(agentId: string): Promise<void> {
    if (!(await this.#hasTables())) return
    const { schema } = this.#database
    const worker = await this.#worker.known
    const isDone = await this.#database.transaction(async (run) => {
      const [row] = await run(
        `SELECT a.number, a.worker IS DISTINCT FROM $2
          AND EXISTS (SELECT FROM ${schema}.workers w WHERE w.number = a.worker AND ${isAlive('w')}) AS held
        FROM ${schema}.agents a WHERE a.id = $1 FOR UPDATE`,
        [agentId, worker ?? null],
      )
      if (row === undefined) return true
      if (row['held'] === true) return false
      for (const table of ['records', 'labels', 'contents', 'checkpoints', 'texts', 'noted'])
        await run(`DELETE FROM ${schema}.${table} WHERE agent = $1`, [row['number']], deletionMs)
      await run(`DELETE FROM ${schema}.checkpoints WHERE agent = -$1::bigint`, [row['number']], deletionMs)
      await run(`DELETE FROM ${schema}.agents WHERE number = $1`, [row['number']])
      return true
    })
    if (!isDone) throw await this.#locked(agentId)
  }

  /** Runs work that takes a log, unless this store has taken it already. `close` waits for the work. */
  async #alone<T>(
    agentId: string,
    code: 'STORE_OPEN_FAILED' | 'STORE_DELETE_FAILED',
    done: string,
    takeOver: boolean,
    work: () => Promise<T>,
  ): Promise<T> {
    if (this.#closed !== undefined) throw this.#closedError()
    checkAgentId(agentId)
    const isOut = this.#leases.get(agentId)?.isLost === false
    if (this.#working.has(agentId) || (isOut && !takeOver)) throw this.#lockedHere(agentId)
    const working = this.#doing(code, done, work)
    this.#working.set(agentId, working)
    try {
      return await working
    } finally {
      this.#working.delete(agentId)
    }
  }

  #lockedHere(agentId: string): RuntimeError {
    const where = `in ${this.#database.name} is open in this process (${process.pid})`
    return new RuntimeError('STORE_LOCKED', `The log of agent "${agentId}" ${where}.`)
  }

  async #doing<T>(
    code: 'STORE_OPEN_FAILED' | 'STORE_DELETE_FAILED' | 'STORE_READ_FAILED' | 'STORE_APPEND_FAILED',
    done: string,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      throw this.#database.failure(code, done, thrown)
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#working.values())
    const leases = [...this.#leases.values()]
    await Promise.all(leases.map((lease) => lease.written()))
    // All at once.
    await this.#worker.release(leases.filter((lease) => !lease.isReleased))
    for (const lease of leases) this.#forget(lease)
    await Promise.all(leases.map((lease) => lease.release()))
    await this.#texts.close()
    await this.#worker.leave()
    await this.#database.close()
  }

  #closedError(): RuntimeError {
    return new RuntimeError('STORE_CLOSED', `The store in ${this.#database.name} is closed.`)
  }
}

/**
 * A store in a PostgreSQL database, for the logs of any number of agents and processes. An agent's log is written by one process at a time.
 * The log of a process that is gone, or has stopped reporting, becomes free after `leaseMs`. Needs the optional package `pg`. The first
 * `open` creates the tables or updates them. See `Store` for the contract.
 *
 * Operations that fail for a moment (a restart of the database, the network, a full disk) are retried for `retryMs`, with no record lost
 * or written twice. An agent that has to wait longer pauses with `STORE_APPEND_FAILED`.
 *
 * @param place The URL of a database, or a `Pool` of `pg` that the application has created and ends itself.
 * @throws RuntimeError `INVALID_OPTION` for anything but such a URL or pool, and for wrong options. Problems with the database are reported
 * by `open` (`STORE_OPEN_FAILED`) and `read` (`STORE_READ_FAILED`), and a missing package by `open` (`PACKAGE_MISSING`). No error contains
 * the password of the URL.
 *
 * @example
 * ```ts no-run
 * import { postgresStore } from 'escapement/postgres'
 *
 * const runtime = await createRuntime({ store: postgresStore(process.env['DATABASE_URL']!) })
 * await runtime.close() // closes the store too
 * ```
 */
export function postgresStore(place: string | PostgresPool, options: PostgresStoreOptions = {}): ErasableStore {
  checkPlace(place)
  checkPostgresOptions(options)
  return new PostgresStore(place, options)
}
