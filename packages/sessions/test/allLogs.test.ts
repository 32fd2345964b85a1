import type { LogEntry, LogQuery } from '../../../src/protocol/ports/logPages.ts'
import { allLogs, pagesOf } from '../../stores/src/logPages.ts'
import { listSessions } from '../src/listSessions.ts'
import { pageAmong } from '../../stores/src/rules/logPages.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'

/** So many logs, some of one moment, and what was asked for of them. */
function logsOf(count: number) {
  const entries = Array.from({ length: count }, (_, index): LogEntry => ({
    id: `a${index}`,
    size: 1,
    writtenAt: Math.floor(index / 3),
    origin: undefined,
  }))
  const asked: LogQuery[] = []
  const pages = async (query: LogQuery = {}) => {
    asked.push(query)
    return pageAmong(entries, query)
  }
  return { entries, asked, pages }
}

describe('all logs of a query', (it) => {
  it('come each once, the one written last first, in pages that grow', async () => {
    for (const [count, limit, limits] of [
      [0, 2, [2]],
      [1, 2, [2]],
      [2, 2, [2, 8]],
      [11, 2, [2, 8, 32]],
      [1_499, 100, [100, 400, 1_000]],
      [3_000, 5_000, [1_000, 1_000, 1_000, 1_000]],
      [5, 0, [1, 4, 16]],
    ] as const) {
      const { entries, asked, pages } = logsOf(count)
      const found: string[] = []
      for await (const { id } of allLogs(pages, { limit, parent: null })) found.push(id)
      const expected = (await pagesOf({ page: pages } as never)({ limit: count })).logs.map(({ id }) => id)
      assert.equal(found, expected)
      assert.equal(found.toSorted(), entries.map(({ id }) => id).toSorted())
      const during = asked.slice(0, -1)
      assert.equal(
        during.map((query) => query.limit),
        limits,
      )
      assert.ok(during.every(({ parent }) => parent === null))
    }
  })

  it('begin after the one that is named, and are read no further than they are wanted', async () => {
    const { asked, pages } = logsOf(20)
    const [first] = (await pages({ limit: 1 })).logs
    const found: string[] = []
    for await (const { id } of allLogs(pages, { limit: 3, after: first! })) {
      found.push(id)
      if (found.length === 3) break
    }
    assert.is(found.includes(first!.id), false)
    assert.is(asked.length, 2)
  })

  it('of a store without pages are those it lists, as far as they are asked for', async () => {
    const { page: _, stat: __, ...store } = memoryStore()
    for (const [id, last] of [
      ['a', 3],
      ['b', 5],
      ['c', 4],
    ] as const) {
      await store.open(id)
      await store.append(id, recordsBetween(1, last))
    }
    const idsOf = async (given: object, query: LogQuery): Promise<string[]> =>
      (await pagesOf({ ...store, ...given })(query)).logs.map(({ id }) => id)
    assert.equal(await idsOf({}, {}), ['b', 'c', 'a'])
    assert.equal(await idsOf({}, { ids: ['a', 'c', 'z'] }), ['c', 'a'])
    const stat = (id: string) => (id === 'b' ? Promise.reject(new Error('broken')) : { size: 1, writtenAt: 7 })
    assert.equal(await idsOf({ stat: async (id: string) => stat(id) }, {}), ['a', 'c', 'b'])
  })
})

describe('the list of sessions', (it) => {
  it('takes a limit that is a whole number', async () => {
    const store = memoryStore()
    for (const limit of [-1, 1.5, Number.NaN, -Infinity])
      await assert.rejects(listSessions(store, { limit }), withCode('INVALID_OPTION', 'limit', `not ${limit}`))
    for (const limit of [0, 1, Infinity]) assert.equal(await listSessions(store, { limit }), [])
  })
})
