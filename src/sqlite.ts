/** The door "escapement/sqlite": logs in one SQLite file. */
export { sqliteStore, type SqliteStoreOptions } from '../packages/sqlite/src/sqliteStore.ts'
