/** The door "escapement/postgres": logs in a PostgreSQL database that any number of processes share. */
export { postgresStore } from '../packages/postgres/src/postgresStore.ts'
export type { PostgresClient, PostgresPool } from '../packages/postgres/src/pool.ts'
