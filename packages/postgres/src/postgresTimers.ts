import type { DueAgent, TimerIndex } from '../../../src/protocol/ports/timers.ts'
import { leaseLost } from '../../stores/src/rules/appendChecks.ts'
import type { Database } from './database.ts'
import { isMissingTable, sqlState } from './failures.ts'
import type { LeaseOf } from './postgresLease.ts'

/** Keeps the agents' times in their rows. */
export class PostgresTimers implements TimerIndex {
  readonly #database: Database
  readonly #leaseOf: LeaseOf
  /** Write in progress for each agent. Writes for one agent run one after another. */
  readonly #writing = new Map<string, Promise<void>>()

  /** `leaseOf` rejects with `STORE_CLOSED`, `STORE_NOT_OPEN`, `STORE_LEASE_LOST`. */
  constructor(database: Database, leaseOf: LeaseOf) {
    this.#database = database
    this.#leaseOf = leaseOf
  }

  async set(agentId: string, due: number | null, named?: number): Promise<void> {
    const { number, epoch } = await this.#leaseOf(agentId, named)
    const before = this.#writing.get(agentId) ?? Promise.resolve()
    const done = before
      .catch(() => {})
      .then(async () => {
        const sql = `UPDATE ${this.#database.schema}.agents SET due_at = $3 WHERE number = $1 AND epoch = $2 RETURNING number`
        const rows = await this.#database.query(sql, [number, epoch, due])
        if (rows.length === 0) throw leaseLost(agentId, epoch, undefined)
      })
    this.#writing.set(agentId, done)
    try {
      await done
    } catch (thrown) {
      throw this.#database.failure('STORE_APPEND_FAILED', 'written', thrown)
    } finally {
      if (this.#writing.get(agentId) === done) this.#writing.delete(agentId)
    }
  }

  async due(now: number, limit = Infinity): Promise<readonly DueAgent[]> {
    const sql = `SELECT id, due_at FROM ${this.#database.schema}.agents WHERE due_at <= $1 ORDER BY due_at, id LIMIT $2`
    try {
      const rows = await this.#database.query(sql, [Math.trunc(now), Math.min(limit, Number.MAX_SAFE_INTEGER)])
      return rows.map(({ id, due_at: due }) => ({ agentId: String(id), due: Number(due) }))
    } catch (thrown) {
      // Where nobody has written yet, and where the tables are of an earlier version.
      if (isMissingTable(thrown) || sqlState(thrown) === '42703') return []
      throw this.#database.failure('STORE_READ_FAILED', 'read', thrown)
    }
  }
}
