import { someRuns } from '../../../test/support/seeds.ts'
import * as fc from 'fast-check'
import { rebuildConversation } from '../../../src/conversation/tree/rebuildConversation.ts'
import { rebuildContext } from '../../../src/machines/rebuildContext.ts'
import { agentIdSchema } from '../../../src/protocol/ids.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { forkSession } from '../src/forkSession.ts'
import { loadSession } from '../src/loadSession.ts'
import { readHistory } from '../../../src/log/readHistory.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { LogBuilder, text, toolCall } from '../../../test/conversation/logBuilder.ts'
import { brakedHistories } from '../../../test/support/brakeArbitraries.ts'
import { happen } from '../../../test/support/brakedHappenings.ts'
import { BrakeLog } from '../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { born, created, logOf, storeOf } from './sessionLogs.ts'
import { failsWith } from '../../stores/test/storeFolder.ts'

/** Where forks at these nodes leave the log of `a`: `[at, seq]`. */
async function momentsOf(records: readonly LogRecord[], nodes: readonly (number | string)[]): Promise<number[][]> {
  const store = await storeOf({ a: born('a', records) })
  const moments: number[][] = []
  for (const [index, node] of nodes.entries()) {
    await forkSession(store, 'a', node, { id: `f${index}` })
    const [first] = await logOf(store, `f${index}`)
    assert.ok(first?.type === 'agent.created' && first.forkedFrom?.agentId === 'a')
    moments.push([first.forkedFrom.at, first.forkedFrom.seq])
  }
  return moments
}

describe('the moment a fork goes back to', (it) => {
  it('is the message that was said, the answer that was given', async () => {
    const log = new LogBuilder()
    log.user('one')
    log.turnStart()
    log.reply('two')
    log.turnStart()
    assert.equal(await momentsOf(log.records, [1, 'n2', '2']), [
      [1, 2],
      [2, 4],
      [2, 4],
    ])
  })

  it('is the result that made the step whole, whichever node of the step is named', async () => {
    const log = new LogBuilder()
    log.user('go')
    log.reply([toolCall('a'), toolCall('b'), toolCall('c')])
    for (const callId of ['c', 'a', 'b']) log.result(callId)
    log.turnStart()
    assert.equal(await momentsOf(log.records, [2, 3, 4, 5]), [
      [5, 6],
      [5, 6],
      [5, 6],
      [5, 6],
    ])
  })

  it('is the summary that was written, the revert that repeated a message', async () => {
    const log = new BrakeLog({ policy: { onUserMessage: 'rebase' } })
    log.user('go')
    log.step([{}])
    log.user('also')
    log.user('and')
    log.step([{}])
    log.revert('n3')
    const reverted = log.records.length
    for (let n = 0; n < 3; n++) log.step([{}])
    const summary = log.compact()!
    assert.equal(await momentsOf(log.records, [8, 9, summary]), [
      [9, reverted + 1],
      [9, reverted + 1],
      [summary, log.records.length + 1],
    ])
  })

  it('is refused for a node there is not, naming the newest', async () => {
    const log = new LogBuilder()
    log.user('go')
    log.step('a')
    const store = await storeOf({ a: born('a', log.records), empty: [created('empty')] })
    for (const [at, shown] of [
      [4, 'n4'],
      ['n99', 'n99'],
      ['n0', '"n0"'],
      ['', '""'],
      ['seven', '"seven"'],
      [1.5, '1.5'],
      [-1, '-1'],
    ] as const)
      await assert.rejects(
        forkSession(store, 'a', at),
        failsWith('NODE_NOT_FOUND', `no node ${shown};`, 'newest is n3'),
      )
    await assert.rejects(forkSession(store, 'empty', 1), failsWith('NODE_NOT_FOUND', 'newest is none'))
    await assert.rejects(forkSession(store, 'a', undefined as never), failsWith('NODE_NOT_FOUND', 'no node undefined'))
    assert.equal(await store.list(), ['a', 'empty'])
  })

  it('is refused for a step whose results are not all in', async () => {
    const log = new LogBuilder()
    log.user('go')
    log.reply([toolCall('a'), toolCall('b')])
    log.result('b')
    const store = await storeOf({ a: born('a', log.records) })
    await assert.rejects(
      forkSession(store, 'a', 'n4'),
      failsWith('NODE_NOT_FOUND', 'n4 is not whole yet: 1 of its calls'),
    )
  })
})

describe('forkSession', (it) => {
  const source = (): LogRecord[] => {
    const log = new LogBuilder()
    log.user('go')
    log.reply('gone')
    return born('a', log.records)
  }

  it('writes one record, dated by its clock, under an id of its own', async () => {
    const store = await storeOf({ a: source() })
    const clock = { now: () => 1234, after: () => () => {} }
    const { agentId } = await forkSession(store, 'a', 2, { clock })
    assert.match(agentId, /^tester-[\w-]{12}$/)
    assert.equal(await logOf(store, agentId), [
      { ...created(agentId, { agentId: 'a', seq: 3, at: 2 }), title: 'go', time: 1234 },
    ])
    assert.equal(await logOf(store, 'a'), source())
    // The new log is not held.
    await (await store.open(agentId)).release()
  })

  it('makes ids that are valid, however long the definition’s name is', async () => {
    const [first, ...rest] = source()
    const store = await storeOf({ a: [{ ...first!, definition: 'd'.repeat(128) } as LogRecord, ...rest] })
    const { agentId } = await forkSession(store, 'a', 2)
    assert.ok(agentIdSchema().safeParse(agentId).success)
  })

  it('refuses bad ids, unknown agents, ids that are taken, and unknown options', async () => {
    const store = await storeOf({ a: source(), b: source() })
    await assert.rejects(forkSession(store, '../a', 1), failsWith('INVALID_ID', '../a'))
    await assert.rejects(forkSession(store, 'a', 1, { id: 'x/y' }), failsWith('INVALID_ID', 'x/y'))
    await assert.rejects(forkSession(store, 'a', 1, { id: '' }), failsWith('INVALID_ID'))
    await assert.rejects(forkSession(store, 'nobody', 1), failsWith('AGENT_NOT_FOUND', 'nobody'))
    await assert.rejects(forkSession(store, 'a', 1, { id: 'b' }), failsWith('AGENT_EXISTS', '"b"'))
    await assert.rejects(forkSession(store, 'a', 1, { id: 'a' }), failsWith('AGENT_EXISTS', '"a"'))
    await store.open('b')
    await assert.rejects(forkSession(store, 'a', 1, { id: 'b' }), failsWith('AGENT_EXISTS', '"b"'))
    await assert.rejects(forkSession(store, 'a', 1, { ids: 'b' } as never), failsWith('INVALID_OPTION', 'ids'))
    assert.equal(await store.list(), ['a', 'b'])
  })

  it('refuses a source whose past does not fold, and writes nothing', async () => {
    const records = source().map((record) =>
      record.type === 'reply.end' ? { ...record, parentId: 7 } : record,
    ) as LogRecord[]
    const store = await storeOf({ a: records })
    await assert.rejects(forkSession(store, 'a', 2), failsWith('LOG_CORRUPT', 'Record 3 (reply.end)'))
    assert.equal(await store.list(), ['a'])
  })

  it('leaves no lease behind when the store takes no record', async () => {
    const inner = await storeOf({ a: source() })
    const store = { ...inner, append: () => Promise.reject(new Error('disk full')) }
    await assert.rejects(forkSession(store, 'a', 2, { id: 'f' }), /disk full/)
    await forkSession(inner, 'a', 2, { id: 'f' })
  })
})

describe('the history of a fork', (it) => {
  const log = new LogBuilder()
  log.user('go')
  log.reply('gone')
  const past = born('a', log.records)
  const forkOf = (agentId: string, seq: number, id: string): LogRecord[] => [created(id, { agentId, seq, at: 1 })]

  it('is told to be incomplete when a source is missing, too short or no log of an agent', async () => {
    const store = await storeOf({
      orphan: forkOf('gone', 2, 'orphan'),
      a: past,
      ahead: forkOf('a', 99, 'ahead'),
      odd: past.slice(1).map((record) => ({ ...record, seq: record.seq - 1 })),
      ofOdd: forkOf('odd', 1, 'ofOdd'),
    })
    await assert.rejects(
      readHistory(store, 'orphan'),
      failsWith('LOG_CORRUPT', '"orphan" is a fork of "gone"', 'no log'),
    )
    await assert.rejects(readHistory(store, 'ahead'), failsWith('LOG_CORRUPT', 'forked at record 99, ends at record 3'))
    await assert.rejects(readHistory(store, 'ofOdd'), failsWith('LOG_CORRUPT', '"odd" begins with message.added'))
    await assert.rejects(readHistory(store, 'odd'), failsWith('LOG_CORRUPT', '"odd" begins with message.added'))
    await assert.rejects(readHistory(store, 'nobody'), failsWith('AGENT_NOT_FOUND', 'nobody'))
  })

  it('is told to be a circle when it is one', async () => {
    const store = await storeOf({
      self: forkOf('self', 1, 'self'),
      b: forkOf('d', 1, 'b'),
      c: forkOf('b', 1, 'c'),
      d: forkOf('c', 1, 'd'),
    })
    await assert.rejects(readHistory(store, 'self'), failsWith('LOG_CORRUPT', '"self" of "self"'))
    await assert.rejects(readHistory(store, 'b'), failsWith('LOG_CORRUPT', '"b" of "d" of "c" of "b"'))
    await assert.rejects(forkSession(store, 'b', 1), failsWith('LOG_CORRUPT', 'fork of itself'))
  })

  it('does not fold without the past, or with another part of it', async () => {
    const records = forkOf('a', 3, 'f')
    assert.is(rebuildConversation(records, { past }).head, 2)
    assert.throws(
      () => rebuildConversation(records),
      failsWith('LOG_CORRUPT', 'after record 3 of agent "a"', 'record 0'),
    )
    assert.throws(() => rebuildConversation(records, { past: past.slice(0, 2) }), failsWith('LOG_CORRUPT', 'record 2'))
  })

  it('ends what was open in the source: step, turn, compaction, queues', () => {
    const open = new LogBuilder()
    open.user('go')
    open.turnStart()
    open.enqueue('prompts', { id: 'q1', content: text('later') })
    open.enqueue('steering', { id: 'q2', content: text('now') })
    open.reply([toolCall('a'), toolCall('b')])
    open.result('a')
    const start = { v: 3, seq: 2, time: 1, runId: 'a/r0', turnIndex: 0, type: 'run.start', cause: 'prompt' } as const
    const source = [
      created('a'),
      { ...start, requestId: 'p', limits: {} },
      ...open.records.map((record) => ({ ...record, seq: record.seq + 2 })),
    ]
    const records = forkOf('a', source.length, 'f')
    const conversation = rebuildConversation(records, { past: source })
    assert.equal(conversation.queues, { steering: [], followUps: [], prompts: [] })
    assert.equal(
      conversation.log().map(({ id }) => id),
      [1],
    )
    assert.equal([conversation.head, conversation.lastNodeId, conversation.lastSeq], [1, 4, 1])
    const context = rebuildContext(records, source)
    assert.equal([context.calls, context.run, context.isTurnOpen, context.seq], [[], null, false, 1])
    assert.equal([context.turns, context.runs, context.pausedRun], [1, 1, 'a/r0'])
    // The call that was open stays used.
    assert.ok(conversation.hasCall('b'))
  })
})

describe('a fork of any history', (it) => {
  it('at any node is the conversation of that moment, and goes on from it', { timeoutMs: 20_000 }, async () => {
    const property = fc.asyncProperty(
      brakedHistories({ maxLength: 25 }),
      fc.constantFrom('refuse' as const, 'rebase' as const),
      async (history, onUserMessage) => {
        const log = new BrakeLog({ policy: { onUserMessage } })
        // What the conversation was when each node was the newest.
        const trunks = new Map<number, number[]>()
        const note = (): void => {
          const { lastNodeId } = log.conversation
          if (!trunks.has(lastNodeId)) trunks.set(lastNodeId, log.trunkIds())
        }
        for (const what of history) {
          happen(log, what)
          note()
        }
        const store = await storeOf({ a: born('a', log.records) })
        for (const [at, trunk] of trunks) {
          if (at === 0) continue
          const { agentId } = await forkSession(store, 'a', at, { id: `f${at}` })
          const { conversation, records } = await loadSession(store, agentId)
          assert.is(records.length, 1)
          assert.equal(
            conversation.trunk().map(({ id }) => id),
            trunk,
          )
        }
      },
    )
    await fc.assert(property, { seed: 3, numRuns: someRuns(60) })
  })

  it('does not change what the fork of it shares, however both go on', async () => {
    const store = memoryStore()
    const log = new LogBuilder()
    log.user('go')
    log.step('a')
    const lease = await store.open('a')
    await store.append('a', born('a', log.records))
    await forkSession(store, 'a', 3, { id: 'f' })
    const before = (await loadSession(store, 'f')).conversation.trunk()
    log.reply('more')
    await store.append('a', born('a', log.records).slice(-1))
    await lease.release()
    assert.equal((await loadSession(store, 'f')).conversation.trunk(), before)
  })
})
