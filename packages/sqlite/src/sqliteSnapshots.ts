import type { SnapshotLimits, SnapshotStore } from '../../../src/protocol/ports/snapshots.ts'
import { checkSnapshotSize, isSnapshotId, SnapshotIndex, snapshotId } from '../../stores/src/rules/snapshotLimits.ts'
import type { Connection } from './connection.ts'

/** Keeps contents of files as agents found them, in the same database. Only the process that holds an agent's log writes its contents. */
export class SqliteSnapshots implements SnapshotStore {
  readonly maxFileBytes: number
  readonly #connection: Connection
  readonly #limits: SnapshotLimits
  readonly #indexes = new Map<string, SnapshotIndex>()

  constructor(connection: Connection, limits: SnapshotLimits) {
    this.#connection = connection
    this.#limits = limits
    this.maxFileBytes = limits.maxFileBytes
  }

  async put(agentId: string, bytes: Uint8Array): Promise<string> {
    checkSnapshotSize(bytes, this)
    const id = snapshotId(bytes)
    const index = this.#indexOf(agentId)
    await this.#connection.writing(() => {
      const sql = `INSERT INTO contents (agent, id, bytes, used)
        SELECT number, ?2, ?3, (SELECT coalesce(max(used), 0) + 1 FROM contents WHERE agent = number) FROM agents WHERE id = ?1
        ON CONFLICT (agent, id) DO UPDATE SET used = excluded.used`
      const { changes } = this.#connection.statement(sql).run(agentId, id, bytes)
      if (changes === 0) throw new Error(`agent "${agentId}" has no log in ${this.#connection.file}`)
      index.use(id, bytes.length)
      for (let old = index.excess(this.#limits); old !== undefined; old = index.excess(this.#limits)) {
        this.#connection
          .statement('DELETE FROM contents WHERE id = ?2 AND agent = (SELECT number FROM agents WHERE id = ?1)')
          .run(agentId, old)
        index.drop(old)
      }
    })
    return id
  }

  #indexOf(agentId: string): SnapshotIndex {
    const known = this.#indexes.get(agentId)
    if (known !== undefined) return known
    const index = new SnapshotIndex()
    const sql =
      'SELECT c.id, length(c.bytes) AS size FROM contents c JOIN agents a ON a.number = c.agent WHERE a.id = ? ORDER BY c.used'
    for (const { id, size } of this.#connection.statement(sql).all(agentId)) index.use(String(id), Number(size))
    this.#indexes.set(agentId, index)
    return index
  }

  async get(agentId: string, id: string): Promise<Uint8Array | undefined> {
    if (!isSnapshotId(id) || !this.#connection.isThere) return undefined
    const sql = 'SELECT c.bytes FROM contents c JOIN agents a ON a.number = c.agent WHERE a.id = ? AND c.id = ?'
    const bytes = this.#connection.statement(sql).get(agentId, id)?.['bytes']
    return bytes instanceof Uint8Array && snapshotId(bytes) === id ? bytes : undefined
  }

  /** Forgets everything about an agent whose log is released, since another process may write next. */
  forget(agentId: string): void {
    this.#indexes.delete(agentId)
  }
}
