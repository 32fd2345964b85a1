import { setImmediate as turn } from 'node:timers/promises'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { owned, readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { simulatedClock, type SimulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { failsWith } from '../../stores/test/storeFolder.ts'
import { assert } from '../../../test/support/suite.ts'
import { describeWithPostgres, type PostgresContext } from './postgres.ts'
import { proxyTo, type Proxy } from './proxy.ts'

/** Moves time on until it is settled. */
async function settled<T>(work: Promise<T>, clock: SimulatedClock): Promise<T> {
  const state = { isOver: false }
  const over = (): void => void (state.isOver = true)
  void work.then(over, over)
  while (!state.isOver) {
    await clock.advance(1_000)
    await turn()
  }
  return await work
}

/** Appends whose answer is lost after the commit; resolves once it is. `resolves` is their promise. */
async function loseAnswer(proxy: Proxy, work: () => Promise<void>): Promise<{ readonly resolves: Promise<void> }> {
  proxy.mode = 'deaf'
  const swallowed = proxy.swallowed()
  const resolves = owned(work())
  await swallowed
  proxy.mode = 'open'
  proxy.cut()
  return { resolves }
}

/** The same, with what is done while the answer is waited for. */
async function loseAnswerThen(
  proxy: Proxy,
  work: () => Promise<void>,
  meanwhile: () => readonly Promise<void>[],
): Promise<{ readonly resolves: Promise<unknown> }> {
  let others: Promise<unknown> = Promise.resolve()
  const { resolves } = await loseAnswer(proxy, () => {
    const done = work()
    others = Promise.all(meanwhile())
    return done
  })
  return { resolves: owned(Promise.all([resolves, others])) }
}

/** Makes inserts of records fail with an error of the server. */
const failing = ({ schema, sql }: PostgresContext, code: string, condition = 'true'): Promise<unknown> =>
  sql(`CREATE FUNCTION ${schema}.fail() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF ${condition} THEN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '${code}'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER fails BEFORE INSERT ON ${schema}.records FOR EACH ROW EXECUTE FUNCTION ${schema}.fail()`)

const working = ({ schema, sql }: PostgresContext): Promise<unknown> => sql(`DROP FUNCTION ${schema}.fail() CASCADE`)

const demandLog = async (store: Store, last: number): Promise<void> =>
  assert.equal(await readAll(store, 'a'), recordsBetween(1, last))

describeWithPostgres('a PostgreSQL store whose database fails', (it) => {
  it('tells its logger once that the database is gone, with why, and that it is back, and never the password', async (context) => {
    const lines: { readonly fields: { readonly error?: string }; readonly message: string }[] = []
    const none = (): void => {}
    const warn = (fields: object, message: string): void => void lines.push({ fields, message })
    const { url } = await proxyTo(context)
    const logger = { debug: none, info: none, error: none, warn }
    const store = context.store({ logger, leaseMs: 300 }, url.replace('postgres@', 'postgres:hunter2@'))
    const lease = await store.open('a')
    await context.server.end()
    const append = owned(store.append('a', recordsBetween(1, 1), lease.epoch))
    while (lines.length === 0) await turn()
    await context.server.begin()
    await append
    await store.append('a', recordsBetween(2, 2), lease.epoch)
    const [gone, back, ...more] = lines
    assert.match(gone!.message, /^PostgreSQL database ".*" on .*, schema ".*" cannot be reached; it is tried again\.$/)
    assert.ok(gone!.fields.error!.length > 5)
    assert.match(back!.message, /answers again\.$/)
    assert.equal(more, [])
    assert.not.match(JSON.stringify(lines), 'hunter2')
    await demandLog(store, 2)
  })

  it('finds out by itself whether an append whose answer was lost had been written', async (context) => {
    const proxy = await proxyTo(context)
    const store = context.store({}, proxy.url)
    const lease = await store.open('a')
    const { resolves } = await loseAnswer(proxy, () => store.append('a', recordsBetween(1, 2), lease.epoch))
    await resolves
    await store.append('a', recordsBetween(3, 3), lease.epoch)
    await demandLog(store, 3)
  })

  it('takes records again, with newer ones, that were written though it had said that they were not', async (context) => {
    const proxy = await proxyTo(context)
    const store = context.store({ retryMs: 0 }, proxy.url)
    const lease = await store.open('a')
    const { resolves } = await loseAnswer(proxy, () => store.append('a', recordsBetween(1, 2), lease.epoch))
    await assert.rejects(resolves, failsWith('STORE_APPEND_FAILED'))
    await store.append('a', recordsBetween(1, 3), lease.epoch)
    await store.append('a', recordsBetween(4, 4), lease.epoch)
    await demandLog(store, 4)
    const { resolves: other } = await loseAnswer(proxy, () => store.append('a', recordsBetween(5, 5), lease.epoch))
    await assert.rejects(other, failsWith('STORE_APPEND_FAILED'))
    const contradiction = recordsBetween(5, 6).map((record): LogRecord => ({ ...record, time: 5 }))
    await assert.rejects(
      store.append('a', contradiction, lease.epoch),
      failsWith('STORE_APPEND_FAILED', 'another record under seq 5'),
    )
    await demandLog(store, 5)
  })

  it('does not take what another writer has written for its own', async (context) => {
    const proxy = await proxyTo(context)
    const store = context.store({ queryTimeoutMs: 3_000 }, proxy.url)
    const lease = await store.open('a')
    proxy.mode = 'hole'
    const append = owned(store.append('a', recordsBetween(1, 1), lease.epoch))
    const other = context.store()
    const taken = await other.open('a', { takeOver: true })
    await other.append('a', recordsBetween(1, 1), taken.epoch)
    proxy.mode = 'open'
    proxy.cut()
    await assert.rejects(append, failsWith('STORE_LEASE_LOST'))
  })

  it('goes on after a hole in the network, in which nothing arrives', async (context) => {
    const proxy = await proxyTo(context)
    const store = context.store({ queryTimeoutMs: 700 }, proxy.url)
    const lease = await store.open('a')
    proxy.mode = 'hole'
    const appends = [1, 2, 3].map((seq) => owned(store.append('a', recordsBetween(seq, seq), lease.epoch)))
    const stat = owned(store.stat!('a'))
    // It has tried in vain, more than once.
    for (let tries = 0; tries < 2; tries += 1) await proxy.connected()
    proxy.mode = 'open'
    await Promise.all(appends)
    await stat
    await demandLog(store, 3)
  })

  it('goes on after a restart of the database under 300 appends, with every record once', async (context) => {
    const store = context.store()
    const ids = Array.from({ length: 30 }, (_, index) => `a${index}`)
    await Promise.all(ids.map((id) => store.open(id)))
    let written = 0
    const begun = Promise.withResolvers<void>()
    const writers = ids.map(async (id) => {
      for (let seq = 1; seq <= 10; seq += 1) {
        await store.append(id, recordsBetween(seq, seq))
        written += 1
        if (written === 90) begun.resolve()
      }
    })
    const all = owned(Promise.all(writers))
    await begun.promise
    await context.server.end('crashed')
    await context.server.begin()
    await all
    for (const id of ids) assert.equal(await readAll(store, id), recordsBetween(1, 10))
  })

  it('reads on after a restart of the database', async (context) => {
    const store = context.store()
    await store.open('a')
    await store.append('a', recordsBetween(1, 50))
    const seqs: number[] = []
    for await (const { seq } of store.read('a')) {
      seqs.push(seq)
      if (seq !== 3) continue
      await context.server.end('orderly')
      await context.server.begin()
    }
    assert.equal(
      seqs,
      recordsBetween(1, 50).map(({ seq }) => seq),
    )
  })

  it('answers all who asked together, also when the answer is lost', async (context) => {
    const proxy = await proxyTo(context)
    const store = context.store({}, proxy.url)
    for (const id of ['a', 'b']) {
      await store.open(id)
      await store.append(id, recordsBetween(1, 2))
    }
    proxy.mode = 'deaf'
    const swallowed = proxy.swallowed()
    const reads = owned(Promise.all([readAll(store, 'a', 1, 1), readAll(store, 'b', 2, 1)]))
    await swallowed
    proxy.mode = 'open'
    proxy.cut()
    assert.equal(await reads, [recordsBetween(1, 1), recordsBetween(2, 2)])
  })

  it('lets go of a log, and closes, while it is still being written', async (context) => {
    const proxy = await proxyTo(context)
    const store = context.store({}, proxy.url)
    const lease = await store.open('a')
    const { resolves } = await loseAnswerThen(
      proxy,
      () => store.append('a', recordsBetween(1, 1), lease.epoch),
      () => [lease.release(), store.close(), store.close()],
    )
    await resolves
    assert.equal(await readAll(context.store(), 'a'), recordsBetween(1, 1))
  })

  it('does not end the process when connections break that nobody uses', async (context) => {
    const store = context.store()
    await store.open('a')
    await context.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'escapement'`,
    )
    await store.append('a', recordsBetween(1, 1))
    await demandLog(store, 1)
  })

  it('says after a while that a full disk keeps it from writing, and writes once there is space', async (context) => {
    const clock = simulatedClock()
    const store = context.store({ clock })
    const lease = await store.open('a')
    await store.append('a', recordsBetween(1, 1))
    await failing(context, '53100')
    const start = clock.now()
    await assert.rejects(
      settled(store.append('a', recordsBetween(2, 2), lease.epoch), clock),
      failsWith('STORE_APPEND_FAILED', 'it could not be written: could not extend file (SQLSTATE 53100)'),
    )
    assert.ok(clock.now() - start >= 30_000)
    await working(context)
    await store.append('a', recordsBetween(2, 3), lease.epoch)
    await demandLog(store, 3)
  })

  it('waits for no error that does not pass', async (context) => {
    const store = context.store({ clock: simulatedClock() })
    await store.open('a')
    await failing(context, '42501')
    await assert.rejects(store.append('a', recordsBetween(1, 1)), failsWith('STORE_APPEND_FAILED', '42501'))
  })

  it('fails the appends of one agent alone when the database refuses its records', async (context) => {
    const store = context.store()
    const ids = ['a', 'b', 'c', 'd']
    await Promise.all(ids.map((id) => store.open(id)))
    const bad = `NEW.agent = (SELECT number FROM ${context.schema}.agents WHERE id = 'c')`
    await failing(context, '22P05', bad)
    const answers = await Promise.allSettled(ids.map((id) => store.append(id, recordsBetween(1, 2))))
    assert.equal(
      answers.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
    )
    await working(context)
    await store.append('c', recordsBetween(1, 3))
    for (const id of ids) assert.equal((await readAll(store, id)).length, id === 'c' ? 3 : 2)
  })

  it('closes when its database is gone, after the time in which it tries', async (context) => {
    const clock = simulatedClock()
    const proxy = await proxyTo(context)
    const store = context.store({ clock }, proxy.url)
    await store.open('a')
    proxy.mode = 'hole'
    proxy.cut()
    await context.server.end('crashed')
    await assert.rejects(settled(store.append('a', recordsBetween(1, 1)), clock), failsWith('STORE_APPEND_FAILED'))
    await settled(store.close(), clock)
    await context.server.begin()
  })
})
