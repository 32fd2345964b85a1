import type { Checkpoint, CheckpointStore } from '../../../src/protocol/ports/checkpoints.ts'
import { checkAgentId } from '../../../src/protocol/ids.ts'
import { leaseLost } from '../../stores/src/rules/appendChecks.ts'
import type { Connection } from './connection.ts'
import { RecentBodies } from '../../stores/src/recentBodies.ts'
import type { SqliteLease } from './sqliteLease.ts'

/** The parts of a store that checkpoints and times need. */
export interface LeaseHolder {
  /** @throws RuntimeError `STORE_NOT_OPEN`, `STORE_LEASE_LOST` */
  leaseOf(agentId: string, epoch: number | undefined): SqliteLease
  /** Runs a read. Returns `nothing` while there is no database. */
  reading<T>(work: () => T, nothing: T): T
}

/**
 * Keeps checkpoints in the same database. The part that several checkpoints share is a row of its own, under the agent's negated number,
 * with its id in `form`. Older stores never read such rows.
 */
export class SqliteCheckpoints implements CheckpointStore {
  readonly keepsShared = true
  readonly #connection: Connection
  readonly #store: LeaseHolder
  /** Shared bytes read most recently. `version` is their id. */
  readonly #recent = new RecentBodies()

  constructor(connection: Connection, store: LeaseHolder) {
    this.#connection = connection
    this.#store = store
  }

  async read(agentId: string): Promise<Checkpoint | undefined> {
    checkAgentId(agentId)
    const sql = `SELECT c.seq, c.form, c.digest, c.body, s.form AS shared, CASE WHEN s.form = ?2 THEN NULL ELSE s.body END AS sharedBody FROM agents a
      JOIN checkpoints c ON c.agent = a.number LEFT JOIN checkpoints s ON s.agent = -a.number WHERE a.id = ?1`
    const recent = this.#recent.find(agentId)
    const known = recent?.version ?? null
    const row = this.#store.reading(() => this.#connection.statement(sql).get(agentId, known), undefined)
    const body = row?.['body']
    if (row === undefined || !(body instanceof Uint8Array)) return undefined
    const checkpoint = { seq: Number(row['seq']), form: String(row['form']), digest: String(row['digest']), body }
    const { shared: id, sharedBody } = row
    if (typeof id !== 'string') return checkpoint
    const shared = { id, body: sharedBody instanceof Uint8Array ? sharedBody : recent!.body }
    this.#recent.keep(agentId, { version: id, body: shared.body })
    return { ...checkpoint, shared }
  }

  async write(agentId: string, checkpoint: Checkpoint, named?: number): Promise<void> {
    const { seq, form, digest, body, shared } = checkpoint
    const { number, epoch } = this.#store.leaseOf(agentId, named)
    const sql = `INSERT INTO checkpoints (agent, seq, form, digest, body)
      SELECT number, ?3, ?4, ?5, ?6 FROM agents WHERE number = ?1 AND epoch = ?2
      ON CONFLICT (agent) DO UPDATE SET seq = excluded.seq, form = excluded.form, digest = excluded.digest, body = excluded.body`
    const { changes } = await this.#connection.writing(() => {
      const written = this.#connection.statement(sql).run(number, epoch, seq, form, digest, body)
      if (written.changes !== 0) this.#writeShared(-number, shared)
      return written
    })
    if (changes === 0) throw leaseLost(agentId, epoch, undefined)
  }

  #writeShared(number: number, shared: Checkpoint['shared']): void {
    const known = this.#connection.statement('SELECT form FROM checkpoints WHERE agent = ?').get(number)?.['form']
    if (known === shared?.id) return
    this.#connection.statement('DELETE FROM checkpoints WHERE agent = ?').run(number)
    if (shared === undefined) return
    const sql = "INSERT INTO checkpoints (agent, seq, form, digest, body) VALUES (?, 0, ?, '', ?)"
    this.#connection.statement(sql).run(number, shared.id, shared.body)
  }
}
