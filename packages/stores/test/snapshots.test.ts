import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SnapshotLimits, SnapshotStore } from '../../../src/protocol/ports/snapshots.ts'
import { fileStore } from '../src/fileStore.ts'
import { MemorySnapshots } from '../src/memory/memorySnapshots.ts'
import { memoryStore } from '../src/memory/memoryStore.ts'
import { sqliteStore } from '../../sqlite/src/sqliteStore.ts'
import { defaultSnapshotLimits } from '../src/rules/snapshotLimits.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const textIn = (kept: Uint8Array | undefined): string | undefined => kept && new TextDecoder().decode(kept)

function folder({ cleanup }: Pick<CaseContext, 'cleanup'>): string {
  const dir = mkdtempSync(join(tmpdir(), 'escapement-snapshots-'))
  cleanup(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

type Open = (context: CaseContext, limits: Partial<SnapshotLimits>) => SnapshotStore | Promise<SnapshotStore>

const kinds: { readonly [kind: string]: Open } = {
  'in memory': (_, limits) => new MemorySnapshots({ ...defaultSnapshotLimits, ...limits }),
  'in files': (context, snapshots) => fileStore(folder(context), { snapshots }).snapshots!,
  'in SQLite': async (context, snapshots) => {
    const store = sqliteStore(join(folder(context), 'agents.db'), { snapshots })
    context.cleanup(() => store.close())
    await store.open('a')
    return store.snapshots!
  },
}

for (const [kind, open] of Object.entries(kinds)) {
  describe(`snapshots ${kind}`, (it) => {
    it('come back byte for byte, each agent has its own, and the same content is kept once', async (context) => {
      const store = await open(context, {})
      const all = Uint8Array.from({ length: 256 }, (_, index) => index)
      const [id, again, empty] = [await store.put('a', all), await store.put('a', all), await store.put('a', bytes(''))]
      assert.is(id, again)
      assert.equal([...(await store.get('a', id))!], [...all])
      assert.is((await store.get('a', empty))?.length, 0)
      assert.is(await store.get('b', id), undefined)
      assert.is(await store.get('a', '../a.jsonl'), undefined)
    })

    it('are not shared with whoever put them', async (context) => {
      const store = await open(context, {})
      const given = bytes('one')
      const id = await store.put('a', given)
      given[0] = 0
      ;(await store.get('a', id))![1] = 0
      assert.is(textIn(await store.get('a', id)), 'one')
    })

    it('go as many at once as it takes to make room, the one used longest ago first', async (context) => {
      const store = await open(context, { maxBytes: 8 })
      const ids: string[] = []
      for (const text of ['aa', 'bb', 'cc', 'dd']) ids.push(await store.put('a', bytes(text)))
      await store.put('a', bytes('aa'))
      ids.push(await store.put('a', bytes('eeeee')))
      const kept = await Promise.all(ids.map(async (id) => textIn(await store.get('a', id))))
      assert.equal(kept, ['aa', undefined, undefined, undefined, 'eeeee'])
    })

    it('go, the one used longest ago first, when there are too many bytes or too many of them', async (context) => {
      for (const limits of [{ maxBytes: 8 }, { maxCount: 2 }]) {
        const store = await open(context, limits)
        const [one, two] = [await store.put('a', bytes('111')), await store.put('a', bytes('222'))]
        await store.put('a', bytes('111'))
        const three = await store.put('a', bytes('333'))
        const left = await Promise.all([one, two, three].map((id) => store.get('a', id)))
        assert.equal(left.map(textIn), ['111', undefined, '333'])
      }
    })

    it('are refused when they are too large', async (context) => {
      const store = await open(context, { maxFileBytes: 3 })
      assert.is(store.maxFileBytes, 3)
      await assert.rejects(store.put('a', bytes('four')), /4 bytes are more than is kept of a file \(3\)/)
      assert.is(textIn(await store.get('a', await store.put('a', bytes('333')))), '333')
    })
  })
}

describe('snapshots of a SQLite store', (it) => {
  it('remember after a restart which was used longest ago, and do not give back what was damaged', async (context) => {
    const file = join(folder(context), 'agents.db')
    const first = sqliteStore(file)
    await first.open('a')
    const [one, two] = [await first.snapshots!.put('a', bytes('111')), await first.snapshots!.put('a', bytes('222'))]
    await first.snapshots!.put('a', bytes('111'))
    await first.close()
    const again = sqliteStore(file, { snapshots: { maxCount: 2, maxBytes: undefined as never } })
    context.cleanup(() => again.close())
    await again.open('a')
    const three = await again.snapshots!.put('a', bytes('333'))
    const left = await Promise.all([one, two, three].map((id) => again.snapshots!.get('a', id)))
    assert.equal(left.map(textIn), ['111', undefined, '333'])
    const database = new DatabaseSync(file)
    context.cleanup(() => database.close())
    database.prepare('UPDATE contents SET bytes = ? WHERE id = ?').run(bytes('1I1'), one)
    assert.is(await again.snapshots!.get('a', one), undefined)
  })

  it('are kept of agents with a log alone, and count anew when another process had the log', async (context) => {
    const file = join(folder(context), 'agents.db')
    const stores = [1, 2].map(() => sqliteStore(file, { snapshots: { maxCount: 2 } }))
    for (const store of stores) context.cleanup(() => store.close())
    const [mine, other] = [stores[0]!, stores[1]!]
    assert.is(await mine.snapshots!.get('a', 'f'.repeat(64)), undefined)
    await assert.rejects(mine.snapshots!.put('a', bytes('111')), /agent "a" has no log in .*agents\.db/)
    const lease = await mine.open('a')
    const one = await mine.snapshots!.put('a', bytes('111'))
    await lease.release()
    const theirs = await other.open('a')
    const two = await other.snapshots!.put('a', bytes('222'))
    await theirs.release()
    await mine.open('a')
    const three = await mine.snapshots!.put('a', bytes('333'))
    const left = await Promise.all([one, two, three].map((id) => mine.snapshots!.get('a', id)))
    assert.equal(left.map(textIn), [undefined, '222', '333'])
  })
})

describe('snapshots of a file store', (it) => {
  it('outlive it, in a folder beside the log that only its owner may read', async (context) => {
    const dir = folder(context)
    const id = await fileStore(dir).snapshots!.put('a', bytes('one'))
    assert.is(textIn(await fileStore(dir).snapshots!.get('a', id)), 'one')
    assert.equal([readdirSync(dir), readdirSync(join(dir, 'a.snapshots'))], [['a.snapshots'], [id]])
    assert.is(statSync(join(dir, 'a.snapshots')).mode & 0o777, 0o700)
    assert.is(statSync(join(dir, 'a.snapshots', id)).mode & 0o777, 0o600)
    assert.equal(await fileStore(dir).list(), [])
  })

  it('remember after a restart which was used longest ago, and clear up what a crash left', async (context) => {
    const dir = folder(context)
    const first = fileStore(dir).snapshots!
    const [one, two] = [await first.put('a', bytes('111')), await first.put('a', bytes('222'))]
    utimesSync(join(dir, 'a.snapshots', one), new Date(2_000), new Date(2_000))
    utimesSync(join(dir, 'a.snapshots', two), new Date(1_000), new Date(1_000))
    writeFileSync(join(dir, 'a.snapshots', `${one}.x.tmp`), 'half')
    const three = await fileStore(dir, { snapshots: { maxCount: 2 } }).snapshots!.put('a', bytes('333'))
    assert.equal(readdirSync(join(dir, 'a.snapshots')).toSorted(), [one, three].toSorted())
  })

  it('do not give back what was damaged, and write it anew', async (context) => {
    const dir = folder(context)
    const { snapshots } = fileStore(dir)
    const id = await snapshots!.put('a', bytes('one'))
    writeFileSync(join(dir, 'a.snapshots', id), 'oNe')
    assert.is(await snapshots!.get('a', id), undefined)
    rmSync(join(dir, 'a.snapshots'), { recursive: true })
    assert.is(await snapshots!.get('a', id), undefined)
    await snapshots!.put('a', bytes('one'))
    assert.is(textIn(await snapshots!.get('a', id)), 'one')
  })

  it('reject when they cannot be written, and the next one is tried', async (context) => {
    const dir = folder(context)
    const { snapshots } = fileStore(dir)
    writeFileSync(join(dir, 'a.snapshots'), 'in the way')
    await assert.rejects(snapshots!.put('a', bytes('one')), /EEXIST|ENOTDIR/)
    rmSync(join(dir, 'a.snapshots'))
    assert.ok(await snapshots!.put('a', bytes('one')))
  })

  it('are deleted with the log, here and in memory', async (context) => {
    const dir = folder(context)
    for (const store of [fileStore(dir), memoryStore()]) {
      const lease = await store.open('a')
      const made = { v: 3, seq: 1, time: 1, type: 'agent.created', agentId: 'a', path: [] } as const
      await store.append('a', [{ ...made, definition: 'd', model: 'm', machine: 'agent@1' }])
      const id = await store.snapshots!.put('a', bytes('one'))
      await lease.release()
      assert.is(textIn(await store.snapshots!.get('a', id)), 'one')
      await store.delete('a')
      assert.is(await store.snapshots!.get('a', id), undefined)
    }
    assert.equal(readdirSync(dir), [])
  })

  it('have limits that are checked', (context) => {
    const dir = folder(context)
    mkdirSync(join(dir, 'x'))
    for (const snapshots of [{ maxBytes: 0 }, { maxCount: -1 }, { maxFileBytes: '1' }, { most: 1 }])
      assert.throws(() => fileStore(dir, { snapshots: snapshots as never }), withCode('INVALID_OPTION', 'snapshots'))
  })
})
