import { randomUUID } from 'node:crypto'
import { type PostgresPool, postgresStore } from '../../../src/postgres.ts'
import type { PostgresStoreOptions } from '../src/postgresOptions.ts'
import type { ErasableStore } from '../../../src/protocol/ports/store.ts'
import { fullOnly } from '../../../test/support/fullOnly.ts'
import { assert, describe, isCi, type CaseContext, type CaseOptions } from '../../../test/support/suite.ts'
import { findPostgres, howToInstall } from './installPostgres.ts'
import { PostgresServer } from './server.ts'

/** Context of a case with a database. */
export interface PostgresContext extends CaseContext {
  /** The server, which other cases of the process use too: one that ends it begins it again. */
  readonly server: PostgresServer
  /** The name of a database, which cases of the group share. */
  readonly database: string
  /** Its address. */
  readonly url: string
  /** The name of a schema for this case alone; it is not there yet. */
  readonly schema: string
  /** A store in that schema, closed after the case; by another address if one is given. */
  store(options?: PostgresStoreOptions, place?: string | PostgresPool): ErasableStore
  /** Runs statements in the database, on a connection of their own. */
  sql(text: string): Promise<readonly { readonly [column: string]: unknown }[]>
}

/** Registers a case. Default deadline: 20 s, as a server may have to be started. */
export interface PostgresIt {
  (title: string, body: PostgresBody): void
  (title: string, options: CaseOptions, body: PostgresBody): void
}
type PostgresBody = (context: PostgresContext) => unknown

let started: Promise<PostgresServer> | undefined

/** The server of this process, which it starts at first use. */
export function sharedServer(): Promise<PostgresServer> {
  started ??= PostgresServer.start()
  started.catch(() => (started = undefined))
  return started
}

/**
 * A group of cases with a real PostgreSQL: a server for the process, a database for the group, a schema for each case. Where there is no
 * PostgreSQL the cases are skipped and say how to install it; where `CI` is set they fail. `npm test` installs it first where it may.
 */
export function describeWithPostgres(name: string, register: (it: PostgresIt) => void): void {
  fullOnly('PostgreSQL')
  describe(name, (it) => {
    const has = findPostgres() !== undefined
    const missing = `there is no PostgreSQL; ${howToInstall}`
    let database: Promise<string> | undefined
    register((title: string, ...rest: [PostgresBody] | [CaseOptions, PostgresBody]) => {
      const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest
      if (!has) return isCi() ? it(title, () => assert.unreachable(missing)) : it.skip(`${title} (skipped: ${missing})`)
      it(title, { timeoutMs: 20_000, ...options }, async (context) => {
        const server = await sharedServer()
        const here = await (database ??= server.newDatabase())
        const url = server.url(here)
        const schema = `s_${randomUUID().replaceAll('-', '')}`
        await body({
          ...context,
          server,
          database: here,
          url,
          schema,
          store(storeOptions = {}, place = url) {
            const store = postgresStore(place, { schema, ...storeOptions })
            context.cleanup(() => store.close())
            return store
          },
          sql: (text) => server.query(here, text),
        })
      })
    })
  })
}
