import type { SnapshotLimits, SnapshotStore } from '../../../src/protocol/ports/snapshots.ts'
import { checkSnapshotSize, isSnapshotId, SnapshotIndex, snapshotId } from '../../stores/src/rules/snapshotLimits.ts'
import type { Database, Row } from './database.ts'
import { isMissingTable } from './failures.ts'

/** Keeps contents of files as agents found them, in the same database. Only the process that holds an agent's log writes its contents. */
export class PostgresSnapshots implements SnapshotStore {
  readonly maxFileBytes: number
  readonly #database: Database
  readonly #limits: SnapshotLimits
  readonly #indexes = new Map<string, Promise<SnapshotIndex>>()

  constructor(database: Database, limits: SnapshotLimits) {
    this.#database = database
    this.#limits = limits
    this.maxFileBytes = limits.maxFileBytes
  }

  async put(agentId: string, bytes: Uint8Array): Promise<string> {
    checkSnapshotSize(bytes, this)
    const kept = Buffer.from(bytes)
    const id = snapshotId(kept)
    const { schema } = this.#database
    try {
      const index = await this.#indexOf(agentId)
      const rows = await this.#database.query(
        `INSERT INTO ${schema}.contents AS c (agent, id, bytes, used)
          SELECT number, $2, $3, (SELECT coalesce(max(used), 0) + 1 FROM ${schema}.contents WHERE agent = number) FROM ${schema}.agents WHERE id = $1
          ON CONFLICT (agent, id) DO UPDATE SET used = excluded.used RETURNING agent`,
        [agentId, id, kept],
      )
      const agent = rows[0]?.['agent']
      if (agent === undefined) throw new Error(`agent "${agentId}" has no log`)
      index.use(id, kept.length)
      const old: string[] = []
      for (let oldest = index.excess(this.#limits); oldest !== undefined; oldest = index.excess(this.#limits)) {
        index.drop(oldest)
        old.push(oldest)
      }
      if (old.length > 0)
        await this.#database.query(`DELETE FROM ${schema}.contents WHERE agent = $1 AND id = ANY ($2)`, [agent, old])
    } catch (thrown) {
      throw this.#database.failure('STORE_APPEND_FAILED', 'written', thrown)
    }
    return id
  }

  #indexOf(agentId: string): Promise<SnapshotIndex> {
    const known = this.#indexes.get(agentId)
    if (known !== undefined) return known
    const reading = this.#readIndex(agentId)
    this.#indexes.set(agentId, reading)
    reading.catch(() => this.#indexes.delete(agentId))
    return reading
  }

  async #readIndex(agentId: string): Promise<SnapshotIndex> {
    const { schema } = this.#database
    const rows = await this.#database.query(
      `SELECT c.id, length(c.bytes) AS size FROM ${schema}.contents c JOIN ${schema}.agents a ON a.number = c.agent
        WHERE a.id = $1 ORDER BY c.used`,
      [agentId],
    )
    const index = new SnapshotIndex()
    for (const { id, size } of rows) index.use(String(id), Number(size))
    return index
  }

  async get(agentId: string, id: string): Promise<Uint8Array | undefined> {
    if (!isSnapshotId(id)) return undefined
    const { schema } = this.#database
    const rows = await this.#database
      .query(
        `SELECT c.bytes FROM ${schema}.contents c JOIN ${schema}.agents a ON a.number = c.agent WHERE a.id = $1 AND c.id = $2`,
        [agentId, id],
      )
      .catch((thrown: unknown): readonly Row[] => {
        if (isMissingTable(thrown)) return []
        throw this.#database.failure('STORE_READ_FAILED', 'read', thrown)
      })
    const bytes = rows[0]?.['bytes']
    return bytes instanceof Uint8Array && snapshotId(bytes) === id ? bytes : undefined
  }

  /** Forgets everything about an agent whose log is released, since another process may write next. */
  forget(agentId: string): void {
    this.#indexes.delete(agentId)
  }
}
