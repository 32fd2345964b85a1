import type { Checkpoint, CheckpointStore } from '../../../src/protocol/ports/checkpoints.ts'
import { checkAgentId } from '../../../src/protocol/ids.ts'
import { leaseLost } from '../../../src/log/stores/appendChecks.ts'
import type { Connection } from './connection.ts'
import type { SqliteLease } from './sqliteLease.ts'

/** The parts of their store that checkpoints and times need. */
export interface LeaseHolder {
  /** @throws RuntimeError `STORE_NOT_OPEN`, `STORE_LEASE_LOST` */
  leaseOf(agentId: string, epoch: number | undefined): SqliteLease
  /** Reads; where there is no database yet there is nothing. */
  reading<T>(work: () => T, nothing: T): T
}

/** Checkpoints in the same database. */
export class SqliteCheckpoints implements CheckpointStore {
  readonly #connection: Connection
  readonly #store: LeaseHolder

  constructor(connection: Connection, store: LeaseHolder) {
    this.#connection = connection
    this.#store = store
  }

  async read(agentId: string): Promise<Checkpoint | undefined> {
    checkAgentId(agentId)
    const sql =
      'SELECT c.seq, c.form, c.digest, c.body FROM checkpoints c JOIN agents a ON a.number = c.agent WHERE a.id = ?'
    const row = this.#store.reading(() => this.#connection.statement(sql).get(agentId), undefined)
    const body = row?.['body']
    if (row === undefined || !(body instanceof Uint8Array)) return undefined
    return { seq: Number(row['seq']), form: String(row['form']), digest: String(row['digest']), body }
  }

  async write(agentId: string, { seq, form, digest, body }: Checkpoint, named?: number): Promise<void> {
    const { number, epoch } = this.#store.leaseOf(agentId, named)
    const sql = `INSERT INTO checkpoints (agent, seq, form, digest, body)
      SELECT number, ?3, ?4, ?5, ?6 FROM agents WHERE number = ?1 AND epoch = ?2
      ON CONFLICT (agent) DO UPDATE SET seq = excluded.seq, form = excluded.form, digest = excluded.digest, body = excluded.body`
    const { changes } = await this.#connection.writing(() =>
      this.#connection.statement(sql).run(number, epoch, seq, form, digest, body),
    )
    if (changes === 0) throw leaseLost(agentId, epoch, undefined)
  }
}
