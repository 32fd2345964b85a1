import { loadPeer } from '../../../src/protocol/ports/loadPeer.ts'

/** A statement as a pool takes it. */
export interface PostgresQuery {
  readonly text: string
  readonly values: unknown[]
  /** Reads values of results. */
  readonly types: { getTypeParser(type: number, format?: string): (value: string) => unknown }
  /** Milliseconds after which it is given up. */
  readonly query_timeout: number
}

/** Runs statements: a pool, or one of its connections. */
export interface PostgresQueries {
  query(query: PostgresQuery): Promise<{ readonly rows: readonly unknown[] }>
}

/** One connection of a pool. */
export interface PostgresClient extends PostgresQueries {
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
  /** Gives the connection back; `true`: it is not to be used again. */
  release(isBroken?: boolean): void
}

/** Connections to a database: a `Pool` of the package `pg` 8.16 or newer, or what wraps one. */
export interface PostgresPool extends PostgresQueries {
  connect(): Promise<PostgresClient>
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
}

/** A pool that the store has made, and ends. */
export interface OwnPool extends PostgresPool {
  end(): Promise<void>
}

/** How a pool is made. */
export interface PoolOptions {
  readonly url: string
  readonly connections: number
  readonly queryTimeoutMs: number
  /** How long an unused connection is kept, in milliseconds. */
  readonly idleMs: number
}

/** @throws RuntimeError `PACKAGE_MISSING` */
export async function makePool({ url, connections, queryTimeoutMs, idleMs }: PoolOptions): Promise<OwnPool> {
  const { Pool } = await loadPeer(
    () => import(/* webpackIgnore: true */ /* turbopackIgnore: true */ 'pg'),
    'postgresStore',
    'pg',
  )
  return new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: queryTimeoutMs,
    idleTimeoutMillis: idleMs,
    // A process that has nothing else to do ends, also if nobody closed the store.
    allowExitOnIdle: true,
    keepAlive: true,
    fallback_application_name: 'escapement',
  })
}

const asText = (value: string): unknown => value

/** By the number of a type: an application may have changed how its own pool reads them. */
const readers = new Map<number, (value: string) => unknown>([
  [16, (value) => value === 't'],
  [17, (value) => Buffer.from(value.slice(2), 'hex')],
  [20, Number],
  [21, Number],
  [23, Number],
  [701, Number],
])

/** Integers of eight bytes are numbers here: none of ours is beyond 2 ** 53. */
export const types: PostgresQuery['types'] = { getTypeParser: (type) => readers.get(type) ?? asText }
