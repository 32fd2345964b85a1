import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { copySessions } from '../src/copySessions.ts'
import { recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { createdAs } from '../../evaluation/src/testing/contractPages.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { emptyStore, fill, logsOf, storeKinds, write } from './copyStores.ts'
import { failsWith } from '../../stores/test/storeFolder.ts'

const kinds = Object.keys(storeKinds)
const pairs = kinds.flatMap((from) => kinds.map((to) => [from, to] as const))
const sorted = (ids: readonly string[]): string[] => ids.toSorted()

for (const [from, to] of pairs)
  describe(`copySessions from ${from} to ${to}`, (it) => {
    it('gives the other store the same logs, with what is kept beside them, and does nothing when made again', async (context) => {
      const { store: source } = await emptyStore(context, from)
      const { store: target } = await emptyStore(context, to)
      const content = await fill(source)
      const seen: number[] = []
      const first = await copySessions(source, target, { onLog: ({ done, total }) => seen.push(done, total) })
      assert.equal([sorted(first.copied), first.same, first.refused], [['a', 'a1', 'b', 'f'], [], []])
      assert.equal(seen, [1, 4, 2, 4, 3, 4, 4, 4])
      assert.equal(await logsOf(target), await logsOf(source))
      assert.equal(new TextDecoder().decode(await target.snapshots!.get('b', content)), 'bytes')
      const second = await copySessions(source, target)
      assert.equal([second.copied, sorted(second.same)], [[], ['a', 'a1', 'b', 'f']])
      assert.equal(await logsOf(target), await logsOf(source))
    })

    it('moves what it is told, and deletes it once it is there', async (context) => {
      const { store: source } = await emptyStore(context, from)
      const { store: target } = await emptyStore(context, to)
      await fill(source)
      const before = await logsOf(source)
      const report = await copySessions(source, target, { isMove: true })
      assert.equal(sorted(report.moved), ['a', 'a1', 'b', 'f'])
      assert.equal(await source.list(), [])
      assert.equal(await logsOf(target), before)
    })
  })

describe('copySessions', (it) => {
  it('takes sub-agents with their root, and what a fork shares', async (context) => {
    const { store: source } = await emptyStore(context, 'sqlite')
    await fill(source)
    const idsFor = async (options: object): Promise<string[]> => {
      const { store: target } = await emptyStore(context, 'memory')
      await copySessions(source, target, options)
      return [...(await target.list())]
    }
    assert.equal(await idsFor({ ids: ['a'] }), ['a', 'a1'])
    assert.equal(await idsFor({ ids: ['a1'] }), ['a', 'a1'])
    assert.equal(await idsFor({ ids: ['f'] }), ['a', 'a1', 'f'])
    assert.equal(await idsFor({ metadata: { user: 'u2' } }), ['b'])
    assert.equal(await idsFor({ metadata: { user: 'nobody' } }), [])
    await assert.rejects(idsFor({ ids: ['nobody'] }), failsWith('AGENT_NOT_FOUND', 'nobody'))
    await assert.rejects(idsFor({ ids: ['../a'] }), failsWith('INVALID_ID'))
  })

  it('goes on with a log that was begun, and leaves one alone that is another, or goes on there', async (context) => {
    const { store: source } = await emptyStore(context, 'file')
    const { store: target } = await emptyStore(context, 'sqlite')
    await fill(source)
    const all = await logsOf(source)
    await write(target, 'a', all['a']!.slice(0, 300))
    await write(target, 'b', [...all['b']!, ...recordsBetween(3, 4)])
    const report = await copySessions(source, target)
    assert.equal(
      report.refused.map(({ agentId, error }) => [agentId, error.code]),
      [['b', 'AGENT_EXISTS']],
    )
    assert.match(report.refused[0]!.error.message, /not the same from record 3 on/)
    const after = await logsOf(target)
    assert.equal(after['a'], all['a'])
    assert.is(after['b']!.length, 4)
    const moved = await copySessions(source, target, { isMove: true })
    assert.equal(sorted(moved.moved), ['a', 'a1', 'f'])
    assert.equal(await source.list(), ['b'])
  })

  it('leaves a session alone that is open, and a fork of it, and names both', async (context) => {
    const { store: source } = await emptyStore(context, 'sqlite')
    const { store: target } = await emptyStore(context, 'memory')
    await fill(source)
    const lease = await source.open('a1')
    const report = await copySessions(source, target, { isMove: true })
    assert.equal(report.refused.map(({ agentId, error }) => `${agentId} ${error.code}`).toSorted(), [
      'a STORE_LOCKED',
      'f SESSION_IN_USE',
    ])
    assert.match(report.refused[0]!.error.message, /held by|open in this process/)
    assert.equal([await target.list(), await source.list()], [['b'], ['a', 'a1', 'f']])
    await lease.release()
    assert.equal(sorted((await copySessions(source, target, { isMove: true })).moved), ['a', 'a1', 'f'])
  })

  it('keeps what it moved as long as a fork that stays shares it', async (context) => {
    const { store: source } = await emptyStore(context, 'memory')
    const { store: target } = await emptyStore(context, 'memory')
    await fill(source)
    const { moved, kept } = await copySessions(source, target, { ids: ['a'], isMove: true })
    assert.equal([moved, sorted(kept)], [[], ['a', 'a1']])
    assert.equal(await source.list(), ['a', 'a1', 'b', 'f'])
    const fork = await copySessions(source, target, { ids: ['f'], isMove: true })
    assert.equal([fork.moved, await source.list()], [['f'], ['a', 'a1', 'b']])
  })

  it('deletes nothing that the other store does not give back as it was', async (context) => {
    const { store: source } = await emptyStore(context, 'memory')
    const { store: target } = await emptyStore(context, 'memory')
    await write(source, 'a', [createdAs('a', {}), ...recordsBetween(2, 5)])
    const forgetful = {
      ...target,
      append: (id: string, records: readonly never[], epoch?: number) => target.append(id, records.slice(0, 3), epoch),
    }
    const { moved, refused } = await copySessions(source, forgetful, { isMove: true })
    assert.equal([moved, refused.map(({ error }) => error.code)], [[], ['STORE_DELETE_FAILED']])
    assert.equal(await source.list(), ['a'])
  })

  it(
    'that was killed in the middle is made again, and ends as if it had not been',
    { timeoutMs: 20_000 },
    async (context) => {
      for (const how of ['copy', 'move']) {
        const { store: source, dir } = await emptyStore(context, 'file')
        await fill(source)
        const before = await logsOf(source)
        await source.close()
        const file = join(dir, 'agents.db')
        const child = spawn(process.execPath, [fileURLToPath(new URL('copyChild.ts', import.meta.url)), dir, how], {
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        context.cleanup(() => void child.kill('SIGKILL'))
        const exited = once(child, 'exit')
        for await (const line of createInterface({ input: child.stdout })) if (line === 'middle') break
        child.kill('SIGKILL')
        await exited
        const again = storeKinds['file']!(dir)
        const target = storeKinds['sqlite']!(dir)
        context.cleanup(() => Promise.all([again.close(), target.close()]))
        assert.ok((await logsOf(target))['a']!.length < 700, `${file} has a part of the log`)
        assert.equal(await logsOf(again), before)
        const report = await copySessions(again, target, { isMove: how === 'move' })
        assert.equal(report.refused, [])
        assert.equal(await logsOf(target), before)
        assert.equal(await logsOf(again), how === 'move' ? {} : before)
      }
    },
  )
})
