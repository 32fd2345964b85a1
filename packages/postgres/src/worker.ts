import type { Clock } from '../../../src/protocol/ports/clock.ts'
import type { LogHolder, LogWorker } from '../../../src/protocol/ports/store.ts'
import { hasEnded, holderIn, holderWords, newHolder } from '../../stores/src/holder.ts'
import type { Database, Row } from './database.ts'
import type { PostgresLease } from './postgresLease.ts'

/** A worker's row counts as alive while this holds: only the clock of the database is asked. */
export const isAlive = (worker: string): string => `${worker}.beat + ${worker}.lease > clock_timestamp()`

/** How often in the time of a lease it is renewed; and tried again when that failed. */
const beats = 3
const triesAfterFailure = 12

/**
 * A point in time by the clock of the store, which may be set back, and by one that only goes forward, which may stand still while the
 * machine sleeps.
 */
interface Moment {
  readonly at: number
  readonly steady: number
}

const momentOf = (clock: Clock): Moment => ({ at: clock.now(), steady: performance.now() })

/** The longer of the two, in milliseconds. */
const msSince = ({ at, steady }: Moment, clock: Clock): number => Math.max(clock.now() - at, performance.now() - steady)

/** In words, who has a log, from a row with `holder`. */
function wordsOf({ holder }: Row): string {
  const known = typeof holder === 'string' ? holderIn(holder) : undefined
  return known === undefined ? 'an unknown holder' : holderWords(known)
}

/** The same, with the seconds that are `left` to it. */
export const workerWords = (row: Row): string =>
  `${wordsOf(row)}, for ${Math.max(1, Math.ceil(Number(row['left'])))} s more unless it goes on`

/** This store among those that write: it says that it is alive, and hears which logs others have taken. */
export class Worker {
  readonly #database: Database
  readonly #leaseMs: number
  readonly #clock: Clock
  readonly #leases: () => Iterable<PostgresLease>
  #number: Promise<number> | undefined
  /** Holder that this store is, as its row has it. */
  #holder = ''
  #stopTimer: (() => void) | undefined
  /** Where its agents are reached. */
  #url: string | undefined
  /** Leases that ended while the database could not be told. */
  readonly #unreleased = new Set<PostgresLease>()
  #isEnded = false
  /** When it last said that it is alive: before it was heard. */
  #said: Moment | undefined
  #renewing: Promise<void> | undefined

  /** `leases`: those that are out. */
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

  /** True while others take it for alive, as far as it can know. */
  get holds(): boolean {
    return this.#said === undefined || msSince(this.#said, this.#clock) < this.#leaseMs
  }

  /** Milliseconds since it last said that it is alive, as far as it can know; `undefined`: it has not said so yet. */
  get saidAgoMs(): number | undefined {
    return this.#said === undefined ? undefined : msSince(this.#said, this.#clock)
  }

  /** Says now that it is alive, and hears which logs others have taken. Rejects as the database does. */
  renew(): Promise<void> {
    this.#renewing ??= this.#beat().finally(() => (this.#renewing = undefined))
    return this.#renewing
  }

  /** Its number in the table, where it is from the first call on. */
  get number(): Promise<number> {
    this.#number ??= this.#join()
    this.#number.catch(() => (this.#number = undefined))
    return this.#number
  }

  /** Its number if it is one of them; does not make it one. */
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

  /** Says where the agents are reached whose logs this store has open. */
  async announce(url: string | undefined): Promise<void> {
    this.#url = url
    if (url === undefined && this.#number === undefined) return
    const number = await this.number
    await this.#database.query(`UPDATE ${this.#database.schema}.workers SET url = $2 WHERE number = $1`, [
      number,
      this.#url ?? null,
    ])
  }

  /** Returns the holder of a log, if it says that it is alive. */
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

  /** Ends all leases of who has a log, if that was a process of this machine that is not there any more; `false`: that is not known. */
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

  /** Returns the workers that have announced where they are, and say that they are alive. */
  async announced(): Promise<readonly LogWorker[]> {
    const sql = `SELECT url, holder FROM ${this.#database.schema}.workers w WHERE url IS NOT NULL AND ${isAlive('w')} ORDER BY url, number`
    return (await this.#database.query(sql)).map((row) => ({ url: String(row['url']), words: wordsOf(row) }))
  }

  /** Lets other writers have logs; where the database cannot be told now, it is with the next beat, or they are free by themselves. */
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

  /** Takes it from the workers, and frees all that it has. */
  async leave(): Promise<void> {
    this.#isEnded = true
    const number = await this.known
    this.#stopTimer?.()
    if (number === undefined) return
    const sql = `DELETE FROM ${this.#database.schema}.workers WHERE number = $1`
    await this.#database.query(sql, [number]).catch(() => undefined)
  }
}
