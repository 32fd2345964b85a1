import { open, readFile } from 'node:fs/promises'
import { readAll, recordsBetween } from '../../src/runtime/stores/contractDemands.ts'
import { fileStore } from '../../src/runtime/stores/fileStore.ts'
import { LogFile, type LogFileHandle } from '../../src/runtime/stores/logFile.ts'
import { type FileStoreOptions, syncPolicy } from '../../src/runtime/stores/syncPolicy.ts'
import { type SimulatedClock, simulatedClock } from '../../src/runtime/simulatedClock.ts'
import { assert, type CaseContext, describe } from '../support/suite.ts'
import { startStoreChild } from './startStoreChild.ts'
import { failsWith, linesOf, storeFolder } from './storeFolder.ts'

/** A log on a real file that counts its syncs and fails when told so. */
interface SyncedLog {
  readonly log: LogFile
  readonly clock: SimulatedClock
  readonly happened: string[]
  syncFails: boolean
  writeFails: boolean
  /** Appends and notes when it was stored. */
  append(from: number, to?: number): Promise<void>
  content(): Promise<string>
}

async function openSynced(context: CaseContext, options: FileStoreOptions): Promise<SyncedLog> {
  const path = (await storeFolder(context)).file('a.jsonl')
  const handle = await open(path, 'w+')
  context.cleanup(() => handle.close())
  const clock = simulatedClock()
  const faulty = {
    write: async (bytes: Buffer, offset: number, length: number, position: number) => {
      if (synced.writeFails) throw new Error('EIO: i/o error, write')
      synced.happened.push('write')
      return handle.write(bytes, offset, length, position)
    },
    datasync: async () => {
      if (synced.syncFails) throw new Error('EIO: i/o error, fdatasync')
      await handle.datasync()
      synced.happened.push('sync')
    },
    read: handle.read.bind(handle),
    truncate: (size: number) => handle.truncate(size),
    close: async () => {},
  }
  const policy = syncPolicy({ ...options, clock })
  const log = new LogFile('a', faulty as unknown as LogFileHandle, { size: 0, lastSeq: 0 }, policy)
  const synced: SyncedLog = {
    log,
    clock,
    happened: [],
    syncFails: false,
    writeFails: false,
    append: async (from, to = from) => {
      await log.append(recordsBetween(from, to))
      synced.happened.push(`stored ${to}`)
    },
    content: () => readFile(path, 'utf8'),
  }
  return synced
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Waits for real file operations, which no clock drives. */
async function until(holds: () => boolean, { signal }: CaseContext): Promise<void> {
  while (!holds()) {
    signal.throwIfAborted()
    await settle()
  }
}

describe('a reader', (it) => {
  it('in the same store does not see what was written and is not stored yet', async (context) => {
    const folder = await storeFolder(context)
    const clock = simulatedClock()
    const store = fileStore(folder.dir, { durability: 'batch', clock })
    context.cleanup(() => store.close())
    await store.open('a')
    const append = store.append('a', recordsBetween(1, 2))
    let written = ''
    while (written !== linesOf(recordsBetween(1, 2))) {
      context.signal.throwIfAborted()
      await settle()
      written = await readFile(folder.file('a.jsonl'), 'utf8')
    }
    assert.equal(await readAll(store, 'a'), [])
    await clock.advance(10)
    await append
    assert.equal(await readAll(store, 'a'), recordsBetween(1, 2))
  })
})

describe('durability "os"', (it) => {
  it('never syncs', async (context) => {
    const file = await openSynced(context, {})
    await file.append(1)
    await file.log.close()
    assert.equal(file.happened, ['write', 'stored 1'])
  })
})

describe('durability "each"', (it) => {
  it('syncs every write before the append resolves', async (context) => {
    const file = await openSynced(context, { durability: 'each' })
    await file.append(1)
    await file.append(2, 4)
    assert.equal(file.happened, ['write', 'sync', 'stored 1', 'write', 'sync', 'stored 4'])
    assert.is(file.clock.pending, 0)
  })

  it('does not sync for appends that add nothing', async (context) => {
    const file = await openSynced(context, { durability: 'each' })
    await file.append(1)
    await file.log.append([])
    await file.append(1)
    assert.equal(file.happened, ['write', 'sync', 'stored 1', 'stored 1'])
  })
})

describe('durability "batch"', (it) => {
  it('makes one sync for all that wait, batchMs after the first write', async (context) => {
    const file = await openSynced(context, { durability: 'batch', batchMs: 10 })
    const appends = [file.append(1)]
    await until(() => file.clock.pending === 1, context)
    await file.clock.advance(9)
    appends.push(file.append(2), file.append(3))
    await until(() => file.happened.length === 2, context)
    await settle()
    assert.equal(file.happened, ['write', 'write'])
    assert.equal([file.log.lastSeq, file.log.size], [0, 0], 'what is not synced is not shown')
    await file.clock.advance(1)
    await Promise.all(appends)
    assert.equal(file.happened, ['write', 'write', 'sync', 'stored 1', 'stored 2', 'stored 3'])
    assert.equal([file.log.lastSeq, file.clock.pending], [3, 0])
  })

  it('takes 10 ms when none are given', async (context) => {
    const file = await openSynced(context, { durability: 'batch' })
    const append = file.append(1)
    await until(() => file.clock.pending === 1, context)
    await file.clock.advance(9)
    assert.is(file.clock.pending, 1)
    await file.clock.advance(1)
    await append
  })

  it('acknowledges a repeat of a record that waits for its sync only with that sync', async (context) => {
    const file = await openSynced(context, { durability: 'batch' })
    const first = file.append(1)
    await until(() => file.clock.pending === 1, context)
    const repeat = file.append(1)
    await settle()
    assert.equal(file.happened, ['write'])
    await file.clock.advance(10)
    await Promise.all([first, repeat])
    assert.equal(file.happened, ['write', 'sync', 'stored 1', 'stored 1'])
  })

  it('syncs at once when it is closed', async (context) => {
    const file = await openSynced(context, { durability: 'batch', batchMs: 60_000 })
    const append = file.append(1)
    await until(() => file.clock.pending === 1, context)
    const late = file.append(2)
    await file.log.close()
    await Promise.all([append, late])
    assert.is(file.happened.filter((what) => what === 'stored 1' || what === 'stored 2').length, 2)
    assert.is(file.clock.pending, 0)
  })

  it('syncs what was written before it tells of a failed write', async (context) => {
    const file = await openSynced(context, { durability: 'batch' })
    const first = file.append(1)
    await until(() => file.clock.pending === 1, context)
    file.writeFails = true
    await assert.rejects(file.append(2), failsWith('STORE_APPEND_FAILED', 'EIO', 'seq 1'))
    await first
    assert.is(file.log.lastSeq, 1)
    assert.is(await file.content(), linesOf(recordsBetween(1, 1)))
  })
})

for (const durability of ['batch', 'each'] as const)
  describe(`durability "${durability}", failing disk`, (it) => {
    it('rejects all a failed sync was to cover, cuts it off, and writes it again when asked to', async (context) => {
      const file = await openSynced(context, { durability, batchMs: 0 })
      const tick = durability === 'batch'
      const store = async (append: Promise<void>): Promise<void> => {
        append.catch(() => undefined)
        if (tick) await until(() => file.clock.pending === 1, context)
        await file.clock.advance(0)
        await append
      }
      await store(file.append(1))
      file.syncFails = true
      const failing = [file.append(2), file.append(3)] as const
      failing[1].catch(() => undefined)
      await assert.rejects(store(failing[0]), failsWith('STORE_APPEND_FAILED', 'fdatasync', 'seq 1'))
      await assert.rejects(failing[1], failsWith('STORE_APPEND_FAILED', 'fdatasync'))
      assert.is(await file.content(), linesOf(recordsBetween(1, 1)))
      assert.is(file.log.lastSeq, 1)
      file.syncFails = false
      await assert.rejects(file.append(4), failsWith('STORE_APPEND_FAILED'))
      await store(file.append(2, 4))
      assert.is(await file.content(), linesOf(recordsBetween(1, 4)))
    })
  })

describe('fileStore options', (it) => {
  it('are refused when they are wrong, by name', () => {
    const wrong: readonly (readonly [unknown, string])[] = [
      [{ durability: 'always' }, 'durability'],
      [{ durability: 'batch', batchMs: -1 }, 'batchMs'],
      [{ durability: 'batch', batchMs: '10' }, 'batchMs'],
      [{ durability: 'batch', batchMs: Number.NaN }, 'batchMs'],
      [{ clock: {} }, 'clock'],
      [{ durabilty: 'each' }, 'durabilty'],
      [null, 'object'],
    ]
    for (const [options, name] of wrong)
      assert.throws(() => fileStore('x', options as FileStoreOptions), failsWith('INVALID_OPTION', name))
  })
})

describe('a process killed while it appends', (it) => {
  for (const [durability, ahead] of [
    ['each', 0],
    ['each', 20],
    ['batch', 0],
    ['batch', 200],
  ] as const)
    it(
      `has every acknowledged record in its log, with durability "${durability}" and ${ahead} appends ahead`,
      { timeoutMs: 30_000 },
      async (context) => {
        const folder = await storeFolder(context)
        const child = await startStoreChild(folder.dir, context, { durability })
        await child.ask({ do: 'open', ids: ['a'] })
        child.send({ do: 'appendForEver', id: 'a', ahead })
        let acknowledged = 0
        while (acknowledged < 5 + ahead * 3) acknowledged = Number((await child.nextAnswer()).ok)
        await child.kill()
        // It may have said more before it died.
        const left = (): Promise<number | undefined> =>
          child.nextAnswer().then(
            ({ ok }) => Number(ok),
            () => undefined,
          )
        for (let seq = await left(); seq !== undefined; seq = await left()) acknowledged = seq
        const store = folder.store()
        const lease = await store.open('a')
        assert.ok(lease.lastSeq >= acknowledged, `${lease.lastSeq} of ${acknowledged}`)
        assert.equal(await readAll(store, 'a'), recordsBetween(1, lease.lastSeq))
      },
    )
})
