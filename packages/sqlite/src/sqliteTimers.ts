import type { DueAgent, TimerIndex } from '../../../src/protocol/ports/timers.ts'
import { leaseLost } from '../../stores/src/rules/appendChecks.ts'
import type { Connection } from './connection.ts'
import type { LeaseHolder } from './sqliteCheckpoints.ts'

/** Keeps the agents' times in their rows. */
export class SqliteTimers implements TimerIndex {
  readonly #connection: Connection
  readonly #store: LeaseHolder

  constructor(connection: Connection, store: LeaseHolder) {
    this.#connection = connection
    this.#store = store
  }

  async set(agentId: string, due: number | null, named?: number): Promise<void> {
    const { number, epoch } = this.#store.leaseOf(agentId, named)
    try {
      const { changes } = await this.#connection.writing(() =>
        this.#connection
          .statement('UPDATE agents SET due_at = ?3 WHERE number = ?1 AND epoch = ?2')
          .run(number, epoch, due),
      )
      if (changes === 0) throw leaseLost(agentId, epoch, undefined)
    } catch (thrown) {
      throw this.#connection.failure('STORE_APPEND_FAILED', 'written', thrown)
    }
  }

  async due(now: number, limit = Infinity): Promise<readonly DueAgent[]> {
    const sql = 'SELECT id, due_at FROM agents WHERE due_at <= ? ORDER BY due_at, id LIMIT ?'
    const most = Math.min(limit, Number.MAX_SAFE_INTEGER)
    const rows = this.#store.reading(() => this.#connection.statement(sql).all(now, most), [])
    return rows.map(({ id, due_at: due }) => ({ agentId: String(id), due: Number(due) }))
  }
}
