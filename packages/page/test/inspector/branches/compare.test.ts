import { comparable } from '../../../src/inspector/model/branches/comparable.ts'
import { sharedRecords, SideTotals } from '../../../src/inspector/model/branches/compareTotals.ts'
import { compareTrunks, type ComparedTrunks } from '../../../src/inspector/model/branches/compareTrunks.ts'
import { messageWords, mostCompared, shownParts } from '../../../src/inspector/model/branches/compareWords.ts'
import type { Message } from '../../../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { wordDiff } from '../../../../charts/src/text/wordDiff.ts'
import { BrakeLog } from '../../../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

type Write = (log: BrakeLog) => void

function compared(left: Write, right: Write): ComparedTrunks {
  const [a, b] = [left, right].map((write) => {
    const log = new BrakeLog()
    write(log)
    return log.conversation.trunk()
  })
  return compareTrunks(a!, b!)
}

/** Each row as the ids of its messages, `=` between equal ones. */
const rowsOf = ({ rows }: ComparedTrunks): string[] =>
  rows.map(({ left, right, isSame }) => `${left?.id ?? ''}${isSame ? '=' : '|'}${right?.id ?? ''}`)

const begun: Write = (log) => {
  log.user('go')
  log.step([{ name: 'look', output: 'seen' }])
}

describe('two trunks side by side', (it) => {
  it('share what is equal from the beginning, whatever the ids of its calls', () => {
    const found = compared(
      (log) => (begun(log), log.reply('red')),
      (log) => (log.step([{ name: 'x' }]), log.revert('n1'), log.reply('')),
    )
    assert.is(found.shared, 0)
    const other = compared(
      (log) => (begun(log), log.reply('red'), log.user('on')),
      (log) => (begun(log), log.reply('blue'), log.user('on')),
    )
    assert.is(other.shared, 3)
    assert.equal(rowsOf(other), ['1=1', '2=2', '3=3', '4|4', '5=5'])
    assert.is(other.different, 1)
  })

  it('put what corresponds into one row, though one of them did more in between', () => {
    const more = compared(
      (log) => (begun(log), log.reply('done')),
      (log) => (begun(log), log.step([{ name: 'dig', output: 'gold' }]), log.reply('done')),
    )
    assert.equal(rowsOf(more), ['1=1', '2=2', '3=3', '|4', '|5', '4=6'])
    const tools = compared(
      (log) => (log.user('a'), log.step([{ name: 'look', output: 'x' }]), log.step([{ name: 'dig', output: 'y' }])),
      (log) => (log.user('b'), log.step([{ name: 'dig', output: 'z' }])),
    )
    assert.equal(rowsOf(tools), ['1|1', '2|', '3|', '4=2', '5|3'])
    const roles = compared(
      (log) => log.user('a'),
      (log) => log.reply('a'),
    )
    assert.equal(rowsOf(roles), ['1|', '|1'])
  })

  it('tell a failed result from one that says the same', () => {
    const found = compared(
      (log) => (log.user('a'), log.step([{ name: 'look', output: 'x' }])),
      (log) => (log.user('a'), log.step([{ name: 'look', output: 'x', isError: true }])),
    )
    assert.equal(rowsOf(found), ['1=1', '2=2', '3|3'])
  })

  it('that are equal have no difference, and one that is empty shares nothing', () => {
    assert.is(compared(begun, begun).different, 0)
    assert.equal(rowsOf(compared(begun, () => {})), ['1|', '2|', '3|'])
  })

  it('stand in their order where too much is there to match', () => {
    const many =
      (name: string): Write =>
      (log) => {
        for (let n = 0; n < 1_100; n++) log.user(`${name}${n}`)
      }
    const found = compared(many('a'), many('b'))
    assert.ok(found.isCoarse)
    assert.is(found.rows.length, 1_100)
    assert.equal(rowsOf(found).slice(0, 2), ['1|1', '2|2'])
  })
})

describe('the words of a comparison', (it) => {
  const said = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }], source: 'prompt' })

  it('leave out the middle of what is equal for long, and never what differs', () => {
    const long = 'same '.repeat(200)
    const parts = wordDiff(`${long}red ${long}`, `${long}blue ${long}`)
    const left = shownParts(parts, 'removed')
    assert.equal(
      left.map(({ type }) => type),
      ['gap', 'same', 'removed', 'same', 'gap'],
    )
    assert.equal(left[2], { type: 'removed', text: 'red' })
    assert.equal(left[0], { type: 'gap', chars: 880 })
    assert.equal(
      shownParts(parts, 'added').map(({ type }) => type),
      ['gap', 'same', 'added', 'same', 'gap'],
    )
    const replaced = wordDiff('a b', `a ${long}c`)
    assert.equal(shownParts(replaced, 'added').at(-1), { type: 'added', text: `${long}c` })
    const equal = wordDiff(long, long)
    assert.equal(shownParts(equal, 'added'), equal)
  })

  it('are bounded, and have calls with what they were given', () => {
    assert.is(messageWords(said('x'.repeat(90_000))).length, mostCompared)
    const log = new BrakeLog()
    log.step([{ name: 'dig', input: { depth: 3 } }])
    assert.is(messageWords(log.conversation.trunk()[0]!.message), 'dig {\n  "depth": 3\n}')
  })
})

describe('what the sides of a comparison took', (it) => {
  const usage = { input: 90, output: 10, cacheRead: 0, cacheWrite: 0 }
  const created = (agentId: string, forkedFrom?: object): object => ({ type: 'agent.created', agentId, forkedFrom })
  /** Records a second apart. */
  const logOf = (start: number, ...records: readonly object[]): LogRecord[] =>
    records.map((record, at) => ({ seq: at + 1, time: start + at * 1_000, ...record }) as unknown as LogRecord)
  const run = [
    { type: 'run.start' },
    { type: 'turn.start' },
    { type: 'reply.end', message: { usage }, costUsd: 1 },
    { type: 'run.end', usage, costUsd: 1, turns: 1 },
  ]
  const source = logOf(0, created('a'), ...run, ...run, ...run)
  const fork = logOf(100_000, created('b', { agentId: 'a' }), ...run)

  it('is counted from where they part, and in all', () => {
    const left = { past: [], records: source }
    const right = { past: [source.slice(0, 5)], records: fork }
    const shared = sharedRecords(left, right)
    assert.is(shared, 5)
    const { all, since } = new SideTotals(left.past, shared).of(source, source.length)
    assert.equal(all, { turns: 3, tokens: 300, costUsd: 3, took: { ms: 9_000, waitedMs: 0 } })
    assert.equal(since, { turns: 2, tokens: 200, costUsd: 2, took: { ms: 6_000, waitedMs: 0 } })
    const other = new SideTotals(right.past, shared).of(fork, fork.length)
    assert.equal(other.all, { turns: 2, tokens: 200, costUsd: 2, took: { ms: 6_000, waitedMs: 0 } })
    assert.equal(other.since, { turns: 1, tokens: 100, costUsd: 1, took: { ms: 3_000, waitedMs: 0 } })
  })

  it('goes on as a log grows, and counts a fork in the middle of a run from there', () => {
    const right = { past: [source.slice(0, 8)], records: fork }
    const shared = sharedRecords({ past: [], records: source }, right)
    assert.is(shared, 8)
    const totals = new SideTotals(right.past, shared)
    assert.equal(totals.of(fork, 1).since, { turns: 0, tokens: 0, costUsd: 0, took: { ms: 0, waitedMs: 0 } })
    const { all, since } = totals.of(fork, fork.length)
    assert.equal(since, { turns: 1, tokens: 100, costUsd: 1, took: { ms: 3_000, waitedMs: 0 } })
    assert.is(all.took.ms, 8_000)
    // The source goes on to the end of its run.
    const rest = new SideTotals([], shared).of(source, source.length)
    assert.equal(rest.since, { turns: 1, tokens: 100, costUsd: 1, took: { ms: 4_000, waitedMs: 0 } })
  })

  it('shares nothing with a stranger, nor by a log of the same length', () => {
    const left = { past: [], records: source }
    assert.is(sharedRecords(left, { past: [], records: fork }), 0)
    const since = new SideTotals([], 0).of(fork, fork.length)
    assert.equal(since.all, since.since)
    const two = { past: [source.slice(0, 5)], records: fork }
    const three = { past: [source.slice(0, 9)], records: logOf(0, created('c')) }
    assert.is(sharedRecords(two, three), 5)
  })
})

describe('whom an agent may be compared with', (it) => {
  const known = [
    { agentId: 'x', definition: 'other' },
    { agentId: 'c', definition: 'cook', title: 'Soup' },
    { agentId: 'f2', definition: 'cook', forkedFrom: 'a' },
    { agentId: 'f2', definition: 'cook' },
    { agentId: 'a', definition: 'cook' },
    { agentId: 'f1', definition: 'cook', forkedFrom: 'a' },
  ]

  it('is first who shares a past with it, each once', () => {
    const found = comparable({ agentId: 'f1', definition: 'cook', forkedFrom: 'a' }, known)
    assert.equal(
      found.map(({ agentId, kin }) => `${agentId} ${kin}`),
      ['a source', 'f2 fork', 'c same definition', 'x other'],
    )
    const ofSource = comparable({ agentId: 'a', definition: 'cook' }, known)
    assert.equal(
      ofSource.map(({ agentId, kin }) => `${agentId} ${kin}`),
      ['f2 fork', 'f1 fork', 'c same definition', 'x other'],
    )
  })

  it('is found by words of its title, id and definition', () => {
    const own = { agentId: 'a', definition: 'cook' }
    const ids = (words: string): string[] => comparable(own, known, words).map(({ agentId }) => agentId)
    assert.equal(ids('SOUP cook'), ['c'])
    assert.equal(ids(' f1 '), ['f1'])
    assert.equal(ids('nothing'), [])
  })
})
