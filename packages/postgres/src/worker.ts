import type { Clock } from '../../../src/protocol/ports/clock.ts'
import type { LogHolder, LogWorker } from '../../../src/protocol/ports/store.ts'
import { hasEnded, holderIn, holderWords, newHolder } from '../../stores/src/holder.ts'
import type { Database, Row } from './database.ts'
import type { PostgresLease } from './postgresLease.ts'

/** Returns the SQL condition that a worker's row counts as alive. Only the database's clock is used. */
export const isAlive = (worker: string): string => `${worker}.beat + ${worker}.lease > clock_timestamp()`

/** Number of renewals, or of tries after a failure, within the time of a lease. */
const beats = 3
const triesAfterFailure = 12

/**
 * A point in time by two clocks: the store's, which may be set back, and a monotonic one, which may stand still while the machine
 * sleeps.
 */
interface Moment {
  readonly at: number
  readonly steady: number
}

const momentOf = (clock: Clock): Moment => ({ at: clock.now(), steady: performance.now() })

/** Returns the longer of the two elapsed times, in milliseconds. */
const msSince = ({ at, steady }: Moment, clock: Clock): number => Math.max(clock.now() - at, performance.now() - steady)

/** Describes the holder of a log, from a row with `holder`. */
function wordsOf({ holder }: Row): string {
  const known = typeof holder === 'string' ? holderIn(holder) : undefined
  return known === undefined ? 'an unknown holder' : holderWords(known)
}

/** Describes the holder, with the remaining seconds of its lease from `left`. */
export const workerWords = (row: Row): string =>
  `${wordsOf(row)}, for ${Math.max(1, Math.ceil(Number(row['left'])))} s more unless it goes on`

/** This store's entry among the writers. It reports that the store is alive, and learns which logs others have taken. */
export class Worker {
  readonly #database: Database
  readonly #leaseMs: number
  readonly #clock: Clock
  readonly #leases: () => Iterable<PostgresLease>
  #number: Promise<number> | undefined
  /** Description of this store as a holder, as in its row. */
  #holder = ''
  #stopTimer: (() => void) | undefined
  /** Address at which the store's agents are reached. */
  #url: string | undefined
  /** Leases that ended while the database was unreachable. */
  readonly #unreleased = new Set<PostgresLease>()
  #isEnded = false
  /** Time of the last successful report, taken before it was sent. */
  #said: Moment | undefined
  #renewing: Promise<void> | undefined

  /** `leases`: the current leases. */
  constructor(
    database: Database,
    { leaseMs, clock }: { readonly leaseMs: number; readonly clock: Clock },
    leases: () => Iterable<PostgresLease>,
  ) {
    this.#database = database
    this.#leaseMs = leaseMs
    this.#clock = clock
    this.#leases = leases
  }

  /** True while others consider this store alive, as far as it can know. */
  get holds(): boolean {
    return this.#said === undefined || msSince(this.#said, this.#clock) < this.#leaseMs
  }

  /** Milliseconds since the last report, as far as known; `undefined` before the first. */
  get saidAgoMs(): number | undefined {
    return this.#said === undefined ? undefined : msSince(this.#said, this.#clock)
  }

  /** Reports now that the store is alive, and learns which logs others have taken. Rejects as the database does. */
  renew(): Promise<void> {
    this.#renewing ??= this.#beat().finally(() => (this.#renewing = undefined))
    return this.#renewing
  }

  /** Number of the store among the workers. The first access adds it. */
  get number(): Promise<number> {
    this.#number ??= this.#join()
    this.#number.catch(() => (this.#number = undefined))
    return this.#number
  }

  /** Number of the store if it is a worker. Does not add it. */
  get known(): Promise<number | undefined> {
    return this.#number?.catch(() => undefined) ?? Promise.resolve(undefined)
  }

  async #join(): Promise<number> {
    const { schema } = this.#database
    const holder = (this.#holder = JSON.stringify(await newHolder()))
    const said = momentOf(this.#clock)
    // Those that have been gone for long, and have nothing, are forgotten.
    const rows = await this.#database.query(
      `WITH gone AS (
        DELETE FROM ${schema}.workers w WHERE w.beat + w.lease < now() - interval '1 day'
          AND NOT EXISTS (SELECT FROM ${schema}.agents a WHERE a.worker = w.number)
      )
      INSERT INTO ${schema}.workers (holder, beat, lease, url) VALUES ($1, clock_timestamp(), make_interval(secs => $2), $3) RETURNING number`,
      [holder, this.#leaseMs / 1_000, this.#url ?? null],
    )
    this.#said = said
    this.#wait(beats)
    return Number(rows[0]!['number'])
  }

  #wait(times: number): void {
    if (this.#isEnded) return
    this.#stopTimer = this.#clock.after(this.#leaseMs / times, () => {
      // A beat that fails is soon made up for.
      void this.renew().then(
        () => this.#wait(beats),
        () => this.#wait(triesAfterFailure),
      )
    })
  }

  async #beat(): Promise<void> {
    const number = await this.#number
    const said = momentOf(this.#clock)
    const leases = [...this.#leases()]
    const { schema } = this.#database
    const list = (of: (lease: PostgresLease) => number, from: readonly PostgresLease[]): string =>
      `{${from.map(of).join(',')}}`
    const numberOf = (lease: PostgresLease): number => lease.number
    const epochOf = (lease: PostgresLease): number => lease.epoch
    const ended = [...this.#unreleased]
    const lost = await this.#database.once(
      `WITH beat AS (
        INSERT INTO ${schema}.workers (number, holder, beat, lease, url) OVERRIDING SYSTEM VALUE
          VALUES ($1, $2, clock_timestamp(), make_interval(secs => $3), $8)
          ON CONFLICT (number) DO UPDATE SET beat = excluded.beat, url = excluded.url
      ), ended AS (
        UPDATE ${schema}.agents a SET worker = NULL
        FROM unnest($6::bigint[], $7::bigint[]) AS e (number, epoch) WHERE a.number = e.number AND a.epoch = e.epoch
      )
      SELECT m.number, m.epoch FROM unnest($4::bigint[], $5::bigint[]) AS m (number, epoch)
      LEFT JOIN ${schema}.agents a ON a.number = m.number WHERE a.epoch IS DISTINCT FROM m.epoch`,
      [
        number,
        this.#holder,
        this.#leaseMs / 1_000,
        list(numberOf, leases),
        list(epochOf, leases),
        list(numberOf, ended),
        list(epochOf, ended),
        this.#url ?? null,
      ],
      Math.max(100, this.#leaseMs / beats),
    )
    this.#said = said
    for (const lease of ended) this.#unreleased.delete(lease)
    const gone = new Set(lost.map(({ number: agent, epoch }) => `${Number(agent)} ${Number(epoch)}`))
    for (const lease of leases) if (gone.has(`${lease.number} ${lease.epoch}`)) lease.lose()
  }

  /** Publishes the address at which agents with open logs in this store are reached. */
  async announce(url: string | undefined): Promise<void> {
    this.#url = url
    if (url === undefined && this.#number === undefined) return
    const number = await this.number
    await this.#database.query(`UPDATE ${this.#database.schema}.workers SET url = $2 WHERE number = $1`, [
      number,
      this.#url ?? null,
    ])
  }

  /** Returns the holder of a log, if it is reported alive. */
  async holder(agentId: string): Promise<LogHolder | undefined> {
    const { schema } = this.#database
    const [row] = await this.#database.query(
      `SELECT a.epoch, w.number, w.holder, w.url, extract(epoch FROM w.beat + w.lease - clock_timestamp())::float8 AS left FROM ${schema}.agents a JOIN ${schema}.workers w ON w.number = a.worker
      WHERE a.id = $1 AND ${isAlive('w')}`,
      [agentId],
    )
    if (row === undefined) return undefined
    const { epoch, number, url } = row
    const isHere = number === (await this.known)
    return { ...(typeof url === 'string' ? { url } : {}), epoch: Number(epoch), isHere, words: workerWords(row) }
  }

  /** Ends all leases of a log's holder if that was a process on this machine that no longer exists. Returns `false` if that is unknown. */
  async endDead(agentId: string): Promise<boolean> {
    const { schema } = this.#database
    const [row] = await this.#database.query(
      `SELECT w.number, w.holder FROM ${schema}.agents a JOIN ${schema}.workers w ON w.number = a.worker WHERE a.id = $1`,
      [agentId],
    )
    const holder = typeof row?.['holder'] === 'string' ? holderIn(row['holder']) : undefined
    if (holder === undefined || !(await hasEnded(holder))) return false
    await this.#database.query(`UPDATE ${schema}.workers SET beat = '-infinity' WHERE number = $1`, [row!['number']])
    return true
  }

  /** Returns the workers that have published an address and are alive. */
  async announced(): Promise<readonly LogWorker[]> {
    const sql = `SELECT url, holder FROM ${this.#database.schema}.workers w WHERE url IS NOT NULL AND ${isAlive('w')} ORDER BY url, number`
    return (await this.#database.query(sql)).map((row) => ({ url: String(row['url']), words: wordsOf(row) }))
  }

  /** Releases logs for other writers. If the database is unreachable, this happens with the next report, or the leases expire. */
  async release(leases: readonly PostgresLease[]): Promise<void> {
    if (leases.length === 0) return
    const { schema } = this.#database
    for (const lease of leases) this.#unreleased.add(lease)
    try {
      await this.#database.query(
        `UPDATE ${schema}.agents a SET worker = NULL
        FROM unnest($1::bigint[], $2::bigint[]) AS e (number, epoch) WHERE a.number = e.number AND a.epoch = e.epoch`,
        [`{${leases.map(({ number }) => number).join(',')}}`, `{${leases.map(({ epoch }) => epoch).join(',')}}`],
      )
      for (const lease of leases) this.#unreleased.delete(lease)
    } catch {
      // As said above.
    }
  }

  /** Removes this store from the workers, and releases all its logs. */
  async leave(): Promise<void> {
    this.#isEnded = true
    const number = await this.known
    this.#stopTimer?.()
    if (number === undefined) return
    const sql = `DELETE FROM ${this.#database.schema}.workers WHERE number = $1`
    await this.#database.query(sql, [number]).catch(() => undefined)
  }
}
