import type { LogQuery } from '../../../src/protocol/ports/logPages.ts'
import { recordVersion, type LogRecord } from '../../../src/protocol/records.ts'
import { ReadPages, type ListedLog } from '../src/readPages.ts'
import { recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const created = (agentId: string, definition: string): LogRecord => ({
  v: recordVersion,
  seq: 1,
  time: 1,
  type: 'agent.created',
  agentId,
  path: [],
  definition,
  model: 'm',
  machine: 'agent@1',
})

/** Logs in memory, of which every read and look is noted; a log that is an error cannot be read. */
function someLogs(given: { [id: string]: LogRecord[] | Error }, { hasStats = true } = {}) {
  const logs = new Map(Object.entries(given))
  const reads: string[] = []
  const seen = { looks: 0, reading: 0, mostReading: 0 }
  const listedOf = (id: string): ListedLog => {
    const log = logs.get(id)
    const size = log instanceof Error ? 9 : (log?.length ?? 0)
    return { id, stat: hasStats ? { size, writtenAt: size } : undefined }
  }
  const pages = new ReadPages({
    listed: async (ids) => {
      if (ids === undefined) seen.looks += 1
      return [...logs.keys()].filter((id) => ids?.includes(id) ?? true).map(listedOf)
    },
    async *read(id, fromSeq = 1, limit = Infinity) {
      reads.push(id)
      seen.reading += 1
      seen.mostReading = Math.max(seen.mostReading, seen.reading)
      try {
        await Promise.resolve()
        const log = logs.get(id)!
        if (log instanceof Error) throw log
        yield* log.slice(fromSeq - 1, fromSeq - 1 + limit)
      } finally {
        seen.reading -= 1
      }
    },
  })
  const definitions = async (query?: LogQuery): Promise<unknown[]> =>
    (await pages.page(query)).logs.map(({ id, origin }) => [id, origin?.definition])
  return { logs, reads, seen, pages, definitions }
}

const log = (id: string, definition: string, last: number): LogRecord[] => [
  created(id, definition),
  ...recordsBetween(2, last),
]

describe('pages of logs that are read', (it) => {
  it('read the first records of the page alone, unless these decide what is on it', async () => {
    const { reads, definitions } = someLogs({ a: log('a', 'x', 1), b: log('b', 'y', 2), c: log('c', 'x', 3) })
    assert.equal(await definitions({ limit: 1 }), [['c', 'x']])
    assert.equal(reads, ['c'])
    assert.equal(await definitions({ definition: 'x' }), [
      ['c', 'x'],
      ['a', 'x'],
    ])
    assert.equal(reads, ['c', 'a', 'b'])
  })

  it('read a first record again only where the log was replaced or was gone in between', async () => {
    const { logs, reads, definitions } = someLogs({ a: log('a', 'x', 3) })
    const steps: readonly (readonly [change: LogRecord[] | undefined, expected: string, reads: number])[] = [
      [log('a', 'x', 3), 'x', 1],
      [log('a', 'x', 9), 'x', 1],
      [log('a', 'y', 2), 'y', 2],
      [undefined, '', 2],
      [log('a', 'z', 5), 'z', 3],
    ]
    for (const [change, expected, count] of steps) {
      if (change === undefined) logs.delete('a')
      else logs.set('a', change)
      assert.equal(await definitions(), expected === '' ? [] : [['a', expected]])
      assert.is(reads.length, count)
    }
  })

  it('list what cannot be read, or begins otherwise, without an origin, and look again once it has changed', async () => {
    const { logs, reads, definitions } = someLogs({ a: new Error('torn'), b: recordsBetween(1, 2) })
    for (const _ of [1, 2])
      assert.equal(await definitions(), [
        ['a', undefined],
        ['b', undefined],
      ])
    assert.equal(reads, ['a', 'b'])
    logs.set('a', log('a', 'x', 20))
    assert.equal(await definitions({ definition: 'x' }), [['a', 'x']])
  })

  it('tell how a log stands that only its records tell of, as far as they can be read', async () => {
    const logs = { a: log('a', 'x', 4), empty: [], torn: new Error('torn') }
    const { pages } = someLogs(logs, { hasStats: false })
    const { logs: found, total } = await pages.page({ total: true })
    const standing = found.map(({ id, size, writtenAt }) => [id, size, writtenAt])
    assert.equal(standing, [
      ['a', 4, recordsBetween(4, 4)[0]!.time],
      ['torn', 0, 0],
    ])
    assert.is(total, 2)
  })

  it('share a look, and read one log at a time, however many ask', async () => {
    const { seen, pages } = someLogs({ a: log('a', 'x', 1), b: log('b', 'y', 2) })
    const asked = await Promise.all([pages.page(), pages.page({ definition: 'y' }), pages.page({ ids: ['a'] })])
    assert.equal(
      asked.map(({ logs }) => logs.map(({ id }) => id)),
      [['b', 'a'], ['b'], ['a']],
    )
    assert.equal([seen.looks, seen.mostReading], [1, 1])
    await pages.page()
    assert.is(seen.looks, 2)
  })
})
