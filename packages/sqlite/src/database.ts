import type * as Sqlite from 'node:sqlite'
import { RuntimeError } from '../../../src/protocol/errors.ts'

/**
 * Loads Node's own SQLite. Suppresses only the warning of Node 22 that it is experimental.
 *
 * @throws RuntimeError `INVALID_OPTION` where Node has none.
 */
export function loadSqlite(): typeof Sqlite {
  const { emitWarning } = process
  process.emitWarning = (warning: string | Error, ...rest: readonly unknown[]) => {
    const text = typeof warning === 'string' ? warning : warning.message
    if (!text.startsWith('SQLite ')) Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  try {
    const sqlite = process.getBuiltinModule('node:sqlite') as typeof Sqlite | undefined
    if (sqlite !== undefined) return sqlite
  } finally {
    process.emitWarning = emitWarning
  }
  throw new RuntimeError('INVALID_OPTION', 'SQLite needs a Node that has it, from 22.13 on.')
}

/** Runs `work` as one transaction, with no other process writing meanwhile. */
export function inTransaction<T>(database: Sqlite.DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw thrown
  }
}

const busy = 5

/** Retries `work` while another process blocks it. SQLite itself does not wait while it prepares a file for concurrent use. */
export function whenFree<T>(work: () => T, patienceMs: number): T {
  const until = performance.now() + patienceMs
  for (;;) {
    try {
      return work()
    } catch (thrown) {
      const code: unknown = thrown instanceof Error ? Reflect.get(thrown, 'errcode') : undefined
      if (typeof code !== 'number' || (code & 0xff) !== busy || performance.now() > until) throw thrown
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
}
