import { CallBook, CallBooks } from '../../../src/inspector/model/calls/callBook.ts'
import { limitsUse } from '../../../src/inspector/model/usage/limitsUse.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

type Part = Readonly<Record<string, unknown>>

/** Records a second apart; of what a case does not look at there is nothing. */
const log = (...parts: readonly Part[]): LogRecord[] =>
  parts.map(
    (part, index) =>
      ({ v: 3, seq: index + 1, time: index * 1_000, runId: 'r', turnIndex: 0, ...part }) as unknown as LogRecord,
  )
const usage = (input: number) => ({ input, output: 0, cacheRead: 0, cacheWrite: 0 })
const asks = (nodeId: number, ...callIds: readonly string[]): Part => ({
  type: 'reply.end',
  nodeId,
  message: {
    role: 'assistant',
    usage: usage(100),
    content: callIds.map((callId) => ({ type: 'toolCall', callId, name: 'dig', input: { at: `${nodeId} ${callId}` } })),
  },
  costUsd: 0.25,
})
const starts = (callId: string, rest: Part = {}): Part => ({ type: 'tool.start', callId, ...rest })
const ends = (callId: string, nodeId: number, rest: Part = {}): Part => ({
  type: 'tool.end',
  callId,
  nodeId,
  message: { role: 'toolResult', callId, content: [], isError: false },
  ...rest,
})

describe('a call in the details', (it) => {
  it('is found by its reply and by its result, with its input, when it began, how long it took and how long it waited', () => {
    const records = log(
      { type: 'run.start' },
      asks(2, 'a'),
      { type: 'approval.requested', callId: 'a' },
      { type: 'tool.progress' },
      { type: 'approval.decided', callId: 'a', decision: 'approve' },
      starts('a', { edited: true, input: { at: 'elsewhere' } }),
      ends('a', 3),
    )
    const at = (end: number) => new CallBooks().at(records, end).ofReply(2, 'a')
    assert.equal(
      [2, 3, 5, 6, 7].map((end) => at(end)?.status),
      ['pending', 'held', 'pending', 'running', 'ended'],
    )
    const call = new CallBooks().at(records, 7).ofResult(3)
    assert.equal(call, at(7))
    assert.equal(
      [call?.name, call?.input, call?.ranWith, call?.reply, call?.result?.node],
      ['dig', { at: '2 a' }, { input: { at: 'elsewhere' } }, 2, 3],
    )
    assert.equal([call?.askedAt, call?.startedAt, call?.endedAt], [1_000, 5_000, 6_000])
    assert.equal(call?.took, { ms: 2_000, waitedMs: 2_000 })
    assert.is(at(6)?.took, undefined)
    assert.is(at(6)?.result, undefined)
  })

  it('has a line for each call that it makes, and waits while one of them does', () => {
    const made = (type: string, n: number, more: Part = {}): Part => ({ type, callId: 'a', n, name: 'pay', ...more })
    const records = log(
      asks(2, 'a'),
      starts('a'),
      made('inner.start', 1, { input: { to: 'x' }, childId: 'a1.1' }),
      made('inner.end', 1, { value: 'paid' }),
      { type: 'approval.requested', callId: 'a/2', parentCall: 'a', name: 'pay' },
      { type: 'approval.decided', callId: 'a/2', parentCall: 'a', decision: 'deny' },
      made('inner.end', 2, { error: { message: 'not you' } }),
      ends('a', 3),
    )
    const at = (end: number) => new CallBooks().at(records, end).ofReply(2, 'a')
    assert.equal(
      [2, 5, 6, 8].map((end) => at(end)?.status),
      ['running', 'held', 'running', 'ended'],
    )
    assert.equal(
      at(8)?.doings?.map(({ seq, text, childId }) => [seq, text, childId]),
      [
        [3, '↳ 1 pay (a1.1) {"to":"x"}', 'a1.1'],
        [4, '↳ 1 pay → paid', undefined],
        [7, '↳ 2 pay failed: not you', undefined],
      ],
    )
  })

  it('is another one with the same id in a later turn', () => {
    const records = log(
      asks(2, 'a', 'b'),
      starts('a'),
      ends('a', 3),
      starts('b'),
      ends('b', 4),
      asks(5, 'a'),
      starts('a'),
    )
    const book = new CallBooks().at(records, records.length)
    assert.equal([book.ofReply(2, 'a')?.status, book.ofReply(5, 'a')?.status], ['ended', 'running'])
    assert.equal([book.ofResult(3)?.input, book.ofResult(4)?.input], [{ at: '2 a' }, { at: '2 b' }])
  })

  it('that was denied or never begun has no time that it took, and an unknown one is none', () => {
    const records = log(
      asks(2, 'a'),
      { type: 'approval.requested', callId: 'a' },
      { type: 'approval.decided', callId: 'a', decision: 'deny' },
      ends('a', 3),
    )
    const books = new CallBooks()
    assert.is(books.at(records, 3).ofReply(2, 'a')?.status, 'denied')
    const call = books.at(records, 4).ofReply(2, 'a')
    assert.equal([call?.status, call?.startedAt, call?.took], ['ended', undefined, undefined])
    assert.equal([books.at(records, 4).ofReply(2, 'z'), books.at(records, 4).ofResult(99)], [undefined, undefined])
    const empty = new CallBook()
    empty.take(log(ends('z', 9))[0]!)
    assert.is(empty.ofResult(9), undefined)
  })

  it('is as it was at an earlier moment, and of a fork also in what it shares', () => {
    const records = log(asks(2, 'a'), starts('a'), ends('a', 3))
    const books = new CallBooks()
    const whole = books.at(records, 3)
    assert.is(whole.ofReply(2, 'a')?.status, 'ended')
    assert.is(books.at(records, 2).ofReply(2, 'a')?.status, 'running')
    const own = log({ type: 'agent.created' })
    assert.is(books.at(own, 1, [records]).ofResult(3)?.name, 'dig')
    // The same moment again folds nothing anew.
    const past = [records]
    assert.is(books.at(own, 1, past), books.at(own, 1, past))
  })
})

describe('the limits of a run', (it) => {
  const run = (limits: Part): Part => ({ type: 'run.start', limits })
  const told = (records: readonly LogRecord[], end = records.length, now = 0) =>
    limitsUse(records, end, now).map(({ words }) => words)

  it('say how much of each is used, with sub-agents that reported', () => {
    const records = log(
      run({ turns: 9, costUsd: 9 }),
      { type: 'turn.start' },
      { type: 'run.end', turns: 1, usage: usage(7), costUsd: 7 },
      run({ turns: 60, tokens: 1_000, costUsd: 5, ms: 60_000 }),
      { type: 'turn.start' },
      asks(2, 'a'),
      starts('a'),
      ends('a', 3, { spent: { usage: usage(300), costUsd: 1, turns: 4 } }),
      { type: 'turn.start' },
    )
    assert.equal(told(records, 9, 9_000), [
      '6 of 60 turns',
      '400 of 1K tokens',
      '$1.25 of $5.00',
      '6.0 s of 1 min 00 s',
    ])
    assert.equal(told(records, 6, 5_000), [
      '1 of 60 turns',
      '100 of 1K tokens',
      '$0.25 of $5.00',
      '2.0 s of 1 min 00 s',
    ])
    // Of the run before at an earlier moment.
    assert.equal(told(records, 3), ['1 of 9 turns', '$7.00 of $9.00'])
  })

  it('do not count what people took to decide, and nothing once the run is over', () => {
    const records = log(
      run({ ms: 60_000 }),
      { type: 'approval.requested', callId: 'a' },
      { type: 'turn.end' },
      { type: 'approval.decided', callId: 'a', decision: 'approve' },
      { type: 'run.end', turns: 1, usage: usage(1), costUsd: 0 },
    )
    assert.equal(told(records, 5, 900_000), ['2.0 s of 1 min 00 s'])
    assert.equal(told(records, 3, 11_000), ['1.0 s of 1 min 00 s'])
    // A clock that was put back takes nothing away.
    assert.equal(told(records, 1, -5_000), ['0 ms of 1 min 00 s'])
  })

  it('are none where there are none, and where nothing ran', () => {
    assert.equal([told(log(run({}))), told(log(run({ onLimit: 'answer' }))), told([])], [[], [], []])
  })

  it('count sub-agents that a run left unfinished, and not those that code started', () => {
    const records = log(
      run({ turns: 60, costUsd: 5 }),
      { type: 'turn.start' },
      { type: 'child.ended', spent: { usage: usage(1), costUsd: 3, turns: 9 } },
      { type: 'run.end', turns: 1, usage: usage(1), costUsd: 1, unfinished: [{ callId: 'a', spent: { turns: 2 } }] },
    )
    assert.equal(told(records), ['3 of 60 turns', '$1.00 of $5.00'])
  })
})
