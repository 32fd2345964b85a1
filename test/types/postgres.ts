import { Pool, type PoolClient } from 'pg'
import { type PostgresClient, type PostgresPool, postgresStore } from '../../src/postgres.ts'

// What `pg` makes is what the store takes.
const pool: PostgresPool = new Pool()
postgresStore(pool, { schema: 'agents' })
postgresStore(new Pool(), { leaseMs: 5_000 })
declare const client: PoolClient
export const taken: PostgresClient = client

// @ts-expect-error -- no address
postgresStore(undefined)
// @ts-expect-error -- no pool
postgresStore({ host: 'localhost' })
