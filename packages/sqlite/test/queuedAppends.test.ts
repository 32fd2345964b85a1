import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ErasableStore } from '../../../src/protocol/ports/store.ts'
import { failsWith } from '../../stores/test/storeFolder.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { sqliteStore, type SqliteStoreOptions } from '../src/sqliteStore.ts'
import { takeGroup } from '../src/takeGroup.ts'

type Context = Pick<CaseContext, 'cleanup'>

async function newFile({ cleanup }: Context): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-sqlite-'))
  cleanup(() => rm(dir, { recursive: true, force: true }))
  return join(dir, 'agents.db')
}

function storeOn({ cleanup }: Context, file: string, options: SqliteStoreOptions = {}): ErasableStore {
  const store = sqliteStore(file, options)
  cleanup(() => store.close().catch(() => {}))
  return store
}

describe('appends that wait to be written', (it) => {
  it('are written a hundred records at a time, and a longer one by itself', () => {
    for (const [sizes, taken] of [
      [[], 0],
      [[1], 1],
      [[60, 40, 1], 2],
      [[60, 41], 1],
      [[100, 1], 1],
      [[250, 1], 1],
      [[0, 0, 100, 0, 1], 4],
    ] as const) {
      const waiting = sizes.map((size) => ({ records: recordsBetween(1, size) }))
      assert.is(takeGroup(waiting as never).length, taken, sizes.join(', '))
      assert.is(waiting.length, sizes.length - taken)
    }
  })

  it('are written beside one that is refused, also those behind it of the same log', async (context) => {
    const store = storeOn(context, await newFile(context), { durability: 'batch' })
    for (const id of ['a', 'b', 'c']) await store.open(id)
    const outcomes = await Promise.allSettled([
      store.append('a', recordsBetween(1, 2)),
      store.append('b', recordsBetween(5, 6)),
      store.append('b', recordsBetween(1, 3)),
      store.append('c', recordsBetween(1, 250)),
      store.append('a', recordsBetween(3, 3)),
    ])
    assert.equal(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
    )
    for (const [id, count] of [
      ['a', 3],
      ['b', 3],
      ['c', 250],
    ] as const)
      assert.is((await readAll(store, id)).length, count, id)
  })

  for (const durability of ['os', 'batch'] as const)
    it(`are told by their lease, and their words noted before anybody searches: ${durability}`, async (context) => {
      const clock = simulatedClock()
      const file = await newFile(context)
      const store = storeOn(context, file, { durability, clock })
      const lease = await store.open('a')
      await store.append('a', recordsBetween(1, 7))
      assert.is(lease.lastSeq, 7)
      await clock.advance(1_000)
      const database = new DatabaseSync(file, { readOnly: true })
      context.cleanup(() => database.close())
      assert.is(database.prepare('SELECT seq FROM noted').get()?.['seq'], 7)
    })
})

/** Files that this process has open below a folder; none where that cannot be known. */
async function openBelow(folder: string): Promise<readonly string[]> {
  const fds = await readdir('/proc/self/fd').catch(() => [])
  const files = await Promise.all(fds.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')))
  return files.filter((file) => file.startsWith(folder))
}

describe('a SQLite store that could not be opened', (it) => {
  it('keeps no file open, and is opened once it can be', async (context) => {
    const file = await newFile(context)
    await writeFile(file, 'not a database, but long enough to be looked at as one. '.repeat(50))
    const store = storeOn(context, file)
    for (let tries = 0; tries < 3; tries += 1) await assert.rejects(store.open('a'), failsWith('STORE_OPEN_FAILED'))
    assert.equal(await openBelow(dirname(file)), [])
    await rm(file)
    assert.is((await store.open('a')).lastSeq, 0)
    await store.append('a', recordsBetween(1, 1))
    assert.is((await readAll(store, 'a')).length, 1)
  })
})

describe('a SQLite store that is closed', (it) => {
  it('reads as often as it is asked, and keeps no file open', async (context) => {
    const file = await newFile(context)
    const store = storeOn(context, file)
    await store.open('a')
    await store.append('a', recordsBetween(1, 3))
    await store.close()
    for (let times = 0; times < 2; times += 1) {
      assert.is((await readAll(store, 'a')).length, 3)
      assert.is((await store.stat!('a'))?.size, 3)
      assert.equal(await store.list(), ['a'])
      assert.equal((await store.page!()).logs.length, 1)
      await store.search!({ text: 'quotes' })
      assert.is(await store.holder!('a'), undefined)
      assert.equal(await openBelow(dirname(file)), [])
    }
  })
})

describe('the workers of a SQLite file', (it) => {
  it('are listed in the order of their addresses', async (context) => {
    const file = await newFile(context)
    const stores = Array.from({ length: 3 }, () => storeOn(context, file))
    for (const [at, name] of ['c', 'a', 'b'].entries()) await stores[at]!.announce!(`http://${name}`)
    assert.equal(
      (await stores[0]!.workers!()).map(({ url }) => url),
      ['http://a', 'http://b', 'http://c'],
    )
  })
})
