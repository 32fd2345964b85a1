import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ErasableStore, LogHolder } from '../../../src/protocol/ports/store.ts'
import { newHolder } from '../../stores/src/holder.ts'
import { sqliteStore } from '../src/sqliteStore.ts'
import { readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { failsWith } from '../../stores/test/storeFolder.ts'

type Context = Pick<CaseContext, 'cleanup'>

/** A store with three records of agent `a`, and the same file for whoever else. */
async function storeWith(context: Context): Promise<{ store: ErasableStore; file: string; database: DatabaseSync }> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-sqlite-'))
  context.cleanup(() => rm(dir, { recursive: true, force: true }))
  const file = join(dir, 'agents.db')
  const store = sqliteStore(file)
  await store.open('a')
  await store.append('a', recordsBetween(1, 3))
  const database = new DatabaseSync(file)
  context.cleanup(() => store.close())
  context.cleanup(() => database.close())
  return { store, file, database }
}

/** A process id that no process has. */
const gonePid = 2 ** 30

describe('a SQLite store', (it) => {
  it('is refused with a blank path or a wrong option, by name', () => {
    assert.throws(() => sqliteStore(' '), failsWith('INVALID_OPTION', 'sqliteStore needs the path of a file, not " "'))
    assert.throws(() => sqliteStore(7 as never), failsWith('INVALID_OPTION', 'not 7'))
    const wrong = [{ durability: 'each' }, { snapshots: { maxCount: 0 } }, { snapshots: { most: 1 } }, { clock: 1 }]
    for (const options of wrong)
      assert.throws(
        () => sqliteStore('x.db', options as never),
        failsWith('INVALID_OPTION', 'sqliteStore was given a wrong option', Object.keys(options)[0]!),
      )
  })

  it('refuses all that writes once it is closed, and still reads', async (context) => {
    const { store } = await storeWith(context)
    await store.close()
    const writes: readonly (() => Promise<unknown>)[] = [
      () => store.open('a'),
      () => store.append('a', recordsBetween(4, 4)),
      () => store.announce!('http://127.0.0.1:1'),
      () => store.delete('a'),
    ]
    for (const write of writes) await assert.rejects(write(), failsWith('STORE_CLOSED', 'agents.db'))
    assert.equal(await store.list(), ['a'])
    assert.is((await store.stat!('a'))?.size, 3)
    assert.is((await readAll(store, 'a')).length, 3)
  })

  it('knows who has a log by what the file says, and takes nobody for a holder whose process is gone', async (context) => {
    const { store, file, database } = await storeWith(context)
    await store.announce!('http://127.0.0.1:1')
    const mine = await newHolder()
    const other = sqliteStore(file)
    context.cleanup(() => other.close())
    const seen = async (): Promise<readonly [LogHolder | undefined, number]> => [
      await other.holder!('a'),
      (await other.workers!()).length,
    ]
    const holders: readonly (readonly [holder: string, isThere: boolean])[] = [
      [JSON.stringify(mine), true],
      [JSON.stringify({ ...mine, host: 'elsewhere' }), true],
      [JSON.stringify({ ...mine, pid: gonePid }), false],
      [JSON.stringify({ ...mine, processStart: 'another boot/1' }), false],
      ['{}', false],
    ]
    for (const [holder, isThere] of holders) {
      database.prepare('UPDATE writers SET holder = ?').run(holder)
      const [who, workers] = await seen()
      assert.equal(
        [who !== undefined, who?.url, workers],
        [isThere, isThere ? 'http://127.0.0.1:1' : undefined, isThere ? 1 : 0],
      )
      if (isThere) await assert.rejects(other.delete('a'), failsWith('STORE_LOCKED', '"a"', 'is held by process'))
      if (isThere) await assert.rejects(other.open('a'), failsWith('STORE_LOCKED', '"a"', 'is held by process'))
    }
    assert.is((await other.open('a')).lastSeq, 3)
    await assert.rejects(store.append('a', recordsBetween(4, 4), 1), failsWith('STORE_LEASE_LOST'))
  })

  it('knows that another has taken a log before it writes there again, whoever asks, and lets go of nothing of theirs', async (context) => {
    const { store, file } = await storeWith(context)
    const mine = await store.open('a', { takeOver: true })
    const holds = (): unknown[] => [
      store.holds!('a'),
      store.holds!('a', mine.epoch),
      store.holds!('a', mine.epoch! - 1),
    ]
    assert.equal([holds(), store.holds!()], [[true, true, false], true])
    const other = sqliteStore(file)
    context.cleanup(() => other.close())
    const theirs = await other.open('a', { takeOver: true })
    assert.equal([holds(), store.holds!()], [[false, false, false], true])
    await mine.release()
    assert.equal([other.holds!('a', theirs.epoch), holds()], [true, [false, false, false]])
    const third = sqliteStore(file)
    context.cleanup(() => third.close())
    await assert.rejects(third.open('a'), failsWith('STORE_LOCKED', '"a"'))
    await other.append('a', recordsBetween(4, 4), theirs.epoch)
    assert.is((await readAll(store, 'a')).length, 4)
  })

  it('does not say where it is reached before it writes, and takes it back', async (context) => {
    const { store, file, database } = await storeWith(context)
    const other = sqliteStore(file)
    context.cleanup(() => other.close())
    await other.announce!(undefined)
    assert.is(database.prepare('SELECT count(*) AS count FROM writers').get()?.['count'], 1)
    await other.announce!('http://127.0.0.1:2')
    assert.equal(
      (await store.workers!()).map(({ url }) => url),
      ['http://127.0.0.1:2'],
    )
    await other.announce!(undefined)
    assert.equal(await store.workers!(), [])
  })

  it('forgets all there was of a log that is deleted', async (context) => {
    const { store, database } = await storeWith(context)
    const lease = await store.open('a', { takeOver: true })
    await store.snapshots!.put('a', Uint8Array.of(1))
    await store.checkpoints!.write('a', { seq: 3, form: 'f', digest: 'd', body: Uint8Array.of(1) }, lease.epoch)
    assert.is((await store.search!({ text: 'quotes' })).length, 1)
    await lease.release()
    await store.delete('a')
    const tables = ['agents', 'records', 'contents', 'checkpoints', 'labels', 'noted']
    const counts = tables.map((table) => database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count'])
    assert.equal(counts, [0, 0, 0, 0, 0, 0])
    assert.equal(await store.search!({ text: 'quotes' }), [])
  })
})
