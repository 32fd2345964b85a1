import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import {
  memorySchema,
  type Memory,
  type MemoryDeletion,
  type MemoryFilter,
  type MemoryProblem,
  type MemoryRecord,
} from '../../../../src/protocol/ports/memory.ts'
import { checkDeletion, checkedMemory, checkFilter, isTrusted, mergeMemory } from './memoryRules.ts'
import { inTransaction, loadSqlite, whenFree } from '../../../sqlite/src/database.ts'
import { queryWords, wordsOf } from './words.ts'

/** A memory that holds a file open. */
export interface SqliteMemory extends Memory {
  /** Closes the file; a second time does nothing. Calls after that are refused with `MEMORY_FAILED`. */
  close(): void
}

/** Version of the tables, raised when an older program would misread them. */
const version = 1
/** Maximum time to wait for another process to finish writing, in milliseconds. */
const patienceMs = 10_000

const tables = `
CREATE TABLE memories (
  number INTEGER PRIMARY KEY,
  scope TEXT NOT NULL,
  id TEXT NOT NULL,
  agent TEXT,
  trusted INTEGER NOT NULL,
  updated REAL NOT NULL,
  record TEXT NOT NULL,
  UNIQUE (scope, id)
) STRICT;
CREATE INDEX newest ON memories (scope, trusted, updated DESC);
CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2');
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
PRAGMA user_version = ${version};
`

/**
 * A memory in one SQLite file, with full text search; Node's own SQLite, no package. For many
 * records, and for several processes at once. Every call is synchronous and blocks the process
 * while it runs: milliseconds with tens of thousands of records. `':memory:'` keeps it in memory.
 *
 * @throws RuntimeError `INVALID_OPTION` if `file` is no path or Node has no SQLite, `MEMORY_FAILED`
 * when the file cannot be opened or is something else.
 */
export function sqliteMemory(file: string): SqliteMemory {
  if (typeof file !== 'string' || file === '') throw new RuntimeError('INVALID_OPTION', 'sqliteMemory: give a file.')
  const sqlite = loadSqlite()
  return guarded(file, () => {
    if (file !== ':memory:') mkdirSync(dirname(resolve(file)), { recursive: true, mode: 0o700 })
    const database = new sqlite.DatabaseSync(file, { timeout: patienceMs })
    try {
      whenFree(() => prepare(database), patienceMs)
      return new OpenMemory(file, database)
    } catch (thrown) {
      database.close()
      throw thrown
    }
  })
}

function prepare(database: DatabaseSync): void {
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON')
  inTransaction(database, () => {
    const found = database.prepare('PRAGMA user_version').get()?.['user_version']
    if (found === version) return
    const others = database.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count']
    if (found !== 0 || others !== 0)
      throw new Error(
        found === 0 ? 'it is the database of something else' : `it has version ${String(found)}, not ${version}`,
      )
    database.exec(tables)
  })
}

class OpenMemory implements SqliteMemory {
  readonly #file: string
  readonly #database: DatabaseSync

  constructor(file: string, database: DatabaseSync) {
    this.#file = file
    this.#database = database
  }

  async put(record: MemoryRecord): Promise<MemoryRecord> {
    const put = checkedMemory(record)
    return this.#write(() => {
      const row = this.#database
        .prepare('SELECT number, record FROM memories WHERE scope = ? AND id = ?')
        .get(put.scope, put.id)
      const known = row === undefined ? undefined : recordIn(row['record'])
      if (typeof known === 'string') throw new Error(`the record "${put.id}" of ${put.scope} is damaged: ${known}`)
      const kept = mergeMemory(known, put)
      const text = JSON.stringify(kept)
      if (text !== row?.['record']) this.#keep(kept, text, row?.['number'])
      return kept
    })
  }

  #keep(kept: MemoryRecord, text: string, number: SQLInputValue | undefined): void {
    const { scope, id, source, updatedAt } = kept
    const values = [scope, id, source.agentId ?? null, isTrusted(kept) ? 1 : 0, updatedAt, text] as const
    const words = wordsOf(kept.text).join(' ')
    if (number === undefined) {
      const { lastInsertRowid } = this.#database
        .prepare('INSERT INTO memories (scope, id, agent, trusted, updated, record) VALUES (?, ?, ?, ?, ?, ?)')
        .run(...values)
      this.#database.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)').run(lastInsertRowid, words)
    } else {
      this.#database
        .prepare(
          'UPDATE memories SET scope = ?, id = ?, agent = ?, trusted = ?, updated = ?, record = ? WHERE number = ?',
        )
        .run(...values, number)
      this.#database.prepare('UPDATE words SET text = ? WHERE rowid = ?').run(words, number)
    }
  }

  async search(query: string, filter: MemoryFilter = {}): Promise<readonly MemoryRecord[]> {
    checkFilter(filter, query)
    // Letters, digits and marks are all that words have; the star takes longer ones that begin so.
    const wanted = queryWords(query).map((word) => (word.length > 3 ? `"${word}"*` : `"${word}"`))
    if (wanted.length === 0) return []
    const { where, values } = conditions(filter)
    const from = 'words JOIN memories ON memories.number = words.rowid'
    const order = 'bm25(words), updated DESC, id'
    return this.#read(
      `${from} WHERE words MATCH ? AND ${where} ORDER BY ${order}`,
      [wanted.join(' OR '), ...values],
      filter,
    )
  }

  async list(filter: MemoryFilter = {}): Promise<readonly MemoryRecord[]> {
    checkFilter(filter)
    const { where, values } = conditions(filter)
    return this.#read(`memories WHERE ${where} ORDER BY updated DESC, id`, values, filter)
  }

  async delete(which: MemoryDeletion): Promise<number> {
    checkDeletion(which)
    const given = Object.entries({ scope: which.scope, id: which.id, agent: which.agentId }).filter(
      ([, value]) => value !== undefined,
    ) as [string, string][]
    const where = given.map(([column]) => `${column} = ?`).join(' AND ')
    const values = given.map(([, value]) => value)
    const count = this.#write(() => {
      this.#database
        .prepare(`DELETE FROM words WHERE rowid IN (SELECT number FROM memories WHERE ${where})`)
        .run(...values)
      return Number(this.#database.prepare(`DELETE FROM memories WHERE ${where}`).run(...values).changes)
    })
    // The file beside it still has what was deleted. While another process reads it stays, until the next time.
    if (count > 0) guarded(this.#file, () => this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
    return count
  }

  async problems(): Promise<readonly MemoryProblem[]> {
    return guarded(this.#file, () =>
      this.#database
        .prepare('SELECT scope, id, record FROM memories')
        .all()
        .flatMap(({ scope, id, record }) => {
          const problem = recordIn(record)
          return typeof problem === 'string'
            ? [{ place: `${this.#file}: ${String(id)} of ${String(scope)}`, problem }]
            : []
        }),
    )
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close()
  }

  #read(from: string, values: readonly SQLInputValue[], { limit }: MemoryFilter): readonly MemoryRecord[] {
    return guarded(this.#file, () =>
      this.#database
        .prepare(`SELECT record FROM ${from} LIMIT ?`)
        .all(...values, limit ?? -1)
        .flatMap(({ record }) => {
          const found = recordIn(record)
          return typeof found === 'string' ? [] : [found]
        }),
    )
  }

  #write<T>(work: () => T): T {
    return guarded(this.#file, () => inTransaction(this.#database, work))
  }
}

function conditions({ scopes, trusted }: MemoryFilter): { where: string; values: readonly SQLInputValue[] } {
  const ofScopes = scopes === undefined ? [] : [`scope IN (${scopes.map(() => '?').join(', ')})`]
  const all = [...ofScopes, ...(trusted === true ? ['trusted = 1'] : [])]
  return { where: all.length === 0 ? 'TRUE' : all.join(' AND '), values: scopes ?? [] }
}

/** Returns the record of a row, or the problem with it. */
function recordIn(text: unknown): MemoryRecord | string {
  try {
    const checked = memorySchema().safeParse(JSON.parse(String(text)))
    return checked.success ? checked.data : 'it is no record of a memory'
  } catch {
    return 'it is not JSON'
  }
}

/** @throws RuntimeError `MEMORY_FAILED`, naming the file */
function guarded<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof RuntimeError) throw thrown
    const what = `The memory ${file} cannot be used: ${messageOf(thrown)}.`
    throw new RuntimeError('MEMORY_FAILED', what, { cause: thrown })
  }
}
