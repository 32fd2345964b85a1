/** The door "escapement/postgres": logs in a PostgreSQL database that any number of processes share. */
export { postgresStore } from '../packages/postgres/src/postgresStore.ts'
export type { PostgresStoreOptions } from '../packages/postgres/src/postgresOptions.ts'
export type { PostgresClient, PostgresPool, PostgresQueries, PostgresQuery } from '../packages/postgres/src/pool.ts'
