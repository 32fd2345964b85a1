import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { mkdir, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../src/protocol/ports/clock.ts'
import type { ErasableStore } from '../../../src/protocol/ports/store.ts'
import { sqliteStore } from '../src/sqliteStore.ts'
import { owned, readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { failsWith } from '../../stores/test/storeFolder.ts'
import { startStoreChild } from '../../stores/test/startStoreChild.ts'

type Context = Pick<CaseContext, 'cleanup'>

async function newFile({ cleanup }: Context): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-sqlite-'))
  cleanup(() => rm(dir, { recursive: true, force: true }))
  return join(dir, 'agents.db')
}

/** A store on a file, closed after the case. */
function storeOn({ cleanup }: Context, file: string, options: Parameters<typeof sqliteStore>[1] = {}): ErasableStore {
  const store = sqliteStore(file, options)
  cleanup(() => store.close().catch(() => {}))
  return store
}

/** A file with the log of agent `a`. */
async function fileWith(context: Context, count: number): Promise<string> {
  const file = await newFile(context)
  const store = sqliteStore(file)
  await store.open('a')
  for (let from = 1; from <= count; from += 100)
    await store.append('a', recordsBetween(from, Math.min(count, from + 99)))
  await store.close()
  return file
}

const seqsOf = async (store: ErasableStore, agentId = 'a'): Promise<number[]> =>
  (await readAll(store, agentId)).map(({ seq }) => seq)

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1)

/** Another process that writes, as far as locks can tell. */
function otherWriter({ cleanup }: Context, file: string): { begin(): void; end(): void } {
  const database = new DatabaseSync(file)
  cleanup(() => database.close())
  return { begin: () => database.exec('BEGIN IMMEDIATE'), end: () => database.exec('ROLLBACK') }
}

describe('a SQLite store while another process writes', (it) => {
  it('says when it could not let go of a log, which it can open again, and others have with the next one', async (context) => {
    let now = 0
    const clock = { now: () => now, after: (_: number, then: () => void) => systemClock.after(0, then) }
    const file = await newFile(context)
    const store = storeOn(context, file, { clock })
    const leases = [await store.open('a'), await store.open('b'), await store.open('c')]
    const writer = otherWriter(context, file)
    writer.begin()
    const released = owned(Promise.allSettled([leases[0]!.release(), leases[1]!.release()]))
    now = 60_000
    for (const outcome of await released) {
      assert.ok(outcome.status === 'rejected')
      assert.ok(failsWith('STORE_APPEND_FAILED', 'could not be let go of: database is locked')(outcome.reason))
    }
    writer.end()
    const again = await store.open('a')
    await store.append('a', recordsBetween(1, 1), again.epoch)
    await assert.rejects(store.open('a'), failsWith('STORE_LOCKED'))
    const other = storeOn(context, file)
    await assert.rejects(other.open('b'), failsWith('STORE_LOCKED'))
    await leases[2]!.release()
    await (await other.open('b')).release()
    await assert.rejects(other.open('a'), failsWith('STORE_LOCKED'))
    assert.equal(await seqsOf(other), [1])
  })

  it('waits without holding up the process, and keeps the order', async (context) => {
    const clock = simulatedClock()
    const file = await newFile(context)
    const store = storeOn(context, file, { clock })
    await store.open('a')
    await store.append('a', recordsBetween(1, 1))
    const writer = otherWriter(context, file)
    writer.begin()
    const ended: number[] = []
    const appends = [2, 3, 4].map((seq) => store.append('a', recordsBetween(seq, seq)).then(() => ended.push(seq)))
    for (let tries = 0; tries < 5; tries += 1) await clock.advance(10)
    assert.equal(ended, [])
    assert.equal(await seqsOf(store), [1])
    writer.end()
    await clock.advance(10)
    await Promise.all(appends)
    assert.equal(ended, [2, 3, 4])
    assert.equal(await seqsOf(store), upTo(4))
  })

  it('keeps the order of more appends than go in one turn, and of one that comes when the file is free again', async (context) => {
    const clock = simulatedClock()
    const file = await newFile(context)
    const store = storeOn(context, file, { clock })
    await store.open('a')
    const writer = otherWriter(context, file)
    writer.begin()
    const appends = Array.from({ length: 250 }, (_, at) => owned(store.append('a', recordsBetween(at + 1, at + 1))))
    for (let tries = 0; tries < 3; tries += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      await clock.advance(10)
    }
    writer.end()
    appends.push(owned(store.append('a', recordsBetween(251, 251))))
    const state = { isDone: false }
    const all = Promise.all(appends).finally(() => (state.isDone = true))
    while (!state.isDone) {
      await new Promise((resolve) => setImmediate(resolve))
      await clock.advance(10)
    }
    await all
    assert.equal(await seqsOf(store), upTo(251))
  })

  it('has its patience anew each time that another begins to write', async (context) => {
    const clock = simulatedClock()
    const file = await newFile(context)
    const store = storeOn(context, file, { clock })
    await store.open('a')
    const writer = otherWriter(context, file)
    for (const seq of [1, 2, 3]) {
      writer.begin()
      const state = { isSettled: false }
      const append = owned(store.append('a', recordsBetween(seq, seq)))
      void append.catch(() => {}).finally(() => (state.isSettled = true))
      for (let tries = 0; tries < 3; tries += 1) {
        await new Promise((resolve) => setImmediate(resolve))
        await clock.advance(10)
      }
      assert.not(state.isSettled)
      writer.end()
      while (!state.isSettled) {
        await new Promise((resolve) => setImmediate(resolve))
        await clock.advance(10)
      }
      await append
      await clock.advance(9_000)
    }
    assert.equal(await seqsOf(store), upTo(3))
  })

  it('waits as well to open, to let go, to keep a content and to delete', async (context) => {
    const clock = simulatedClock()
    const file = await fileWith(context, 3)
    const store = storeOn(context, file, { clock })
    const writer = otherWriter(context, file)
    const afterwards = async <T>(work: () => Promise<T>): Promise<T> => {
      writer.begin()
      const state = { isDone: false }
      const working = work().finally(() => (state.isDone = true))
      for (let tries = 0; tries < 3; tries += 1) {
        await new Promise((resolve) => setImmediate(resolve))
        await clock.advance(10)
      }
      assert.not(state.isDone)
      writer.end()
      while (!state.isDone) {
        await new Promise((resolve) => setImmediate(resolve))
        await clock.advance(10)
      }
      return working
    }
    const lease = await afterwards(() => store.open('a'))
    assert.is(lease.lastSeq, 3)
    assert.is((await afterwards(() => store.snapshots!.put('a', new Uint8Array([1])))).length, 64)
    await afterwards(() => lease.release())
    await afterwards(() => store.delete('a'))
    assert.equal(await store.list(), [])
  })

  it('refuses what waited too long, which can be appended once more', async (context) => {
    let now = 0
    // Each time that somebody waits some seconds go by.
    const clock = {
      now: () => now,
      after: (_: number, done: () => void) => (setImmediate(done), (now += 3_000), () => {}),
    }
    const file = await newFile(context)
    const store = storeOn(context, file, { clock })
    await store.open('a')
    const writer = otherWriter(context, file)
    writer.begin()
    await assert.rejects(store.append('a', recordsBetween(1, 2)), failsWith('STORE_APPEND_FAILED', file))
    writer.end()
    assert.equal(await seqsOf(store), [])
    await store.append('a', recordsBetween(1, 2))
    assert.equal(await seqsOf(store), [1, 2])
  })

  it('writes all there is beside one that never stops', { timeoutMs: 30_000 }, async (context) => {
    const file = await newFile(context)
    const child = await startStoreChild(file, context)
    await child.ask({ do: 'open', ids: ['z'] })
    child.send({ do: 'appendForEver', id: 'z' })
    await child.nextAnswer()
    const store = storeOn(context, file)
    await store.open('a')
    for (let seq = 1; seq <= 100; seq += 1) await store.append('a', recordsBetween(seq, seq))
    assert.equal(await seqsOf(store), upTo(100))
    const [before] = [(await seqsOf(store, 'z')).length]
    await child.nextAnswer()
    assert.ok(before > 0)
    await child.kill()
    const left = await seqsOf(store, 'z')
    assert.equal(left, upTo(left.length))
  })
})

describe('a SQLite store whose process was killed', (it) => {
  it('has what it acknowledged, and its agents can be opened by others', { timeoutMs: 20_000 }, async (context) => {
    for (const durability of ['os', 'batch']) {
      const file = await newFile(context)
      const child = await startStoreChild(file, context, { durability })
      await child.ask({ do: 'open', ids: ['a', 'b'] })
      child.send({ do: 'appendForEver', id: 'a', ahead: 5 })
      let known = 0
      while (known < 50) known = Number((await child.nextAnswer()).ok)
      const store = storeOn(context, file)
      await assert.rejects(store.open('a'), failsWith('STORE_LOCKED', String(child.pid)))
      await child.kill()
      const seqs = await seqsOf(store)
      assert.ok(seqs.length >= known)
      assert.equal(seqs, upTo(seqs.length))
      const lease = await store.open('a')
      assert.is(lease.lastSeq, seqs.length)
      await store.append('a', recordsBetween(seqs.length + 1, seqs.length + 1))
      await store.open('b')
    }
  })
})

describe('a SQLite store on a disk that is full', (it) => {
  it('refuses what does not fit, and keeps what it acknowledged', { timeoutMs: 20_000 }, async (context) => {
    const file = await newFile(context)
    // Blocks of 512 bytes, for each of its files.
    const child = await startStoreChild(file, context, { limitBlocks: 1_000 })
    await child.ask({ do: 'open', ids: ['a'] })
    let kept = 0
    let refused: string | undefined
    while (refused === undefined) {
      const { code } = await child.ask({ do: 'append', id: 'a', from: kept + 1, to: kept + 50 })
      refused = code
      if (code === undefined) kept += 50
    }
    assert.is(refused, 'STORE_APPEND_FAILED')
    assert.ok(kept > 0)
    await child.kill()
    const store = storeOn(context, file)
    assert.equal(await seqsOf(store), upTo(kept))
    assert.is((await store.open('a')).lastSeq, kept)
    await store.append('a', recordsBetween(kept + 1, kept + 50))
    assert.equal(await seqsOf(store), upTo(kept + 50))
  })
})

describe('a SQLite store on a file that is not as it should be', (it) => {
  it('says what is wrong, and changes nothing', async (context) => {
    const folder = `${await newFile(context)}.folder`
    await mkdir(folder)
    const text = await newFile(context)
    await writeFile(text, 'not a database, but long enough to be looked at as one. '.repeat(50))
    const other = await newFile(context)
    const database = new DatabaseSync(other)
    database.exec('CREATE TABLE things (name TEXT)')
    database.close()
    for (const file of [folder, text, other]) {
      const before = await stat(file)
      const store = storeOn(context, file)
      await assert.rejects(store.open('a'), failsWith('STORE_OPEN_FAILED', file))
      await assert.rejects(readAll(store, 'a'), failsWith('STORE_READ_FAILED', file))
      for (const ask of [
        () => store.list(),
        () => store.page!(),
        () => store.search!({ text: 'x' }),
        () => store.stat!('a'),
      ])
        await assert.rejects(ask(), failsWith('STORE_READ_FAILED', file))
      await assert.rejects(store.delete('a'), failsWith('STORE_DELETE_FAILED', file))
      await store.close()
      assert.is((await stat(file)).size, before.size)
    }
  })

  it('that was damaged in the middle ends with an error, not with other records', async (context) => {
    const file = await fileWith(context, 3_000)
    const handle = await open(file, 'r+')
    const { size } = await handle.stat()
    for (let at = 8_192; at < size; at += 4_096) await handle.write(Buffer.alloc(600, 0xa5), 0, 600, at)
    await handle.close()
    const store = storeOn(context, file)
    await assert.rejects(readAll(store, 'a'), (error: unknown) =>
      ['STORE_READ_FAILED', 'LOG_CORRUPT'].includes(String((error as { readonly code?: string }).code)),
    )
  })

  it('of which a record is missing tells so', async (context) => {
    const file = await fileWith(context, 30)
    const database = new DatabaseSync(file)
    database.exec('DELETE FROM records WHERE seq = 17')
    database.close()
    await assert.rejects(readAll(storeOn(context, file), 'a'), failsWith('LOG_CORRUPT', 'Record 17'))
  })

  it('that can only be read is read, and opened by nobody', { timeoutMs: 10_000 }, async (context) => {
    const file = await fileWith(context, 30)
    const child = fileURLToPath(new URL('readOnlyChild.ts', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [child, file])
    assert.equal(JSON.parse(stdout), {
      read: 30,
      page: 1,
      search: [],
      open: 'STORE_OPEN_FAILED',
      delete: 'STORE_DELETE_FAILED',
    })
  })
})
