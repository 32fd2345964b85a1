import type { RuntimeError } from '../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { leaseLost } from '../../stores/src/rules/appendChecks.ts'
import type { Database, Row } from './database.ts'
import { isOfValues } from './failures.ts'
import { planAppend, repeatedIn, type Plan } from './planAppend.ts'
import type { PostgresLease } from './postgresLease.ts'
import { writeRecords } from './writeRecords.ts'

/** Limits of one statement: many logs share a commit, but none waits for a slow statement. */
const most = { logs: 256, bytes: 8 * 1024 * 1024 } as const
/** Minimum transfer rate of records, in bytes per millisecond, used for timeouts. */
const slowest = 1_000

/** Queue of a store's appends for all logs. Waiting appends go to the next free connection, with one statement per log at a time. */
export class AppendQueue {
  readonly #database: Database
  readonly #queryTimeoutMs: number
  readonly #written: (agent: number) => void
  #due: PostgresLease[] = []
  #isAwaited = false
  #stored = 0
  #unsettled = 0

  /** `written` is called with each agent that has new records in the database. */
  constructor(database: Database, queryTimeoutMs: number, written: (agent: number) => void) {
    this.#database = database
    this.#queryTimeoutMs = queryTimeoutMs
    this.#written = written
  }

  get figures(): { readonly appends: number; readonly queue: number } {
    return { appends: this.#stored, queue: this.#unsettled }
  }

  /** Resolves once the records are stored. */
  add(lease: PostgresLease, records: readonly LogRecord[], bodies: readonly string[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#unsettled += 1
    const settled = (count: number) => () => {
      this.#unsettled -= 1
      this.#stored += count
    }
    promise.then(settled(1), settled(0))
    lease.waiting.push({ records, bodies, resolve, reject })
    if (!lease.isQueued) {
      lease.isQueued = true
      this.#due.push(lease)
      this.#wake()
    }
    return promise
  }

  #wake(): void {
    if (this.#isAwaited || this.#due.length === 0) return
    this.#isAwaited = true
    // What comes in the same turn of the process shares the commit.
    setImmediate(() => {
      void this.#writeNext()
    })
  }

  async #writeNext(): Promise<void> {
    const end = await this.#database.turns.take(true)
    this.#isAwaited = false
    const group = this.#takeGroup()
    this.#wake()
    try {
      await this.#write(group)
    } finally {
      end()
    }
    for (const lease of group)
      if (lease.waiting.length === 0) lease.rest()
      else this.#due.push(lease)
    this.#wake()
  }

  #takeGroup(): PostgresLease[] {
    let bytes = 0
    let count = 0
    while (count < this.#due.length && count < most.logs && (count === 0 || bytes < most.bytes)) {
      for (const { bodies } of this.#due[count]!.waiting) for (const body of bodies) bytes += body.length
      count += 1
    }
    return this.#due.splice(0, count)
  }

  /** Writes the waiting appends of these logs. Never rejects. */
  async #write(leases: readonly PostgresLease[]): Promise<void> {
    const plans = await Promise.all(leases.map((lease) => this.#plan(lease, lease.waiting.splice(0))))
    await this.#carryOut(plans.filter((plan) => plan !== undefined))
  }

  /** Returns the plan of these appends; `undefined` if their new records cannot be determined. The appends are then rejected. */
  async #plan(lease: PostgresLease, appends: Plan['appends']): Promise<Plan | undefined> {
    try {
      const repeated = repeatedIn(appends, lease.lastSeq)
      return planAppend(lease, appends, repeated === undefined ? new Map() : await this.#known(lease, repeated))
    } catch (thrown) {
      const error = this.#failure(thrown)
      for (const { reject } of appends) reject(error)
      return undefined
    }
  }

  /** Returns the bodies that the database has for a log, by `seq`. @throws RuntimeError `STORE_LEASE_LOST` */
  async #known(
    lease: PostgresLease,
    { from, to }: { readonly from: number; readonly to: number },
  ): Promise<Map<number, string>> {
    const { schema } = this.#database
    const sql = `SELECT a.epoch, r.seq, r.body FROM ${schema}.agents a
      LEFT JOIN ${schema}.records r ON r.agent = a.number AND r.seq BETWEEN $2 AND $3 WHERE a.number = $1`
    const rows = await this.#again(() => this.#database.once(sql, [lease.number, from, to]))
    const epoch = rows[0]?.['epoch']
    if (epoch !== lease.epoch) throw this.#lose(lease, epoch)
    return new Map(rows.map(({ seq, body }) => [Number(seq), String(body)]))
  }

  #lose(lease: PostgresLease, epoch: unknown): RuntimeError {
    lease.lose()
    return leaseLost(lease.agentId, lease.epoch, epoch === undefined ? undefined : Number(epoch))
  }

  #again<T>(work: () => Promise<T>): Promise<T> {
    return this.#database.patiently(work)
  }

  async #carryOut(plans: readonly Plan[]): Promise<void> {
    const writing = plans.filter(({ records }) => records.length > 0)
    for (const plan of plans) if (plan.records.length === 0) settle(plan)
    if (writing.length === 0) return
    let written: ReadonlySet<Plan>
    try {
      written = await this.#run(writing)
    } catch (thrown) {
      // What is wrong with the records of one log is not to fail those beside it.
      if (writing.length > 1 && isOfValues(thrown)) for (const plan of writing) await this.#carryOut([plan])
      else for (const plan of writing) settle(plan, this.#failure(thrown))
      return
    }
    const others: Plan[] = []
    for (const plan of writing) {
      if (!written.has(plan)) {
        others.push(plan)
        continue
      }
      plan.lease.lastSeq = plan.records.at(-1)!.seq
      this.#written(plan.lease.number)
      settle(plan)
    }
    if (others.length > 0) await this.#lookAt(others)
  }

  /** Writes plans; returns those that were written. */
  async #run(plans: readonly Plan[]): Promise<ReadonlySet<Plan>> {
    const { text, values } = writeRecords(this.#database.schema, plans)
    const bytes = plans.reduce((sum, { bodies }) => bodies.reduce((more, body) => more + body.length, sum), 0)
    const timeoutMs = this.#queryTimeoutMs + Math.ceil(bytes / slowest)
    const rows = await this.#again(() => this.#database.once(text, values, timeoutMs))
    return new Set(rows.map(({ at }) => plans[Number(at) - 1]!))
  }

  /**
   * Examines logs that did not take their records: another writer has them, or they already have the records and only the answer was lost.
   * Writes the records that are still new.
   */
  async #lookAt(plans: readonly Plan[]): Promise<void> {
    let found: Map<number, Row>
    try {
      const sql = `SELECT number, epoch, last_seq FROM ${this.#database.schema}.agents WHERE number = ANY ($1)`
      const rows = await this.#again(() => this.#database.once(sql, [plans.map(({ lease }) => lease.number)]))
      found = new Map(rows.map((row) => [Number(row['number']), row]))
    } catch (thrown) {
      for (const plan of plans) settle(plan, this.#failure(thrown))
      return
    }
    for (const plan of plans) {
      const { lease, appends } = plan
      const row = found.get(lease.number)
      if (row?.['epoch'] === lease.epoch) {
        lease.lastSeq = Number(row['last_seq'])
        const next = await this.#plan(lease, appends)
        if (next !== undefined) await this.#carryOut([next])
      } else settle(plan, this.#lose(lease, row?.['epoch']))
    }
  }

  #failure(thrown: unknown): RuntimeError {
    return this.#database.failure('STORE_APPEND_FAILED', 'written', thrown)
  }
}

/** Answers the appends of a plan. `error`: the reason why the new records were not written. Appends answered before are unaffected. */
function settle({ appends, refusals }: Plan, error?: RuntimeError): void {
  for (const [index, { resolve, reject }] of appends.entries()) {
    const refusal = refusals[index] ?? error
    if (refusal === undefined) resolve()
    else reject(refusal)
  }
}
