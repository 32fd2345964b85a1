/** The door "escapement/postgres": logs in a PostgreSQL database that any number of processes share. */
export { postgresStore } from './stores/postgres/postgresStore.ts'
export type { PostgresStoreOptions } from './stores/postgres/postgresOptions.ts'
export type { PostgresClient, PostgresPool, PostgresQueries, PostgresQuery } from './stores/postgres/pool.ts'
