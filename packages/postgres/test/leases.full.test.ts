import { spawn } from 'node:child_process'
import { once as event } from 'node:events'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { Pool } from 'pg'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import type { Store, StoreLease } from '../../../src/protocol/ports/store.ts'
import { owned, readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { simulatedClock, type SimulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { calls, gate, tool } from '../../../test/support/agentHarness.ts'
import { failsWith } from '../../stores/test/storeFolder.ts'
import { assert } from '../../../test/support/suite.ts'
import { describeWithPostgres, type PostgresContext } from './postgres.ts'
import { proxyTo } from './proxy.ts'

const append = (store: Store, seq: number, epoch?: number): Promise<void> =>
  store.append('a', recordsBetween(seq, seq), epoch)

/** Tries again for as long as it is refused: what is waited for happens by the clock of the database. */
async function once<T>(work: () => Promise<T>, { signal }: Pick<PostgresContext, 'signal'>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (thrown) {
      if (signal.aborted) throw thrown
    }
    // A refusal may need no turn of the event loop, and the deadline needs one.
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Resolves once the lease of who has the log has ended. */
const expired = (context: PostgresContext): Promise<void> =>
  once(async () => {
    const [row] = await context.sql(
      `SELECT bool_and(beat + lease < clock_timestamp()) AS over FROM ${context.schema}.workers`,
    )
    assert.is(row?.['over'], true)
  }, context)

/** A store that beats only when its clock is driven, with a log that it has open. */
async function frozen(
  context: PostgresContext,
  start?: number,
  leaseMs = 100,
): Promise<{ store: Store; lease: StoreLease; clock: SimulatedClock }> {
  const clock = simulatedClock(start)
  const store = context.store({ leaseMs, clock })
  const lease = await store.open('a')
  await append(store, 1, lease.epoch)
  return { store, lease, clock }
}

const isLost = async ({ lost }: StoreLease): Promise<boolean> => {
  let answer = false
  void lost?.then(() => (answer = true))
  await turn()
  return answer
}

describeWithPostgres('leases of a PostgreSQL store', (it) => {
  it('hold until they could not be renewed for as long as they last, and again once they are', async (context) => {
    const clock = simulatedClock()
    const store = context.store({ clock, leaseMs: 10_000 })
    assert.is(store.holds!(), true)
    await store.open('a')
    await clock.advance(9_999)
    assert.is(store.holds!(), true)
    await context.server.end('crashed')
    await clock.advance(10_000)
    assert.is(store.holds!(), false)
    await context.server.begin()
    while (!store.holds!()) {
      await clock.advance(1)
      await turn()
    }
    await append(store, 1)
  })

  it('are asked for right before an effect: one that is over begins none, one that an append could renew does', async (context) => {
    const clock = { ms: Date.now(), now: () => clock.ms, after: () => () => {} }
    const whole = context.store({ clock, leaseMs: 10_000 })
    let isFrozen = false
    // It is frozen before the append, or once that is answered, for longer than its lease.
    const freezing: Store['append'] = async (agentId, records, epoch) => {
      const isCall = records.some(({ type }) => type === 'tool.start')
      if (isCall) clock.ms += 10_000
      await whole.append(agentId, records, epoch)
      if (isCall && isFrozen) clock.ms += 10_000
    }
    const store = new Proxy(whole, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        return name === 'append' ? freezing : typeof value === 'function' ? value.bind(target) : value
      },
    })
    let paid = 0
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const pay = tool('pay', () => void (paid += 1))
    const model = scriptedModel([calls('a', 'pay'), 'paid', calls('b', 'pay'), 'paid'])
    const agent = await runtime.spawn(defineAgent({ name: 'payer', tools: [pay], model }), { id: 'p' })
    assert.is((await agent.prompt('once').result).stopReason, 'stop')
    assert.is(paid, 1)
    isFrozen = true
    const { error } = await agent.prompt('again').result
    assert.equal([error?.code, paid], ['STORE_LEASE_LOST', 1])
    assert.is((await readAll(context.store(), 'p')).at(-1)?.type, 'tool.start')
  })

  it('keep a log from another store of the same process, which is told by whom and for how long', async ({ store }) => {
    await store().open('a')
    await assert.rejects(
      () => store().open('a'),
      failsWith('STORE_LOCKED', `process ${process.pid} (this one) on`, ', for 10 s more unless it goes on'),
    )
  })

  for (const [title, start] of [
    ['end by themselves, and who had one writes nothing any more', undefined],
    ['end by the clock of the database, whatever that of a process says', Date.now() - 3_600_000],
    ['end so for a process whose clock is ahead too', Date.now() + 3_600_000],
  ] as const)
    it(title, async (context) => {
      const old = await frozen(context, start)
      const other = context.store()
      const lease = await once(() => other.open('a'), context)
      assert.is(lease.lastSeq, 1)
      await assert.rejects(() => append(old.store, 2, old.lease.epoch), failsWith('STORE_LEASE_LOST', 'agent "a"'))
      await append(other, 2, lease.epoch)
      assert.equal(await readAll(other, 'a'), recordsBetween(1, 2))
      assert.ok(await isLost(old.lease))
    })

  it('of a process of this machine that was killed are free at once, and those of one that may be elsewhere are not', async (context) => {
    const { sql, schema, url } = context
    const program = join(import.meta.dirname, 'killedWriter.ts')
    const killed = spawn(process.execPath, [program, url, schema], { stdio: ['ignore', 'inherit', 'inherit'] })
    const [, signal] = (await event(killed, 'exit')) as [number | null, string | null]
    assert.is(signal, 'SIGKILL')
    const store = context.store()
    const [row] = await sql(`SELECT holder FROM ${schema}.workers`)
    const holder = JSON.parse(String(row!['holder'])) as object
    const say = (more: object): Promise<unknown> =>
      sql(`UPDATE ${schema}.workers SET holder = '${JSON.stringify({ ...holder, ...more })}'`)
    for (const elsewhere of [{ host: 'another' }, { pidSpace: 'pid:[1]' }, { processStart: 'another-system/1' }]) {
      await say(elsewhere)
      await assert.rejects(() => store.open('a'), failsWith('STORE_LOCKED'))
    }
    await say({})
    assert.is((await store.open('a')).lastSeq, 1)
  })

  it('are kept by a process that says so in time, and not once it does not', async (context) => {
    // Long enough for a busy machine to try within it.
    const { clock } = await frozen(context, undefined, 2_000)
    await expired(context)
    const other = context.store()
    await once(async () => {
      await clock.advance(800)
      await assert.rejects(() => other.open('a'), failsWith('STORE_LOCKED'))
    }, context)
    await once(() => other.open('a'), context)
  })

  it('go to one of two that want an abandoned log at once', async (context) => {
    await frozen(context)
    await expired(context)
    const stores = [context.store(), context.store()]
    const tries = await Promise.allSettled(stores.map((store) => store.open('a')))
    assert.equal(tries.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  })

  it('that two take by force at once are of the later one alone', async (context) => {
    await frozen(context)
    const stores = [context.store(), context.store()]
    const leases = await Promise.all(stores.map((store) => store.open('a', { takeOver: true })))
    const newest = Math.max(...leases.map(({ epoch }) => epoch!))
    const answers = await Promise.allSettled(stores.map((store, index) => append(store, 2, leases[index]!.epoch)))
    assert.equal(
      answers.map(({ status }) => status),
      leases.map(({ epoch }) => (epoch === newest ? 'fulfilled' : 'rejected')),
    )
  })

  it('that were taken are known to be lost with the next beat, without an append', async (context) => {
    const { lease, clock } = await frozen(context)
    await context.store().open('a', { takeOver: true })
    assert.not.ok(await isLost(lease))
    await once(async () => {
      await clock.advance(40)
      assert.ok(await isLost(lease))
    }, context)
  })

  it('of a log that was deleted and begun anew have no epoch of before', async (context) => {
    const old = await frozen(context)
    const other = context.store()
    await once(() => other.delete('a'), context)
    const lease = await other.open('a')
    assert.is(lease.lastSeq, 0)
    assert.ok(lease.epoch! > old.lease.epoch!)
    await assert.rejects(() => append(old.store, 2, old.lease.epoch), failsWith('STORE_LEASE_LOST'))
    await assert.rejects(() => append(old.store, 1, old.lease.epoch), failsWith('STORE_LEASE_LOST'))
    assert.equal(await readAll(other, 'a'), [])
  })

  it('of a log that was deleted are lost', async (context) => {
    const { store, lease } = await frozen(context)
    await once(() => context.store().delete('a'), context)
    await assert.rejects(() => append(store, 2, lease.epoch), failsWith('STORE_LEASE_LOST'))
    await assert.rejects(() => append(store, 1, lease.epoch), failsWith('STORE_LEASE_LOST'))
  })

  it('are refused to who only repeats what the log has', async (context) => {
    const { store, lease } = await frozen(context)
    await context.store().open('a', { takeOver: true })
    await assert.rejects(() => append(store, 1, lease.epoch), failsWith('STORE_LEASE_LOST'))
  })

  it('are needed for a checkpoint too, whatever who had them knows', async (context) => {
    const { store, lease } = await frozen(context)
    const checkpoint = { seq: 1, form: 'f', digest: 'd', body: Uint8Array.from([1, 2, 3]) }
    await store.checkpoints!.write('a', checkpoint, lease.epoch)
    await context.store().open('a', { takeOver: true })
    const late = store.checkpoints!.write('a', { ...checkpoint, digest: 'late' }, lease.epoch)
    await assert.rejects(late, failsWith('STORE_LEASE_LOST'))
    assert.is((await store.checkpoints!.read('a'))?.digest, 'd')
  })

  it('are free at once when their store closes', async (context) => {
    const store = context.store()
    for (const id of ['a', 'b', 'c']) await store.open(id)
    await store.close()
    for (const id of ['a', 'b', 'c']) await context.store().open(id)
    assert.equal(await context.sql(`SELECT count(*)::int AS count FROM ${context.schema}.workers`), [{ count: 3 }])
  })

  it('are let go of only once what was given before is written, which whoever opens the log next finds', async (context) => {
    const pool = new Pool({ connectionString: context.url })
    context.cleanup(() => pool.end())
    const [held, open] = [gate(), gate()]
    const query = pool.query.bind(pool) as (...asked: unknown[]) => Promise<unknown>
    Object.assign(pool, {
      query: async (...asked: unknown[]) => {
        if (/INSERT INTO \S+records/.test(JSON.stringify(asked[0]))) {
          held.resolve()
          await open.promise
        }
        return query(...asked)
      },
    })
    const store = context.store({}, pool)
    const lease = await store.open('a')
    const first = owned(append(store, 1, lease.epoch))
    await held.promise
    const second = owned(append(store, 2, lease.epoch))
    const released = owned(lease.release())
    const other = context.store()
    for (let tries = 0; tries < 3; tries += 1)
      await assert.rejects(() => other.open('a'), failsWith('STORE_LOCKED'), 'it is still written')
    open.resolve()
    await Promise.all([first, second, released])
    assert.is((await other.open('a')).lastSeq, 2)
  })

  it('that end while the database cannot be reached are free with the next beat', async (context) => {
    const clock = simulatedClock()
    const proxy = await proxyTo(context)
    const store = context.store({ clock, retryMs: 0, queryTimeoutMs: 1_000 }, proxy.url)
    const lease = await store.open('a')
    await store.open('b')
    proxy.mode = 'hole'
    proxy.cut()
    await lease.release()
    proxy.mode = 'open'
    proxy.cut()
    const other = context.store()
    await once(async () => {
      await clock.advance(4_000)
      await other.open('a')
    }, context)
    await assert.rejects(() => other.open('b'), failsWith('STORE_LOCKED'))
  })

  it('are forgotten with a process that has been gone for a day, and one that wakes then goes on', async (context) => {
    const { store, clock } = await frozen(context)
    await context.sql(
      `UPDATE ${context.schema}.workers SET beat = beat - interval '2 days'; UPDATE ${context.schema}.agents SET worker = NULL`,
    )
    const later = context.store({ clock: simulatedClock() })
    await later.open('b')
    const workers = async (): Promise<unknown> =>
      (await context.sql(`SELECT count(*)::int AS count FROM ${context.schema}.workers`))[0]?.['count']
    assert.is(await workers(), 1)
    await once(async () => {
      await clock.advance(40)
      assert.is(await workers(), 2)
    }, context)
    await store.open('c')
  })

  it('have a holder for as long as that is alive, where it has announced that it is', async (context) => {
    const { store, clock } = await frozen(context)
    await once(async () => {
      await clock.advance(40)
      await store.announce!('ws://one/bridge')
      assert.is((await context.store().holder!('a'))?.url, 'ws://one/bridge')
      assert.equal(
        (await context.store().workers!()).map(({ url }) => url),
        ['ws://one/bridge'],
      )
    }, context)
    await expired(context)
    const other = context.store()
    assert.is(await other.holder!('a'), undefined)
    assert.equal(await other.workers!(), [])
    await once(async () => {
      await clock.advance(40)
      assert.is((await other.holder!('a'))?.url, 'ws://one/bridge')
    }, context)
  })
})
