import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { copyLog, isCopied, likeness } from '../src/copyLog.ts'
import { resultWith, write } from './copyStores.ts'

/** A store with a log that names these contents, and keeps them. */
async function keeping(...words: readonly string[]) {
  const store = memoryStore()
  const ids: string[] = []
  const lease = await store.open('a')
  for (const word of words) ids.push(await store.snapshots!.put('a', Buffer.from(word)))
  const records = ids.map((id, index) => resultWith(index + 2, 'a', id))
  await store.append('a', [...recordsBetween(1, 1), ...records], lease.epoch)
  await lease.release()
  return { store, ids }
}

describe('a log that is copied', (it) => {
  it('is written in the name of its lease, in batches, and nothing of it twice', async () => {
    const [from, to] = [memoryStore(), memoryStore()]
    await write(from, 'a', recordsBetween(1, 1_203))
    await write(to, 'a', recordsBetween(1, 3))
    const batches: [number, number | undefined][] = []
    const { append } = to
    to.append = (id, records, epoch) => {
      batches.push([records.length, epoch])
      return append.call(to, id, records, epoch)
    }
    assert.equal(await copyLog(from, to, 'a'), { records: 1_200, lost: 0 })
    assert.equal(batches, [
      [500, 2],
      [500, 2],
      [200, 2],
    ])
    assert.equal(await likeness(from, to, 'a'), { is: 'same', known: 1_203 })
    assert.equal(await copyLog(from, to, 'a'), { records: 0, lost: 0 })
  })

  it('is none where it was written there between the comparison and the lease', async () => {
    const [from, to] = [memoryStore(), memoryStore()]
    await write(from, 'a', recordsBetween(1, 5))
    await write(to, 'a', recordsBetween(1, 2))
    const { open } = to
    to.open = async (id, options) => {
      to.open = open
      await write(to, 'a', recordsBetween(3, 3))
      return open.call(to, id, options)
    }
    await assert.rejects(copyLog(from, to, 'a'), withCode('AGENT_EXISTS'))
    assert.is((await to.stat?.('a'))?.size, 3)
    // And it lets go of the log.
    await (await to.open('a')).release()
  })

  it('lets go of what it compares with, however that ends', async () => {
    const [from, to] = [memoryStore(), memoryStore()]
    await write(from, 'a', recordsBetween(1, 2))
    await write(to, 'a', recordsBetween(1, 5))
    let open = 0
    const watched: Store = {
      ...to,
      async *read(...given) {
        open += 1
        try {
          yield* to.read(...given)
        } finally {
          open -= 1
        }
      },
    }
    assert.equal([await likeness(from, watched, 'a'), open], [{ is: 'other', known: 2 }, 0])
  })

  it('takes along what is kept beside it, once, and says how much of that was lost', async () => {
    const { store: from, ids } = await keeping('one', 'two')
    const to = memoryStore()
    const put: string[] = []
    const { snapshots } = to
    const spied = (fails: (word: string) => boolean): Store => ({
      ...to,
      snapshots: {
        get: (agentId, id) => snapshots!.get(agentId, id),
        put: async (agentId, bytes) => {
          const word = Buffer.from(bytes).toString()
          put.push(word)
          if (fails(word)) throw new Error('no room')
          return await snapshots!.put(agentId, bytes)
        },
      } as Store['snapshots'] & {},
    })
    assert.equal(
      await copyLog(
        from,
        spied((word) => word === 'two'),
        'a',
      ),
      { records: 3, lost: 1 },
    )
    assert.is(await isCopied(from, to, 'a'), false)
    assert.equal(
      await copyLog(
        from,
        spied(() => false),
        'a',
      ),
      { records: 0, lost: 0 },
    )
    assert.equal(put, ['one', 'two', 'two'])
    assert.is(await isCopied(from, to, 'a'), true)
    const { snapshots: _, ...without } = memoryStore()
    assert.equal(await copyLog(from, without, 'a'), { records: 3, lost: 2 })
    const other: Store = {
      ...to,
      snapshots: {
        ...snapshots,
        get: async (_agent: string, id: string) => Buffer.from(id === ids[0] ? 'one' : 'TWO'),
      } as never,
    }
    assert.is(await isCopied(from, other, 'a'), false)
  })
})
