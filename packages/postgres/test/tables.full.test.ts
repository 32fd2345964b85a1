import { postgresStore } from '../src/postgresStore.ts'
import { readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { failsWith } from '../../stores/test/storeFolder.ts'
import { assert } from '../../../test/support/suite.ts'
import { describeWithPostgres, type PostgresContext } from './postgres.ts'

const tablesIn = async ({ sql, schema }: PostgresContext): Promise<unknown[]> =>
  (
    await sql(
      `SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace('${schema}') AND relkind = 'r' ORDER BY 1`,
    )
  ).map(({ relname }) => relname)

describeWithPostgres('the tables of a PostgreSQL store', (it) => {
  it('are made once by many that begin at the same moment', async (context) => {
    const stores = Array.from({ length: 8 }, () => context.store({ connections: 2 }))
    await Promise.all(stores.map((store, index) => store.open(`a${index}`)))
    await Promise.all(stores.map((store, index) => store.append(`a${index}`, recordsBetween(1, 2))))
    assert.is((await stores[0]!.list()).length, 8)
    assert.equal(await context.sql(`SELECT number FROM ${context.schema}.version`), [{ number: 2 }])
  })

  it('of the first version are brought up to date by who opens a log, and say until then that nothing is due', async (context) => {
    const { sql, schema } = context
    const old = context.store()
    const lease = await old.open('a')
    await old.append('a', recordsBetween(1, 3))
    await lease.release()
    await sql(`ALTER TABLE ${schema}.agents DROP COLUMN due_at; UPDATE ${schema}.version SET number = 1`)
    const store = context.store()
    assert.equal(await store.timers!.due(Date.now()), [])
    await store.open('a')
    await store.timers!.set('a', 5)
    assert.equal(await store.timers!.due(5), [{ agentId: 'a', due: 5 }])
    assert.equal(await readAll(store, 'a'), recordsBetween(1, 3))
  })

  it('are not made by who only reads', async (context) => {
    const store = context.store()
    assert.equal(await store.list(), [])
    assert.equal(await readAll(store, 'a'), [])
    assert.is(await store.stat!('a'), undefined)
    assert.equal(await store.page!({ total: true }), { logs: [], total: 0 })
    await store.delete('a')
    assert.is(await store.snapshots!.get('a', 'a'.repeat(64)), undefined)
    assert.equal(await tablesIn(context), [])
    await context.store().open('a')
    assert.equal(await store.list(), [])
    assert.ok((await tablesIn(context)).length > 4)
  })

  it('of a newer version are refused in words, to be written and to be read, and left alone', async (context) => {
    const { sql, schema } = context
    const old = context.store()
    await old.open('a')
    await old.append('a', recordsBetween(1, 1))
    await sql(`UPDATE ${schema}.version SET number = 99`)
    const store = context.store()
    const words = ['its tables have version 99', 'update it', `schema "${schema}"`]
    await assert.rejects(() => store.open('b'), failsWith('STORE_OPEN_FAILED', ...words))
    await assert.rejects(() => readAll(store, 'a'), failsWith('STORE_READ_FAILED', ...words))
    await assert.rejects(() => store.delete('a'), failsWith('STORE_DELETE_FAILED', ...words))
    assert.equal(await sql(`SELECT number FROM ${schema}.version`), [{ number: 99 }])
    // Who has begun before goes on: a step leaves those at work that know the one before.
    await old.append('a', recordsBetween(2, 2))
    await sql(`UPDATE ${schema}.version SET number = 2`)
    await store.open('b')
  })

  it('are not made in a schema of something else', async (context) => {
    const { sql, schema } = context
    await sql(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.agents (name text)`)
    await assert.rejects(() => context.store().open('a'), failsWith('STORE_OPEN_FAILED', 'is of something else'))
    assert.equal(await tablesIn(context), ['agents'])
  })

  it('are not made in a database that cannot hold every text', async ({ server, cleanup }) => {
    await server.query('postgres', `CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`)
    const store = postgresStore(server.url('latin'))
    cleanup(() => store.close())
    await assert.rejects(() => store.open('a'), failsWith('STORE_OPEN_FAILED', 'LATIN1', 'must be UTF8'))
  })

  it('once made, need no right to make any', async (context) => {
    const { sql, schema, server, database } = context
    await context.store().open('a')
    await sql(`CREATE ROLE writer_${schema} LOGIN; GRANT USAGE ON SCHEMA ${schema} TO writer_${schema};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO writer_${schema};
      REVOKE INSERT, UPDATE, DELETE ON ${schema}.version FROM writer_${schema};
      GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO writer_${schema}`)
    const store = context.store({}, server.url(database, `writer_${schema}`))
    await store.open('b')
    await store.append('b', recordsBetween(1, 3))
    assert.equal(await readAll(store, 'b'), recordsBetween(1, 3))
    await store.snapshots!.put('b', Buffer.from('one'))
  })

  it('that are missing a right say so', async (context) => {
    const { sql, schema, server, database } = context
    await sql(`CREATE ROLE reader_${schema} LOGIN`)
    const store = context.store({}, server.url(database, `reader_${schema}`))
    await assert.rejects(() => store.open('a'), failsWith('STORE_OPEN_FAILED', 'permission denied', 'SQLSTATE 42501'))
  })
})
