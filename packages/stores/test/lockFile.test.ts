import { readdir, readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { processStart } from '../src/holder.ts'
import { lockFile } from '../src/lockFile.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { startStoreChild } from './startStoreChild.ts'
import { failsWith, linesOf, storeFolder } from './storeFolder.ts'

const patient = { timeoutMs: 20_000 }

// Above what any system gives out.
const unusedPid = 2_000_000_000

const lockOf = (holder: { readonly pid: number; readonly host?: string; readonly processStart?: string }): string =>
  JSON.stringify({ host: hostname(), startedAt: '2026-01-02T03:04:05.000Z', token: 'another', ...holder })

describe('file lock, between processes', (it) => {
  it(
    'names the process that holds the log, and lets others write other logs of the folder',
    patient,
    async (context) => {
      const folder = await storeFolder(context)
      const child = await startStoreChild(folder.dir, context)
      const store = folder.store()
      await child.ask({ do: 'open', ids: ['a'] })
      const held: { startedAt?: string } = JSON.parse(await readFile(folder.file('a.lock'), 'utf8'))
      await assert.rejects(
        store.open('a'),
        failsWith(
          'STORE_LOCKED',
          `process ${child.pid} on ${hostname()} since ${held.startedAt}`,
          folder.file('a.lock'),
        ),
      )

      await store.open('b')
      const appends = [
        store.append('b', recordsBetween(1, 200)),
        child.ask({ do: 'append', id: 'a', from: 1, to: 200 }),
      ]
      await Promise.all(appends)
      assert.equal(await readAll(store, 'a'), recordsBetween(1, 200))
      assert.equal(await readAll(store, 'b'), recordsBetween(1, 200))
      const { code, message } = await child.ask({ do: 'open', ids: ['b'] })
      assert.is(code, 'STORE_LOCKED')
      assert.match(message ?? '', new RegExp(`process ${process.pid} on`))

      await child.end()
      const lease = await store.open('a')
      assert.equal([lease.lastSeq, lease.repairedBytes], [200, 0])
      await store.append('a', recordsBetween(201, 201))
    },
  )

  it('is taken over from a process that was killed, with every acknowledged record there', patient, async (context) => {
    const folder = await storeFolder(context)
    const child = await startStoreChild(folder.dir, context)
    await child.ask({ do: 'open', ids: ['a'] })
    child.send({ do: 'appendForEver', id: 'a' })
    let acknowledged = 0
    while (acknowledged < 50) acknowledged = Number((await child.nextAnswer()).ok)
    await child.kill()

    const store = folder.store()
    const lease = await store.open('a')
    assert.ok(lease.lastSeq >= acknowledged, `${lease.lastSeq} of ${acknowledged}`)
    await store.append('a', recordsBetween(lease.lastSeq + 1, lease.lastSeq + 1))
    assert.equal(await readAll(store, 'a'), recordsBetween(1, lease.lastSeq))
    await store.close()
    assert.equal(await readdir(folder.dir), ['a.jsonl'])
  })

  it('is taken over by exactly one of the processes that race for it', patient, async (context) => {
    const folder = await storeFolder(context)
    const ids = Array.from({ length: 60 }, (_, index) => `a${index}`)
    const holder = await startStoreChild(folder.dir, context)
    assert.equal(await holder.ask({ do: 'open', ids }), { ok: ids })
    await holder.kill()
    // One agent's takeover was interrupted as well, twice.
    const dead = lockOf({ pid: holder.pid })
    await folder.write('a0.lock.takeover', dead)
    await folder.write('a0.lock.takeover.takeover', dead)

    const racers = await Promise.all([1, 2, 3].map(() => startStoreChild(folder.dir, context)))
    const answers = await Promise.all(racers.map((racer) => racer.ask({ do: 'open', ids })))
    const won = answers.flatMap(({ ok, message }) => {
      assert.ok(Array.isArray(ok), message ?? '')
      return ok.map(String)
    })
    assert.equal(won.toSorted(), ids.toSorted())
    await Promise.all(racers.map((racer) => racer.end()))
    assert.equal(
      (await readdir(folder.dir)).filter((name) => !name.endsWith('.jsonl')),
      [],
    )
  })
})

describe('file lock, the file', (it) => {
  it('of a dead process is taken over by one of many claims made at once', patient, async (context) => {
    const folder = await storeFolder(context)
    const paths = Array.from({ length: 40 }, (_, index) => folder.file(`a${index}.lock`))
    await Promise.all(paths.map((_, index) => folder.write(`a${index}.lock`, lockOf({ pid: unusedPid }))))
    for (const path of paths) {
      const claims = await Promise.allSettled(Array.from({ length: 8 }, () => lockFile(path)))
      const refusals = claims.flatMap((claim) => (claim.status === 'rejected' ? [claim.reason] : []))
      assert.is(refusals.length, 7)
      for (const refusal of refusals) assert.ok(failsWith('STORE_LOCKED', 'this one')(refusal), String(refusal))
    }
    assert.is((await readdir(folder.dir)).length, paths.length)
  })

  it('of a process on another host is never taken over', async (context) => {
    const folder = await storeFolder(context)
    await folder.write('a.lock', lockOf({ pid: unusedPid, host: 'elsewhere' }))
    const refusal = failsWith('STORE_LOCKED', 'on elsewhere since 2026-01-02T03:04:05.000Z', folder.file('a.lock'))
    await assert.rejects(folder.store().open('a'), refusal)
  })

  it('that cannot be read is not taken over', async (context) => {
    const folder = await storeFolder(context)
    for (const content of ['mine', '{"pid":-1}', '[]']) {
      await folder.write('a.lock', content)
      await assert.rejects(folder.store().open('a'), failsWith('STORE_LOCKED', 'an unknown holder'))
    }
    assert.equal((await readdir(folder.dir)).toSorted(), ['a.lock'])
  })

  it('that is blank, as a power cut leaves it, is taken over', async (context) => {
    const folder = await storeFolder(context)
    for (const content of ['', '\0\0\0\0']) {
      await folder.write('a.lock', content)
      await (await folder.store().open('a')).release()
    }
  })

  const onLinux = process.platform === 'linux' ? it : () => {}
  onLinux('of an earlier process with the same pid is taken over', async (context) => {
    const folder = await storeFolder(context)
    await folder.write('a.lock', lockOf({ pid: process.pid, processStart: 'an earlier boot/123' }))
    await folder.store().open('a')

    await folder.write('b.lock', lockOf({ pid: process.pid, processStart: (await processStart(process.pid)) ?? '' }))
    await assert.rejects(folder.store().open('b'), failsWith('STORE_LOCKED', `process ${process.pid} (this one)`))
  })

  const limited = process.platform === 'win32' ? () => {} : it
  limited('that could not be written, as on a full disk, leaves nothing behind', patient, async (context) => {
    const folder = await storeFolder(context)
    const child = await startStoreChild(folder.dir, context, { limitBlocks: 0 })
    for (let tries = 0; tries < 3; tries += 1) {
      const { code, message } = await child.ask({ do: 'open', ids: ['a'] })
      assert.is(code, 'STORE_OPEN_FAILED')
      assert.match(message ?? '', /EFBIG/)
    }
    assert.equal(await readdir(folder.dir), [])
  })

  it('is left alone by release when it is not ours any more', async (context) => {
    const folder = await storeFolder(context)
    const store = folder.store()
    const lease = await store.open('a')
    await store.append('a', recordsBetween(1, 1))
    const others = lockOf({ pid: process.pid })
    await folder.write('a.lock', others)
    await lease.release()
    assert.is(await readFile(folder.file('a.lock'), 'utf8'), others)
    assert.is(await readFile(folder.file('a.jsonl'), 'utf8'), linesOf(recordsBetween(1, 1)))
  })

  it('does not come back when its address changes while it is released, nor where it is not ours any more', async (context) => {
    const folder = await storeFolder(context)
    const store = folder.store()
    const lease = await store.open('a')
    const changes = [store.announce!('ws://a/1'), lease.release(), store.announce!('ws://a/2')]
    await Promise.all(changes)
    assert.equal((await readdir(folder.dir)).toSorted(), ['a.jsonl'])
    await store.open('a')
    const others = lockOf({ pid: process.pid })
    await folder.write('a.lock', others)
    await store.announce!('ws://a/3')
    assert.is(await readFile(folder.file('a.lock'), 'utf8'), others)
  })

  it('says where its agents are reached as of the last word, also of a log that is being opened', async (context) => {
    const folder = await storeFolder(context)
    const store = folder.store()
    await store.announce!('ws://a/1')
    const opening = store.open('a')
    // It has the address by now that it begins with.
    while (!(await readdir(folder.dir).catch(() => [])).some((name) => name.startsWith('a.lock')))
      await Promise.resolve()
    await Promise.all([opening, store.announce!('ws://a/2')])
    assert.is((await store.holder!('a'))?.url, 'ws://a/2')
  })

  it('says where the agents of its process are reached, and who it is if that cannot be read', async (context) => {
    const folder = await storeFolder(context)
    await folder.write('a.lock', lockOf({ pid: unusedPid }))
    assert.is(await folder.store().holder!('a'), undefined)
    await folder.write('a.lock', 'mine')
    assert.equal(await folder.store().holder!('a'), { words: 'an unknown holder', isHere: false })
    await folder.write('a.lock', JSON.stringify({ ...JSON.parse(lockOf({ pid: process.pid })), url: 'ws://b/1' }))
    assert.is((await folder.store().holder!('a'))?.url, 'ws://b/1')
  })
})
