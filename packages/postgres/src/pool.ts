import { loadPeer } from '../../../src/protocol/ports/loadPeer.ts'

/** A statement in the form that a pool takes. */
export interface PostgresQuery {
  readonly text: string
  readonly values: unknown[]
  /** Parsers for result values. */
  readonly types: { getTypeParser(type: number, format?: string): (value: string) => unknown }
  /** Time limit in milliseconds. */
  readonly query_timeout: number
}

/** Executor of statements: a pool, or one of its connections. */
export interface PostgresQueries {
  query(query: PostgresQuery): Promise<{ readonly rows: readonly unknown[] }>
}

/** One connection of a pool. */
export interface PostgresClient extends PostgresQueries {
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
  /** Returns the connection to the pool. `true`: the connection must not be used again. */
  release(isBroken?: boolean): void
}

/** Connections to a database: a `Pool` of the package `pg` 8.16 or newer, or a wrapper around one. */
export interface PostgresPool extends PostgresQueries {
  connect(): Promise<PostgresClient>
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
}

/** A pool that the store has created and ends. */
export interface OwnPool extends PostgresPool {
  end(): Promise<void>
}

/** Options for creating a pool. */
export interface PoolOptions {
  readonly url: string
  readonly connections: number
  readonly queryTimeoutMs: number
  /** Time for which an unused connection is kept, in milliseconds. */
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

/** Parsers by type number. An application may have changed how its own pool parses these types. */
const readers = new Map<number, (value: string) => unknown>([
  [16, (value) => value === 't'],
  [17, (value) => Buffer.from(value.slice(2), 'hex')],
  [20, Number],
  [21, Number],
  [23, Number],
  [701, Number],
])

/** Parsers that read eight-byte integers as numbers, since none of the stored ones exceeds 2 ** 53. */
export const types: PostgresQuery['types'] = { getTypeParser: (type) => readers.get(type) ?? asText }
