import type { Checkpoint, CheckpointStore } from '../../../src/protocol/ports/checkpoints.ts'
import { checkAgentId } from '../../../src/protocol/ids.ts'
import { leaseLost } from '../../../src/log/stores/appendChecks.ts'
import type { Database } from './database.ts'
import { isMissingTable } from './failures.ts'
import { plainText } from './plainText.ts'
import type { LeaseOf, PostgresLease } from './postgresLease.ts'
import { RecentBodies } from './recentBodies.ts'

/** Bytes a millisecond that a checkpoint takes on its way, at least. */
const slowest = 1_000

/** Tells a row from the one that stands there after the next write. */
const versionOf = (row: string): string => `concat_ws('/', ${row}.agent, ${row}.xmin, ${row}.ctid)`

/** Checkpoints in the same database. */
export class PostgresCheckpoints implements CheckpointStore {
  readonly #database: Database
  readonly #queryTimeoutMs: number
  readonly #leaseOf: LeaseOf
  /** The last write of each agent that is under way: they take turns. */
  readonly #writing = new Map<string, Promise<void>>()
  readonly #recent = new RecentBodies()

  /** `leaseOf` throws `STORE_CLOSED`, `STORE_NOT_OPEN`, `STORE_LEASE_LOST`. */
  constructor(database: Database, queryTimeoutMs: number, leaseOf: LeaseOf) {
    this.#database = database
    this.#queryTimeoutMs = queryTimeoutMs
    this.#leaseOf = leaseOf
  }

  async read(agentId: string): Promise<Checkpoint | undefined> {
    checkAgentId(agentId)
    const { schema } = this.#database
    const recent = this.#recent.find(agentId)
    // Bytes come as text: so they are a third longer, and not twice as long.
    const sql = `SELECT version, seq, form, digest, CASE WHEN version = $2 THEN NULL ELSE encode(body, 'base64') END AS body
      FROM (SELECT ${versionOf('c')} AS version, c.* FROM ${schema}.checkpoints c
        JOIN ${schema}.agents a ON a.number = c.agent WHERE a.id = $1) AS kept`
    try {
      const [row] = await this.#database.query(sql, [agentId, recent?.version ?? ''])
      if (row === undefined) {
        this.#recent.drop(agentId)
        return undefined
      }
      const [version, sent] = [String(row['version']), row['body']]
      const body = typeof sent === 'string' ? Buffer.from(sent, 'base64') : recent!.body
      if (body !== recent?.body) this.#recent.keep(agentId, { version, body })
      return { seq: Number(row['seq']), form: String(row['form']), digest: String(row['digest']), body }
    } catch (thrown) {
      if (isMissingTable(thrown)) return undefined
      throw this.#database.failure('STORE_READ_FAILED', 'read', thrown)
    }
  }

  async write(agentId: string, checkpoint: Checkpoint, named?: number): Promise<void> {
    const lease = await this.#leaseOf(agentId, named)
    const kept = { ...checkpoint, body: Buffer.from(checkpoint.body) }
    const before = this.#writing.get(agentId) ?? Promise.resolve()
    const done = before.catch(() => {}).then(() => this.#write(lease, kept))
    this.#writing.set(agentId, done)
    try {
      await done
    } finally {
      if (this.#writing.get(agentId) === done) this.#writing.delete(agentId)
    }
  }

  async #write({ agentId, number, epoch }: PostgresLease, { seq, form, digest, body }: Checkpoint): Promise<void> {
    const { schema } = this.#database
    const sql = `INSERT INTO ${schema}.checkpoints AS c (agent, seq, form, digest, body)
      SELECT number, $3, $4, $5, $6 FROM ${schema}.agents WHERE number = $1 AND epoch = $2 FOR SHARE
      ON CONFLICT (agent) DO UPDATE SET seq = excluded.seq, form = excluded.form, digest = excluded.digest, body = excluded.body
      RETURNING ${versionOf('c')} AS version`
    const timeoutMs = this.#queryTimeoutMs + Math.ceil(body.length / slowest)
    try {
      const values = [number, epoch, seq, plainText(form), plainText(digest), body]
      const [row] = await this.#database.query(sql, values, timeoutMs)
      if (row === undefined) throw leaseLost(agentId, epoch, undefined)
      this.#recent.keep(agentId, { version: String(row['version']), body })
    } catch (thrown) {
      throw this.#database.failure('STORE_APPEND_FAILED', 'written', thrown)
    }
  }
}
