import { writeSync } from 'node:fs'
import { appendFile, open, readFile } from 'node:fs/promises'
import { readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { fileStore } from '../src/fileStore.ts'
import { LogFile, type LogFileHandle } from '../src/logFile.ts'
import { SyncRounds, type FileStoreOptions, type SyncPolicy, syncPolicy } from '../src/syncPolicy.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { assert, type CaseContext, describe } from '../../../test/support/suite.ts'
import { startStoreChild } from './startStoreChild.ts'
import { failsWith, linesOf, storeFolder } from './storeFolder.ts'

/** A log on a real file that counts its syncs and fails when told so. */
interface SyncedLog {
  readonly log: LogFile
  readonly happened: string[]
  syncFails: boolean
  writeFails: boolean
  /** Makes the next sync wait until the returned function is called. */
  holdSync(): () => void
  /** Appends and notes when it was stored. */
  append(from: number, to?: number): Promise<void>
  content(): Promise<string>
}

async function openSynced(context: CaseContext, policy: SyncPolicy): Promise<SyncedLog> {
  const path = (await storeFolder(context)).file('a.jsonl')
  const handle = await open(path, 'w+')
  context.cleanup(() => handle.close())
  let held: Promise<void> | undefined
  const write = (): void => {
    if (synced.writeFails) throw new Error('EIO: i/o error, write')
    synced.happened.push('write')
  }
  const faulty = {
    write: async (bytes: Buffer, offset: number, length: number, position: number) => {
      write()
      return handle.write(bytes, offset, length, position)
    },
    writeSync(bytes: Buffer, offset: number, length: number, position: number) {
      write()
      return writeSync(handle.fd, bytes, offset, length, position)
    },
    datasync: async () => {
      synced.happened.push('sync')
      const holding = held
      held = undefined
      await holding
      if (synced.syncFails) throw new Error('EIO: i/o error, fdatasync')
      await handle.datasync()
    },
    read: handle.read.bind(handle),
    truncate: (size: number) => handle.truncate(size),
    close: async () => {},
  }
  const log = new LogFile('a', faulty as unknown as LogFileHandle, { size: 0, lastSeq: 0 }, policy)
  const synced: SyncedLog = {
    log,
    happened: [],
    syncFails: false,
    writeFails: false,
    holdSync() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
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
    const store = folder.store()
    await store.open('a')
    await store.append('a', recordsBetween(1, 2))
    // As a write that is not acknowledged yet: whole lines, which may be taken back.
    await appendFile(folder.file('a.jsonl'), linesOf(recordsBetween(3, 4)))
    assert.equal(await readAll(store, 'a'), recordsBetween(1, 2))
    assert.equal(await readAll(folder.store(), 'a'), recordsBetween(1, 4))
  })
})

describe('durability "os"', (it) => {
  it('never syncs', async (context) => {
    const file = await openSynced(context, syncPolicy())
    await file.append(1)
    await file.log.close()
    assert.equal(file.happened, ['write', 'stored 1'])
  })
})

describe('durability "each"', (it) => {
  it('syncs every write before the append resolves', async (context) => {
    const clock = simulatedClock()
    const file = await openSynced(context, syncPolicy({ durability: 'each', clock }))
    await file.append(1)
    await file.append(2, 4)
    assert.equal(file.happened, ['write', 'sync', 'stored 1', 'write', 'sync', 'stored 4'])
    assert.is(clock.pending, 0)
  })

  it('does not sync for appends that add nothing', async (context) => {
    const file = await openSynced(context, syncPolicy({ durability: 'each' }))
    await file.append(1)
    await file.log.append([])
    await file.append(1)
    assert.equal(file.happened, ['write', 'sync', 'stored 1', 'stored 1'])
  })
})

/** Logs of one store, the first of them being synced until `goOn` is called. */
async function whileSyncing(context: CaseContext, options: FileStoreOptions = {}) {
  const clock = simulatedClock()
  const policy = syncPolicy({ durability: 'batch', clock, ...options })
  const files = await Promise.all([1, 2, 3].map(() => openSynced(context, policy)))
  const [first, second, third] = files as [SyncedLog, SyncedLog, SyncedLog]
  const goOn = first.holdSync()
  const syncing = first.append(1)
  await until(() => first.happened.length === 2, context)
  return { clock, first, second, third, syncing, goOn }
}

describe('durability "batch"', (it) => {
  it('syncs at once, and sets no timer, while nothing else is synced', async (context) => {
    const clock = simulatedClock()
    clock.after = () => {
      throw new Error('a lone agent waits for nobody')
    }
    const file = await openSynced(context, syncPolicy({ durability: 'batch', clock }))
    await file.append(1)
    await file.append(2)
    assert.equal(file.happened, ['write', 'sync', 'stored 1', 'write', 'sync', 'stored 2'])
    assert.equal([file.log.lastSeq, file.log.size > 0], [2, true])
  })

  it('makes one sync for all that comes during another of the same log', async (context) => {
    const { first, syncing, goOn, clock } = await whileSyncing(context)
    const appends = Array.from({ length: 50 }, (_, index) => first.append(index + 2))
    await settle()
    assert.equal([first.log.lastSeq, first.log.size], [0, 0], 'what is not synced is not shown')
    goOn()
    await Promise.all([syncing, ...appends])
    const stored = Array.from({ length: 51 }, (_, index) => `stored ${index + 1}`)
    assert.equal(first.happened, ['write', 'sync', 'stored 1', 'write', 'sync', ...stored.slice(1)])
    assert.equal([first.log.lastSeq, clock.pending], [51, 0])
  })

  it('makes the syncs of other logs of the store together once that one has ended', async (context) => {
    const { first, second, third, syncing, goOn, clock } = await whileSyncing(context)
    const appends = [second.append(1), third.append(1)]
    await until(() => clock.pending === 2, context)
    appends.push(second.append(2))
    await until(() => second.happened.length === 2, context)
    await clock.advance(9)
    assert.equal([second.happened, third.happened], [['write', 'write'], ['write']])
    assert.equal([second.log.lastSeq, second.log.size], [0, 0], 'what is not synced is not shown')
    goOn()
    await Promise.all([syncing, ...appends])
    assert.equal(second.happened, ['write', 'write', 'sync', 'stored 1', 'stored 2'])
    assert.equal(third.happened, ['write', 'sync', 'stored 1'])
    assert.equal(first.happened, ['write', 'sync', 'stored 1'])
    assert.is(clock.pending, 0)
  })

  for (const [batchMs, options] of [
    [10, {}],
    [500, { batchMs: 500 }],
  ] as const)
    it(`waits ${batchMs} ms for the syncs of others at most, with ${JSON.stringify(options)}`, async (context) => {
      const { second, syncing, goOn, clock } = await whileSyncing(context, options)
      const append = second.append(1)
      await until(() => clock.pending === 1, context)
      await clock.advance(batchMs - 1)
      assert.equal(second.happened, ['write'])
      await clock.advance(1)
      await append
      assert.equal(second.happened, ['write', 'sync', 'stored 1'])
      goOn()
      await syncing
      assert.is(clock.pending, 0)
    })

  it('acknowledges a repeat of a record that waits for its sync only with that sync', async (context) => {
    const { second, syncing, goOn, clock } = await whileSyncing(context)
    const appends = [second.append(1)]
    await until(() => clock.pending === 1, context)
    appends.push(second.append(1))
    await settle()
    assert.equal(second.happened, ['write'])
    goOn()
    await Promise.all([syncing, ...appends])
    assert.equal(second.happened, ['write', 'sync', 'stored 1', 'stored 1'])
  })

  it('does not wait for others when it is closed', async (context) => {
    const { second, syncing, goOn, clock } = await whileSyncing(context, { batchMs: 60_000 })
    const appends = [second.append(1)]
    await until(() => clock.pending === 1, context)
    appends.push(second.append(2))
    await second.log.close()
    await Promise.all(appends)
    assert.is(second.happened.filter((what) => what === 'stored 1' || what === 'stored 2').length, 2)
    assert.is(clock.pending, 0)
    goOn()
    await syncing
  })

  it('syncs all that is appended before it closes, also when its own turn comes meanwhile', async (context) => {
    let turn: (() => void) | undefined
    const after = (_: number, callback: () => void) => {
      turn = callback
      return () => (turn = undefined)
    }
    const { second, syncing, goOn } = await whileSyncing(context, { clock: { now: () => 0, after } })
    const appends = [second.append(1)]
    await until(() => turn !== undefined, context)
    appends.push(second.append(2))
    // The write is under way until the event loop turns.
    while (second.happened.length < 2) await Promise.resolve()
    // Batches of their own: a repeat joins no other.
    appends.push(second.append(3), second.append(3), second.append(4))
    const closing = second.log.close()
    turn?.()
    await Promise.all([closing, ...appends])
    assert.is(second.log.lastSeq, 4)
    goOn()
    await syncing
  })

  it('syncs what was written before it tells of a failed write', async (context) => {
    const { second, syncing, goOn, clock } = await whileSyncing(context)
    const append = second.append(1)
    await until(() => clock.pending === 1, context)
    second.writeFails = true
    await assert.rejects(second.append(2), failsWith('STORE_APPEND_FAILED', 'EIO', 'seq 1'))
    await append
    assert.is(second.log.lastSeq, 1)
    assert.is(await second.content(), linesOf(recordsBetween(1, 1)))
    goOn()
    await syncing
  })

  it('lets others sync after a sync that failed', async (context) => {
    const { first, second, syncing, goOn, clock } = await whileSyncing(context)
    const append = second.append(1)
    await until(() => clock.pending === 1, context)
    first.syncFails = true
    goOn()
    await assert.rejects(syncing, failsWith('STORE_APPEND_FAILED', 'fdatasync'))
    await append
    assert.is(clock.pending, 0)
  })
})

describe('the rounds of syncs', (it) => {
  it('begin with all that ask by then, in order, but for those that asked no longer', async () => {
    const clock = simulatedClock()
    const rounds = new SyncRounds(clock, 10)
    const begun: string[] = []
    const first = Promise.withResolvers<void>()
    const syncing = rounds.sync(() => first.promise)
    const forget = rounds.ask(() => begun.push('forgotten'))
    for (const name of ['a', 'b']) rounds.ask(() => begun.push(name))
    forget()
    assert.equal([begun, clock.pending], [[], 2])
    first.resolve()
    await syncing
    assert.equal([begun, clock.pending], [['a', 'b'], 0])
    rounds.ask(() => begun.push('alone'))
    await clock.advance(10)
    assert.equal(begun, ['a', 'b', 'alone'])
  })
})

for (const durability of ['batch', 'each'] as const)
  describe(`durability "${durability}", failing disk`, (it) => {
    it('rejects all a failed sync was to cover, cuts it off, and writes it again when asked to', async (context) => {
      const file = await openSynced(context, syncPolicy({ durability }))
      await file.append(1)
      file.syncFails = true
      const failing = [file.append(2), file.append(3)] as const
      failing[1].catch(() => undefined)
      await assert.rejects(failing[0], failsWith('STORE_APPEND_FAILED', 'fdatasync', 'seq 1'))
      await assert.rejects(failing[1], failsWith('STORE_APPEND_FAILED', 'fdatasync'))
      assert.is(await file.content(), linesOf(recordsBetween(1, 1)))
      assert.is(file.log.lastSeq, 1)
      file.syncFails = false
      await assert.rejects(file.append(4), failsWith('STORE_APPEND_FAILED'))
      await file.append(2, 4)
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
