/** The door "escapement/sqlite": logs in one SQLite file. */
export { sqliteStore } from '../packages/sqlite/src/sqliteStore.ts'
