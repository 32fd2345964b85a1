import { aboutOf, fitsFilter, nameOf, wordsOf } from '../../../src/inspector/model/sessions/agentNames.ts'
import { heldRows, overviewOf, type OverviewRow } from '../../../src/inspector/model/sessions/overview.ts'
import { callWords, ofSameTool, pendingWords } from '../../../src/inspector/model/calls/pendingWords.ts'
import { formatRoute, readRoute } from '../../../src/inspector/model/shell/route.ts'
import { GrowthRate } from '../../../src/inspector/model/sessions/tokenRate.ts'
import { agent, all, byId, fails, session, spent, stops, waits, works } from './summaries.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const told = (rows: readonly OverviewRow[]) => rows.map(({ key, group, words }) => `${group} ${key}: ${words}`)

describe('the overview of all agents', (it) => {
  const agents = byId(
    agent('idle', { last: { stopReason: 'stop', at: 3 } }),
    works('early', 10),
    works('late', 20),
    stops('limited', 7),
    fails('failed', 6),
    waits('asks', ['c1', 'c2'], { activeAt: 8 }),
  )

  it('puts what needs a person first, each thing that waits on a row of its own, then who works, then who is done', () => {
    const { rows, counts } = overviewOf(agents, [session('old')], all)
    assert.equal(told(rows), [
      'needs asks/c1: waits for you',
      'needs asks/c2: waits for you',
      'needs failed: failed: MODEL_AUTH',
      'needs limited: paused: limit of 60 turns',
      'working late: writing',
      'working early: writing',
      'rest idle: idle',
      'rest old: at rest',
    ])
    assert.equal(counts, { waiting: 1, failed: 1, paused: 1, working: 2, idle: 1, ended: 1 })
  })

  it('has who waits longest for a decision first, and of those that failed who did so last', () => {
    const waiting = byId(
      waits('new', ['c'], { activeAt: 9 }),
      waits('old', ['c'], { activeAt: 4 }),
      fails('first', 1),
      fails('second', 2),
    )
    assert.equal(
      overviewOf(waiting, [], all).rows.map(({ agentId }) => agentId),
      ['old', 'new', 'second', 'first'],
    )
  })

  it('keeps its order while agents stay where they stand, however much they do', () => {
    const before = overviewOf(agents, [], all).rows.map(({ key }) => key)
    const busy = new Map([...agents].map(([id, one]) => [id, { ...one, seq: 9_000, activeAt: 5_000, doing: id }]))
    const waiting = { ...busy.get('asks')!, activeAt: 8 }
    assert.equal(
      overviewOf(busy.set('asks', waiting), [], all).rows.map(({ key }) => key),
      before,
    )
  })

  it('counts what waits below a caller once, at the agent that asks', () => {
    const below = waits('boss.1', ['c'], { path: ['boss'] })
    const boss = agent('boss', { state: 'executing', pending: ['boss.1/c'], pendingApprovals: ['boss.1/c'] })
    const { rows, counts } = overviewOf(byId(boss, below), [], all)
    assert.equal([counts.waiting, counts.working], [1, 1])
    assert.equal(
      rows.filter(({ pending }) => pending !== null).map(({ key }) => key),
      ['boss.1/c'],
    )
  })

  it('adds up what trees cost, each once, also one whose root has gone', () => {
    const root = agent('root', { spent: spent(1, 10), treeSpent: spent(3, 30) })
    const child = agent('root.1', { path: ['root'], spent: spent(2, 20) })
    const orphan = agent('gone.1', { path: ['gone'], spent: spent(5, 50) })
    const { costUsd, outputTokens } = overviewOf(byId(root, child, orphan), [], all)
    assert.equal([costUsd, outputTokens], [8, 80])
  })

  it('shows only those that stand so and have all words, and counts them all the same', () => {
    const { rows, counts } = overviewOf(agents, [], { show: ['failed', 'paused'], words: ['lim'] })
    assert.equal(
      rows.map(({ key }) => key),
      ['limited'],
    )
    assert.is(counts.waiting, 1)
  })

  it('has a session once, at rest, with how it ended', () => {
    const failed = session('s1', { last: { stopReason: 'error', at: 1, error: { code: 'MODEL_AUTH', message: 'no' } } })
    const broken = session('s2', { error: { code: 'LOG_CORRUPT', message: 'line 3' } })
    const { rows } = overviewOf(byId(agent('runs')), [session('runs'), failed, broken], all)
    assert.equal(told(rows), ['rest runs: idle', 'rest s1: failed: MODEL_AUTH', 'rest s2: failed: LOG_CORRUPT'])
  })

  it('says nothing of how a session ended that ran since it was read', () => {
    const [cut, old] = [session('cut', { status: 'running' }), session('old')]
    const { rows } = overviewOf(byId(), [cut, old], { ...all, settling: new Set(['cut']) })
    assert.equal(new Map(rows.map(({ key, words }) => [key, words])).get('cut'), '…')
    assert.equal(rows.filter(({ words }) => words === '…').length, 1)
  })

  it('moves nothing below a pointer: rows keep their places, one that has gone stays, new ones come last', () => {
    const before = overviewOf(byId(fails('a', 9), fails('b', 8), works('c', 1)), [], all).rows
    const now = byId(works('b', 30), fails('new', 50), works('c', 1))
    const held = heldRows(before, overviewOf(now, [], all).rows, now)
    assert.equal(told(held), [
      'needs a: gone',
      'needs b: writing',
      'needs new: failed: MODEL_AUTH',
      'working c: writing',
    ])
    assert.equal(
      heldRows(held, overviewOf(now, [], all).rows, now).map(({ key }) => key),
      ['a', 'b', 'new', 'c'],
    )
  })

  it('gives the place of what was decided to its agent, which is there once', () => {
    const before = overviewOf(byId(waits('a', ['c1'])), [], all).rows
    const now = byId(works('a', 5))
    const held = heldRows(before, overviewOf(now, [], all).rows, now)
    assert.equal(
      held.map(({ key, words, pending }) => [key, words, pending]),
      [['a/c1', 'writing', null]],
    )
  })

  it('orders ten thousand agents, and those that did not change are not looked at again', () => {
    let reads = 0
    const many = Array.from({ length: 10_000 }, (_, index) => {
      const one = agent(`a${index}`)
      return Object.defineProperty(one, 'state', { enumerable: true, get: () => ((reads += 1), 'idle') })
    })
    const map = byId(...many)
    assert.is(overviewOf(map, [], all).rows.length, 10_000)
    const first = reads
    overviewOf(map, [], { show: [], words: ['a77'] })
    assert.is(reads, first)
  })

  it('is an address with its filters', () => {
    const { route, problems } = readRoute('#show=waiting,failed')
    assert.equal([route.agent, route.show, problems], [null, ['waiting', 'failed'], []])
    assert.is(formatRoute(route), '#show=waiting,failed')
    assert.equal(readRoute('#show=failed,nothing').route.show, [])
    assert.match(readRoute('#show=failed,nothing').problems.join(), /is not some of waiting, failed/)
  })
})

describe('names of agents', (it) => {
  it('are what they are about, with definition and id beside it, or the id alone', () => {
    const named = agent('lead.2', { title: 'Fix the\u202E flaky\n test', active: 'coder' })
    assert.equal([nameOf(named), aboutOf(named)], ['Fix the flaky test', 'coder · lead.2'])
    assert.equal([nameOf(agent('lead.2')), aboutOf(agent('lead.2'))], ['lead.2', 'worker'])
    assert.is(nameOf(agent('lead.2', { title: ' ' })), 'lead.2')
    assert.is(nameOf(agent('a', { title: 'é'.repeat(1_000) })).length, 200)
  })

  it('are found by words of title, id, definition and metadata, in any order, case and form', () => {
    const one = agent('lead.2', { title: 'Fix the CAFÉ', metadata: { team: 'blue' } })
    const fits = (filter: string): boolean => fitsFilter(one, wordsOf(filter))
    for (const filter of ['', ' ', 'cafe\u0301 fix', 'LEAD', 'worker', 'team: blue', '.2'])
      assert.is(fits(filter), true, filter)
    for (const filter of ['fix it', '.*', 'lead.3']) assert.is(fits(filter), false, filter)
  })
})

describe('what waits, on one line', (it) => {
  const cases: readonly (readonly [input: unknown, line: string])[] = [
    [{ to: 'production', version: '2.4.1' }, 'deploy production 2.4.1'],
    [{ to: 'production', force: true, hosts: ['a'] }, 'deploy production · force: true, hosts: ["a"]'],
    [{}, 'deploy'],
    [undefined, 'deploy'],
    ['all\nof it', 'deploy all of it'],
    [['a'], 'deploy ["a"]'],
    [{ to: '' }, 'deploy · to: ""'],
    [
      {
        order: 'A-17',
        reason: 'Arrived broken; the customer sent pictures of it, and wants all of it back.',
        eur: 129.9,
      },
      'deploy A-17 · eur: 129.9 · Arrived broken; the customer sent pictures of it, and wants all of it back.',
    ],
  ]
  for (const [input, line] of cases)
    it(`says ${line} of ${JSON.stringify(input)}`, () => assert.is(callWords('deploy', input), line))

  it('has the size of an edit, with a minus that is its own', () => {
    const edit = { path: 'a\u2212b.ts', old_text: 'one\n', new_text: 'two\n' }
    assert.is(callWords('edit_file', edit), 'edit_file a⟨U+2212⟩b.ts +1 −1')
  })

  it('marks what it cuts, and turns no letters round', () => {
    const line = callWords('deploy', { to: `${'x'.repeat(500)}\u202E` })
    assert.ok(line.length <= 160)
    assert.match(line, /x…$/)
    assert.is(callWords('deploy', { to: 'a\u202Eb' }), 'deploy a⟨U+202E⟩b')
  })

  it('is a question as it was asked, and names the approvals of one tool', () => {
    const call = { agentId: 'a', callId: 'c', input: {} }
    const approval = { ...call, kind: 'approval', key: 'a/1', name: 'deploy' } as const
    const question = { ...call, kind: 'question', key: 'a/2', name: 'deploy', question: 'Which?', schema: {} } as const
    assert.is(pendingWords(question), 'deploy asks: Which?')
    const others = [approval, question, { ...approval, key: 'a/3' }, { ...approval, key: 'a/4', name: 'drop' }]
    assert.equal(ofSameTool(others, 'deploy'), ['a/1', 'a/3'])
  })
})

describe('how fast tokens come', (it) => {
  it('is what was added over the last ten seconds, and begins anew when a clock or a count goes back', () => {
    const rate = new GrowthRate()
    assert.is(rate.see(0, 0), 0)
    assert.is(rate.see(100, 1_000), 100)
    assert.is(rate.see(100, 5_000), 20)
    assert.is(rate.see(100, 11_000), 0)
    assert.is(Math.round(rate.see(200, 12_000)), 9)
    assert.is(rate.see(0, 13_000), 0)
    assert.is(rate.see(50, 14_000), 50)
    assert.is(rate.see(60, 2_000), 0)
    assert.is(rate.see(80, 3_000), 20)
    assert.is(rate.see(80, 1_500), 0)
    assert.is(rate.see(90, 900_000), 0)
  })
})
