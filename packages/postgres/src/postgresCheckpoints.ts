import type { Checkpoint, CheckpointStore } from '../../../src/protocol/ports/checkpoints.ts'
import { checkAgentId } from '../../../src/protocol/ids.ts'
import { leaseLost } from '../../stores/src/rules/appendChecks.ts'
import type { Database, Row } from './database.ts'
import { isMissingTable } from './failures.ts'
import { plainText } from './plainText.ts'
import type { LeaseOf, PostgresLease } from './postgresLease.ts'
import { RecentBodies } from '../../stores/src/recentBodies.ts'

/** Minimum transfer rate of checkpoints, in bytes per millisecond, used for timeouts. */
const slowest = 1_000

const bytesIn = (sent: unknown): Uint8Array | undefined =>
  typeof sent === 'string' ? Buffer.from(sent, 'base64') : undefined

/** Returns SQL for a row's version, which differs after each write. */
const versionOf = (row: string): string => `concat_ws('/', ${row}.agent, ${row}.xmin, ${row}.ctid)`

const ownRow = 'SELECT number, $3::int, $4::text, $5::text, $6::bytea FROM held'

/** Statements that write a checkpoint of a lease: its shared row exists, is new, or is not needed. */
const writes = {
  known: (table: string) =>
    `INSERT INTO ${table} AS c ${ownRow} WHERE EXISTS (SELECT FROM ${table} WHERE agent = -$1::bigint AND form = $7)`,
  new: (table: string) =>
    `INSERT INTO ${table} AS c ${ownRow} UNION ALL SELECT -number, 0, $7::text, '', $8::bytea FROM held`,
  none: (table: string) =>
    `, gone AS (DELETE FROM ${table} s USING held WHERE s.agent = -held.number) INSERT INTO ${table} AS c ${ownRow}`,
} as const

/**
 * Keeps checkpoints in the same database. The part that several checkpoints share is a row of its own, under the agent's negated number,
 * with its id in `form`. Older stores never read such rows.
 */
export class PostgresCheckpoints implements CheckpointStore {
  readonly keepsShared = true
  readonly #database: Database
  readonly #queryTimeoutMs: number
  readonly #leaseOf: LeaseOf
  /** Write in progress for each agent. Writes for one agent run one after another. */
  readonly #writing = new Map<string, Promise<void>>()
  readonly #recent = new RecentBodies()

  /** `leaseOf` rejects with `STORE_CLOSED`, `STORE_NOT_OPEN`, `STORE_LEASE_LOST`. */
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
    const sql = `SELECT version, seq, form, digest, CASE WHEN version = $2 THEN NULL ELSE encode(body, 'base64') END AS body,
        shared, CASE WHEN shared = $3::text THEN NULL ELSE encode(shared_body, 'base64') END AS shared_body
      FROM (SELECT ${versionOf('c')} AS version, c.*, s.form AS shared, s.body AS shared_body FROM ${schema}.checkpoints c
        JOIN ${schema}.agents a ON a.number = c.agent
        LEFT JOIN ${schema}.checkpoints s ON s.agent = -a.number WHERE a.id = $1) AS kept`
    try {
      const [row] = await this.#database.query(sql, [agentId, recent?.version ?? '', recent?.shared?.id ?? null])
      if (row === undefined) {
        this.#recent.drop(agentId)
        return undefined
      }
      const version = String(row['version'])
      const body = bytesIn(row['body']) ?? recent!.body
      const [id, sent] = [row['shared'], bytesIn(row['shared_body'])]
      const shared = typeof id !== 'string' ? undefined : sent === undefined ? recent!.shared : { id, body: sent }
      this.#recent.keep(agentId, { version, body, shared })
      const checkpoint = { seq: Number(row['seq']), form: String(row['form']), digest: String(row['digest']), body }
      return shared === undefined ? checkpoint : { ...checkpoint, shared }
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

  async #write({ agentId, number, epoch }: PostgresLease, checkpoint: Checkpoint): Promise<void> {
    const { seq, form, digest, body, shared } = checkpoint
    try {
      const values = [number, epoch, seq, plainText(form), plainText(digest), body]
      // What is shared is sent only where it is not there.
      const row =
        (shared && (await this.#run('known', [...values, plainText(shared.id)], body.length))) ??
        (shared
          ? await this.#run('new', [...values, plainText(shared.id), shared.body], body.length + shared.body.length)
          : await this.#run('none', values, body.length))
      if (row === undefined) throw leaseLost(agentId, epoch, undefined)
      this.#recent.keep(agentId, { version: String(row['version']), body, shared })
    } catch (thrown) {
      throw this.#database.failure('STORE_APPEND_FAILED', 'written', thrown)
    }
  }

  /** Writes a checkpoint. `shared`: state of its shared row. Returns `undefined` if the lease is lost, or a `known` shared row is missing. */
  async #run(shared: keyof typeof writes, values: readonly unknown[], bytes: number): Promise<Row | undefined> {
    const { schema } = this.#database
    const sql = `WITH held AS (SELECT number FROM ${schema}.agents WHERE number = $1 AND epoch = $2 FOR SHARE)
      ${writes[shared](`${schema}.checkpoints`)}
      ON CONFLICT (agent) DO UPDATE SET seq = excluded.seq, form = excluded.form, digest = excluded.digest, body = excluded.body
      RETURNING c.agent = $1 AS own, ${versionOf('c')} AS version`
    const timeoutMs = this.#queryTimeoutMs + Math.ceil(bytes / slowest)
    const written = await this.#database.query(sql, values, timeoutMs)
    return written.find(({ own }) => own === true)
  }
}
