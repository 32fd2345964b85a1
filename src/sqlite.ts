/** The door "escapement/sqlite": logs in one SQLite file. */
export { sqliteStore, type SqliteStoreOptions } from './stores/sqlite/sqliteStore.ts'
