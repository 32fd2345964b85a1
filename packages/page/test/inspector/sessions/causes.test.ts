import type { AgentSummary } from '../../../../wire/src/frames.ts'
import { alarmOf } from '../../../src/inspector/model/sessions/alarm.ts'
import { Bulk, bulkWords } from '../../../src/inspector/model/sessions/bulk.ts'
import { causesOf, detailOf } from '../../../src/inspector/model/sessions/causes.ts'
import { loopTarget } from '../../../src/inspector/model/sessions/goBack.ts'
import { keyOf, linesOf } from '../../../src/inspector/model/sessions/homeLines.ts'
import { overviewOf } from '../../../src/inspector/model/sessions/overview.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'
import { agent, all, byId, limit, session, spent, stops, waits, works } from './summaries.ts'

const stall = {
  type: 'stall',
  rule: 'repeat',
  first: 4,
  target: 3,
  evidence: 'look gave the same result 3 times',
} as const

describe('what several agents have in common', (it) => {
  const failsWith = (agentId: string, message: string) =>
    agent(agentId, { last: { stopReason: 'error', at: 3, error: { code: 'MODEL_AUTH', message } } })
  const agents = byId(
    failsWith('f1', 'Key 17 of a1b2 was refused'),
    failsWith('f2', 'Key 18 of c3d4 was refused'),
    failsWith('other', 'No such host'),
    stops('p1', 1),
    stops('p2', 2),
    agent('alone', { last: { stopReason: 'error', at: 9, error: { code: 'STORE_CLOSED', message: 'closed' } } }),
    waits('w1', ['c1', 'c2', 'c3', 'c4'], { last: { stopReason: 'paused', at: 3, reason: limit } }),
    works('busy', 3),
  )
  const causes = (options: Parameters<typeof overviewOf>[2] = all) =>
    causesOf(overviewOf(agents, [], options).rows).map(({ words, detail, rows }) => [
      words,
      detail,
      rows.map(({ agentId }) => agentId),
    ])

  it('is each failure and pause of at least two, whatever ids and numbers its message has', () => {
    assert.equal(causes(), [
      ['failed: MODEL_AUTH', 'Key 17 of a1b2 was refused', ['f1', 'f2']],
      ['paused: limit of 60 turns', '', ['p2', 'p1']],
    ])
    // What is filtered away is not continued either.
    assert.equal(causes({ show: ['failed'], words: ['f1'] }), [])
  })

  it('is what waits at five places of one definition', () => {
    agents.set('w2', waits('w2', ['c1']))
    const [first] = causesOf(overviewOf(agents, [], all).rows)
    assert.equal([first!.standing, first!.rows.length], ['waiting', 5])
    const lines = linesOf(overviewOf(agents, [], all).rows, { order: 'need', turned: new Set(), rest: 0 })
    assert.is(lines.filter((line) => line.type === 'row' && line.isBelow).length, 5)
    agents.delete('w2')
  })

  it('is one line, with its rows below once it is open; decisions are open by themselves', () => {
    const { rows } = overviewOf(agents, [], all)
    const linesWith = (turned: readonly string[], order: 'need' | 'cost' = 'need') =>
      linesOf(rows, { order, turned: new Set(turned), rest: 0 }).map((line) =>
        line.type === 'row' ? `${line.isBelow ? '  ' : ''}${line.row.key}` : keyOf(line).trim(),
      )
    const closed = linesWith([])
    assert.equal(
      closed.filter((line) => !line.includes('w1/')),
      [
        'needs',
        'cause failed: MODEL_AUTH Key # of # was refused',
        'alone',
        'other',
        'cause paused: limit of 60 turns',
        'working',
        'busy',
      ].toSorted((a, b) => closed.indexOf(a) - closed.indexOf(b)),
    )
    assert.equal(
      linesWith(['paused: limit of 60 turns']).filter((line) => line.startsWith('  ')),
      ['  p2', '  p1'],
    )
    assert.not.ok(linesWith([], 'cost').some((line) => line.startsWith('cause') || line === 'needs'))
  })

  it('is one line for nine thousand failures of ten thousand agents', () => {
    const many = byId(
      ...Array.from({ length: 10_000 }, (_, index) =>
        index < 9_000 ? failsWith(`a${index}`, `Key ${index} was refused`) : agent(`a${index}`),
      ),
    )
    const lines = linesOf(overviewOf(many, [], all).rows, { order: 'need', turned: new Set(), rest: 0 })
    assert.is(lines.length, 1_003)
  })

  it('says what a loop was, and where it can go back to', () => {
    const loops = agent('l', { state: 'paused', last: { stopReason: 'paused', at: 1, reason: stall } })
    const [row] = overviewOf(byId(loops, stops('p', 1)), [], all).rows
    const [other] = overviewOf(byId(stops('p', 1)), [], all).rows
    assert.equal([detailOf(row!), loopTarget(row!), loopTarget(other!)], [stall.evidence, 'n3', undefined])
  })
})

describe('an action on many agents', (it) => {
  it('is carried out eight at a time, and counts and names what was refused', async () => {
    const bulk = new Bulk('Retry: failed', 20)
    let [under, most] = [0, 0]
    await bulk.run([...Array(20).keys()], async (index) => {
      most = Math.max(most, (under += 1))
      await Promise.resolve()
      under -= 1
      if (index % 10 === 3) throw new Error(`no ${index}`)
    })
    const { done, failed, why, isOver } = bulk.state.value
    assert.equal([most, done, failed, why, isOver], [8, 20, 2, 'no 3', true])
    assert.is(bulkWords(bulk.state.value), 'Retry: failed: 20 of 20, 2 refused')
  })

  it('begins nothing more once it is stopped', async () => {
    const bulk = new Bulk('Deny', 100)
    const begun: number[] = []
    await bulk.run([...Array(100).keys()], async (index) => {
      begun.push(index)
      await Promise.resolve()
      if (index === 7) bulk.stop()
    })
    assert.ok(begun.length < 17)
    assert.is(bulk.state.value.isOver, true)
  })
})

describe('what an agent costs', (it) => {
  const rowOf = (one: AgentSummary) => overviewOf(byId(one), [], all).rows[0]!

  it('is alarming above the threshold of the server, and from a dollar on without any limit', () => {
    const unlimited = rowOf(works('a', 1, { spent: spent(2), limits: { onLimit: 'answer' } }))
    const limited = rowOf(works('b', 1, { spent: spent(2), limits: { turns: 9 } }))
    const unknown = rowOf(works('c', 1, { spent: spent(2) }))
    assert.equal(
      [unlimited, limited, unknown].map((row) => alarmOf(row, undefined)),
      ['unlimited', null, null],
    )
    assert.equal(
      [unlimited, limited, unknown].map((row) => alarmOf(row, 3)),
      [null, null, null],
    )
    assert.equal(
      [unlimited, limited, unknown].map((row) => alarmOf(row, 2)),
      ['unlimited', 'expensive', 'expensive'],
    )
    assert.is(alarmOf(rowOf(works('d', 1, { spent: spent(0.5), limits: {} })), undefined), null)
  })

  it('orders the agents, as their time and their context do', () => {
    const window = (used: number) => ({ contextTokens: { used, window: 100 } })
    const agents = byId(
      works('cheap', 5, { spent: spent(1), ...window(90) }),
      works('dear', 9, { spent: spent(1), treeSpent: spent(8), ...window(10) }),
      stops('stopped', 2),
    )
    const order = (by: 'since' | 'context' | 'cost') =>
      overviewOf(agents, [session('old', { costUsd: 4, updatedAt: 1 })], { ...all, order: by }).rows.map(
        ({ key }) => key,
      )
    assert.equal(order('cost'), ['dear', 'old', 'cheap', 'stopped'])
    assert.equal(order('since'), ['old', 'stopped', 'cheap', 'dear'])
    assert.equal(order('context').slice(0, 2), ['cheap', 'dear'])
  })

  it('tells of a tree how many below its root have failed, also of those that have gone', () => {
    const failed = { last: { stopReason: 'error', at: 1, error: { code: 'MODEL_AUTH', message: 'no' } } } as const
    const agents = byId(works('lead', 1), agent('lead.1', { path: ['lead'], ...failed }))
    const left = byId(agent('lead.1.1', { path: ['lead', 'lead.1'], state: 'closed', ...failed }))
    const { rows } = overviewOf(agents, [], { ...all, left })
    assert.equal(
      new Map(rows.map(({ key, failedBelow }) => [key, failedBelow])),
      new Map([
        ['lead.1', 1],
        ['lead', 2],
      ]),
    )
  })
})
