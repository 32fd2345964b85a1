import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { systemClock, type Clock } from '../../../src/protocol/ports/clock.ts'
import { type ErrorCode, messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import { inTransaction, loadSqlite, whenFree } from './database.ts'
import { prepareTables } from './tables.ts'

/** Time for which opening waits for another process that creates the tables, in milliseconds. */
const openPatienceMs = 10_000
/** Time for which writes wait for another process, in milliseconds. `againMs`: the pause between tries. */
export const patienceMs = 10_000
export const againMs = 10
/** Time for which a statement blocks this process while another one writes, in milliseconds. */
const busyMs = 20

/** Connection to a database with its prepared statements, opened at first use. */
export class Connection {
  readonly file: string
  readonly #synchronous: 'NORMAL' | 'FULL'
  readonly #clock: Clock
  #database: DatabaseSync | undefined
  readonly #statements = new Map<string, StatementSync>()

  constructor(file: string, { isSynced, clock = systemClock }: { readonly isSynced: boolean; readonly clock?: Clock }) {
    this.file = file
    this.#clock = clock
    this.#synchronous = isSynced ? 'FULL' : 'NORMAL'
  }

  /** True if the database exists. Reading does not create one. */
  get isThere(): boolean {
    return this.#database !== undefined || existsSync(this.file)
  }

  /** Returns a statement, prepared once. */
  statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#opened.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  /** Runs `work` as one transaction. */
  transaction<T>(work: () => T): T {
    return inTransaction(this.#opened, work)
  }

  /**
   * Runs `work` as one transaction, and retries it for a while without blocking while another process is writing. For work that needs no
   * particular order.
   */
  async writing<T>(work: () => T): Promise<T> {
    const until = this.#clock.now() + patienceMs
    for (;;) {
      try {
        return this.transaction(work)
      } catch (thrown) {
        if (!isBusy(thrown) || this.#clock.now() >= until) throw thrown
      }
      await new Promise<void>((done) => this.#clock.after(againMs, done))
    }
  }

  get #opened(): DatabaseSync {
    return (this.#database ??= this.#open())
  }

  #open(): DatabaseSync {
    const { DatabaseSync: Database } = loadSqlite()
    mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 })
    const database = new Database(this.file, { timeout: busyMs })
    try {
      whenFree(() => {
        database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${this.#synchronous}`)
        prepareTables(database)
      }, openPatienceMs)
      return database
    } catch (thrown) {
      database.close()
      throw thrown
    }
  }

  /** Closes the database. Idempotent; the next use opens it again. */
  close(): void {
    this.#statements.clear()
    this.#database?.close()
    this.#database = undefined
  }

  /** Returns the error for a failed operation. A `RuntimeError` is returned unchanged. */
  failure(code: ErrorCode, what: string, thrown: unknown): RuntimeError {
    if (thrown instanceof RuntimeError) return thrown
    return new RuntimeError(code, `${this.file} could not be ${what}: ${messageOf(thrown)}.`, { cause: thrown })
  }
}

const busy = 5

/** Returns true if a statement failed only because another process was writing. */
export function isBusy(thrown: unknown): boolean {
  const code: unknown = thrown instanceof Error ? Reflect.get(thrown, 'errcode') : undefined
  return typeof code === 'number' && (code & 0xff) === busy
}
