import { Pool } from 'pg'
import { inspect } from 'node:util'
import { readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { failsWith } from '../../stores/test/storeFolder.ts'
import { assert } from '../../../test/support/suite.ts'
import { describeWithPostgres } from './postgres.ts'
import { proxyTo } from './proxy.ts'

const secret = 'hunter2/$'

describeWithPostgres('the address of a PostgreSQL store', (it) => {
  it('with a wrong password, or of no database, is refused at once, without the password', async (context) => {
    const { server, database, sql } = context
    await sql(`DO $$ BEGIN CREATE ROLE guarded LOGIN PASSWORD 'right'; EXCEPTION WHEN duplicate_object THEN END $$`)
    const { url } = await proxyTo(context)
    const guarded = url.replace('postgres@', `guarded:${encodeURIComponent(secret)}@`)
    const wrong = context.store({}, guarded)
    const thrown = await assert.rejects(
      () => wrong.open('a'),
      failsWith('STORE_OPEN_FAILED', 'password authentication failed for user "guarded" (SQLSTATE 28P01)'),
    )
    assert.not.match(inspect(thrown, { depth: 9, showHidden: true }), /hunter2/)
    const nowhere = context.store({}, server.url('nowhere'))
    await assert.rejects(() => nowhere.open('a'), failsWith('STORE_OPEN_FAILED', 'database "nowhere" does not exist'))
    await assert.rejects(() => nowhere.list(), failsWith('STORE_READ_FAILED', 'database "nowhere" does not exist'))
    assert.ok(database.length > 0)
  })

  it('that is in an error of the database is blanked there', async (context) => {
    const { sql, schema } = context
    const { url } = await proxyTo(context)
    const store = context.store({}, url.replace('postgres@', `postgres:${encodeURIComponent(secret)}@`))
    await store.open('a')
    await sql(`CREATE FUNCTION ${schema}.tell() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION USING MESSAGE = 'tried with ${secret} and ${encodeURIComponent(secret)}'; END $$;
      CREATE TRIGGER tells BEFORE INSERT ON ${schema}.records EXECUTE FUNCTION ${schema}.tell()`)
    const thrown = await assert.rejects(
      () => store.append('a', recordsBetween(1, 1)),
      failsWith('STORE_APPEND_FAILED', 'tried with *** and ***'),
    )
    assert.not.match(inspect(thrown, { depth: 9, showHidden: true }), /hunter2/)
  })
})

describeWithPostgres('a pool of the application', (it) => {
  it('is used, is not ended, and stays as it was', async (context) => {
    const pool = new Pool({ connectionString: context.url })
    context.cleanup(() => pool.end())
    const listeners = pool.listenerCount('error')
    const store = context.store({}, pool)
    await store.open('a')
    await store.append('a', recordsBetween(1, 20))
    await store.close()
    assert.equal(await readAll(store, 'a'), recordsBetween(1, 20))
    const { rows } = await pool.query('SELECT 1::int8 AS one')
    assert.equal(rows, [{ one: '1' }])
    const again = context.store({}, pool)
    assert.is((await again.open('a')).lastSeq, 20)
    await again.close()
    assert.is(pool.listenerCount('error'), listeners)
  })

  it('may read values its own way, and give every statement another connection, as a pooler does', async (context) => {
    const pool = new Pool({ connectionString: context.url, max: 3, maxUses: 1 })
    context.cleanup(() => pool.end())
    const statements: { readonly name?: string; readonly text: string }[] = []
    const place = {
      query: (query: { readonly text: string }) => {
        statements.push(query)
        return pool.query(query as never)
      },
      connect: () => pool.connect(),
      on: pool.on.bind(pool),
      off: pool.off.bind(pool),
    }
    const { types } = await import('pg')
    const int8 = types.getTypeParser(types.builtins.INT8)
    types.setTypeParser(types.builtins.INT8, BigInt)
    context.cleanup(() => types.setTypeParser(types.builtins.INT8, int8))
    const store = context.store({}, place)
    const lease = await store.open('a')
    await store.append('a', recordsBetween(1, 9), lease.epoch)
    await store.append('a', recordsBetween(3, 12), lease.epoch)
    assert.equal(await readAll(store, 'a'), recordsBetween(1, 12))
    await lease.release()
    await store.delete('a')
    assert.equal(await store.list(), [])
    assert.equal(
      statements.filter(({ name }) => name !== undefined),
      [],
    )
  })
})
