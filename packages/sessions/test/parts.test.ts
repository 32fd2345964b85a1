import type { LogRecord } from '../../../src/protocol/records.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { listSessions } from '../src/listSessions.ts'
import { requestChange } from '../src/requestChange.ts'
import { SaidInLogs } from '../src/saidInLogs.ts'
import { StepSearch } from '../src/stepSearch.ts'
import { write } from './copyStores.ts'

const at = (seq: number, type: string, more: object): LogRecord => ({ v: 3, seq, time: 0, type, ...more }) as never
const said = (seq: number, text: string): LogRecord =>
  at(seq, 'message.added', {
    runId: 'r',
    turnIndex: 0,
    nodeId: seq,
    parentId: null,
    message: { role: 'user', source: 'prompt', content: [{ type: 'text', text }] },
  })

describe('the messages of logs that are searched', (it) => {
  /** Logs of which the case says what they say, and how often each was read. */
  function logs() {
    const texts = new Map<string, readonly LogRecord[]>()
    const reads: string[] = []
    const read = async function* (id: string) {
      reads.push(id)
      yield* texts.get(id) ?? []
    }
    const shelf = new SaidInLogs({ read } as never)
    const look = async (id: string, size = 1, writtenAt = 1): Promise<boolean> => {
      const before = reads.length
      await shelf.of({ id, size, writtenAt })
      return reads.length > before
    }
    return { texts, look, shelf }
  }

  it('are read again where the log was written since, by its size or its time', async () => {
    const { look } = logs()
    for (const [size, writtenAt, isRead] of [
      [1, 1, true],
      [1, 1, false],
      [1, 2, true],
      [2, 2, true],
      [2, 2, false],
    ] as const)
      assert.is(await look('a', size, writtenAt), isRead, `${size} ${writtenAt}`)
  })

  it('are kept as far as there is room, which those give back that have changed or are gone', async () => {
    const { texts: all, look, shelf } = logs()
    const long = 'word '.repeat(800)
    const some = Array.from({ length: 2_500 }, (_, index) => said(index + 1, long))
    for (const id of ['a', 'b']) all.set(id, some)
    const found = await shelf.of({ id: 'a', size: 1, writtenAt: 1 })
    const chars = found.reduce((sum, one) => sum + one.text.length, 0)
    // More than half of the room.
    assert.ok(chars > 8 * 1024 * 1024 && chars <= 16 * 1024 * 1024, String(chars))
    assert.equal([await look('a'), await look('b'), await look('b')], [false, true, true])
    all.set('a', [said(1, 'short')])
    assert.equal([await look('a', 2), await look('b'), await look('b')], [true, true, false])
    all.set('a', some)
    assert.equal([await look('a', 3), await look('a', 3)], [true, true])
    shelf.keepOnly(new Set(['a']))
    assert.equal([await look('a', 3), await look('a', 3), await look('b')], [true, false, true])
  })
})

describe('the step of a node', (it) => {
  const reply = (seq: number, nodeId: number, ...calls: readonly string[]): LogRecord =>
    at(seq, 'reply.end', {
      nodeId,
      message: {
        role: 'assistant',
        content: calls.map((callId) => ({ type: 'toolCall', callId, name: 'x', input: {} })),
      },
    })
  const ended = (seq: number, callId: string): LogRecord => at(seq, 'tool.end', { callId })
  const overlay = { nodeId: 7 }
  const found = (nodeId: number, ...records: readonly LogRecord[]): readonly (number | undefined)[] => {
    const search = new StepSearch(nodeId)
    return records.map((record) => search.next(record))
  }

  it('is whole with the last of its own results', () => {
    assert.equal(found(2, reply(1, 2, 'c1', 'c2'), ended(2, 'c1'), ended(3, 'c2')), [undefined, undefined, 4])
    for (const nodeId of [3, 4])
      assert.equal(found(nodeId, reply(1, 2, 'c1', 'c2'), ended(2, 'c1'), ended(3, 'c2')).at(-1), 4)
    assert.equal(found(9, reply(1, 2, 'c1'), ended(2, 'c1')), [undefined, undefined])
    assert.equal(found(2, reply(1, 2)), [2])
  })

  it('lacks results only where it was met', () => {
    for (const [nodeId, missing] of [
      [2, 2],
      [9, 0],
    ] as const) {
      const search = new StepSearch(nodeId)
      search.next(reply(1, 2, 'c1', 'c2'))
      assert.equal([search.missingResults, search.lastNodeId], [missing, 4])
    }
  })

  it('is not that of calls which its source had left open', () => {
    assert.equal(found(2, reply(1, 2, 'c1'), at(2, 'agent.created', {}), ended(3, 'c1')), [
      undefined,
      undefined,
      undefined,
    ])
  })

  it('is the summary only where that was made', () => {
    for (const [applied, expected] of [
      [true, 7],
      [false, undefined],
    ] as const)
      assert.equal(found(7, at(1, 'compaction.end', { applied, overlay })), [expected])
    assert.equal(found(7, at(1, 'compaction.end', { applied: true })), [undefined])
  })
})

describe('a list of sessions', (it) => {
  const created = (id: string, time: number, more: object = {}): LogRecord =>
    ({ v: 3, seq: 1, time, type: 'agent.created', agentId: id, definition: 'x', path: [], ...more }) as never

  it('has as many as it may, and then knows only of what is between those', async () => {
    const store = memoryStore()
    await write(store, 'a', [created('a', 1, { metadata: { user: 'anna' } })])
    await write(store, 'a.1', [created('a.1', 3, { path: ['a'], metadata: { user: 'anna' } })])
    await write(store, 'c', [created('c', 2, { path: ['a'], metadata: { user: 'ben' } })])
    const idsOf = async (options: object) =>
      (await listSessions(store, options)).map(({ id, children }) => [id, children.join()])
    const metadata = { user: 'anna' }
    assert.equal(await idsOf({ limit: 1 }), [['a.1', '']])
    assert.equal(await idsOf({ limit: 0 }), [])
    assert.equal(await idsOf({ metadata }), [
      ['a.1', ''],
      ['a', 'a.1,c'],
    ])
    assert.equal(await idsOf({ metadata, limit: 5 }), [
      ['a.1', ''],
      ['a', 'a.1'],
    ])
  })

  it('has a log of which nothing can be read, and none that is not there any more', async () => {
    const store = memoryStore()
    await write(store, 'a', recordsBetween(1, 2))
    const list = (read: () => AsyncIterable<LogRecord>) => listSessions({ ...store, read })
    const broken = await list(() => {
      throw new Error('The disk is gone')
    })
    assert.equal(
      broken.map(({ id, error }) => [id, error?.code]),
      [['a', 'STORE_READ_FAILED']],
    )
    assert.equal(await list(async function* () {}), [])
  })
})

describe('a request beside the one before it', (it) => {
  const request = (
    messages: number,
    tools: readonly (readonly [name: string, description: string])[],
    more: object = {},
  ) =>
    ({
      request: {
        system: 's',
        settings: {},
        messages: Array.from({ length: messages }, () => ({})),
        tools: tools.map(([name, description]) => ({ name, description, inputSchema: {} })),
        ...more,
      },
      kept: 2,
    }) as never

  it('says what was kept, what is gone and what is new', () => {
    const before = request(3, [
      ['a', 'x'],
      ['b', 'x'],
      ['c', 'x'],
    ])
    const now = request(
      6,
      [
        ['b', 'y'],
        ['c', 'x'],
        ['d', 'x'],
      ],
      { system: 't' },
    )
    const tools = { added: ['d'], removed: ['a'], changed: ['b'] }
    assert.equal(requestChange(before, now), { kept: 2, gone: 1, added: 4, system: true, settings: false, tools })
    const same = { added: [], removed: [], changed: [] }
    const warmer = request(2, [], { settings: { temperature: 1 } })
    assert.equal(requestChange(request(2, []), warmer), {
      kept: 2,
      gone: 0,
      added: 0,
      system: false,
      settings: true,
      tools: same,
    })
  })
})
