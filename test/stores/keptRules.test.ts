import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, unlink, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileSnapshots } from '../../src/log/stores/fileSnapshots.ts'
import { mayBeAlive, newHolder } from '../../src/log/stores/holder.ts'
import { fitting } from '../../src/log/stores/logPages.ts'
import { defaultSnapshotLimits } from '../../src/log/stores/snapshotLimits.ts'
import type { LogQuery } from '../../src/protocol/ports/logPages.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

describe('a content that is kept in files again', (it) => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
  function folder({ cleanup }: CaseContext): string {
    const dir = mkdtempSync(join(tmpdir(), 'escapement-kept-'))
    cleanup(() => rmSync(dir, { recursive: true, force: true }))
    return dir
  }
  const opened = (dir: string, maxCount: number): FileSnapshots =>
    new FileSnapshots((agentId) => join(dir, agentId), { ...defaultSnapshotLimits, maxCount, isSynced: false })

  for (const again of ['one', 'two', 'three'])
    it(`counts as the newest, also in the next process: ${again}`, async (context) => {
      const dir = folder(context)
      const first = opened(dir, 3)
      const ids = new Map<string, string>()
      for (const [at, text] of ['one', 'two', 'three'].entries()) {
        const id = await first.put('a', bytes(text))
        ids.set(text, id)
        await utimes(join(dir, 'a', id), at + 1, at + 1)
      }
      await first.put('a', bytes(again))
      const next = opened(dir, 3)
      for (const text of ['four', 'five']) await next.put('a', bytes(text))
      const left = await readdir(join(dir, 'a'))
      assert.equal([left.length, left.includes(ids.get(again)!)], [3, true])
    })

  it('is written again where its file is gone', async (context) => {
    const dir = folder(context)
    const snapshots = opened(dir, 3)
    const id = await snapshots.put('a', bytes('one'))
    await unlink(join(dir, 'a', id))
    await snapshots.put('a', bytes('one'))
    assert.equal(await snapshots.get('a', id).then((kept) => kept && [...kept]), [...bytes('one')])
  })
})

describe('a log whose first record cannot be read', (it) => {
  const queries: readonly (readonly [LogQuery, boolean])[] = [
    [{}, true],
    [{ ids: ['a'] }, true],
    [{ within: ['a'] }, true],
    [{ metadata: {} }, true],
    [{ ids: ['b'] }, false],
    [{ within: ['b'] }, false],
    [{ parent: null }, false],
    [{ parent: 'b' }, false],
    [{ definition: 'd' }, false],
    [{ forkedFrom: 'b' }, false],
    [{ metadata: { user: 'u' } }, false],
  ]
  for (const [query, isListed] of queries)
    it(`is ${isListed ? '' : 'not '}listed where asked for ${JSON.stringify(query)}`, () => {
      assert.is(fitting(query)({ id: 'a', origin: undefined }), isListed)
    })
})

describe('the process of a lock', (it) => {
  const codes = [
    ['ESRCH', false],
    ['EPERM', true],
    ['EINVAL', true],
    ['ENOSYS', true],
  ] as const
  for (const [code, isAlive] of codes)
    it(`${isAlive ? 'may be alive' : 'is gone'} where looking for it fails with ${code}`, async (context) => {
      const { kill } = process
      context.cleanup(() => {
        process.kill = kill
      })
      process.kill = () => {
        throw Object.assign(new Error(code), { code })
      }
      assert.is(await mayBeAlive(await newHolder()), isAlive)
    })
})
