import type { AgentSummary, SessionEntry } from '../../../../wire/src/frames.ts'
import { headings, sidebarRows, type SideFacts } from '../../../src/inspector/model/sessions/sidebarRows.ts'
import { aboutOf, placeOf } from '../../../src/inspector/model/sessions/agentNames.ts'
import { Notices, type NoticeState } from '../../../src/inspector/model/shell/notices.ts'
import { ShellChoices } from '../../../src/inspector/model/shell/shellChoices.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
const agent = (agentId: string, ...path: readonly string[]): AgentSummary => ({
  agentId,
  definition: 'worker',
  path,
  state: 'idle',
  seq: 1,
  head: null,
  pendingApprovals: [],
  spent: { usage, costUsd: 0, turns: 0 },
})
const session = (agentId: string): SessionEntry => ({
  agentId,
  definition: 'worker',
  path: [],
  status: 'completed',
  isStopped: false,
  createdAt: 1,
  updatedAt: 1,
  runs: 1,
  turns: 1,
  usage,
  costUsd: 0,
})
const byId = (...agents: readonly AgentSummary[]) => new Map(agents.map((one) => [one.agentId, one]))
const nobody: SideFacts = {
  agents: new Map(),
  left: new Map(),
  sessions: [],
  rest: 0,
  closed: new Set<string>(),
  words: [],
}
const keys = (facts: Partial<SideFacts>) =>
  sidebarRows({ ...nobody, ...facts }).map(({ key, level }) => `${level} ${key.trim()}`)

describe('the list of agents and sessions', (it) => {
  it('leads to agents and, for machines that are kept, to their charts, and says which they are', () => {
    const machine = { ...session('order-17'), kind: 'machine', definition: 'order' } as const
    assert.equal(placeOf(machine), { agent: null, host: 'order-17' })
    assert.equal(placeOf(session('s')), { agent: 's', host: null })
    assert.equal([aboutOf(machine), aboutOf(session('s'))], ['machine order', 'worker'])
  })

  it('has those that run with their sub-agents, then those at rest, and what was not read', () => {
    const facts = { agents: byId(agent('a'), agent('a.1', 'a'), agent('b')), sessions: [session('a'), session('s')] }
    const rows = ['1 running', '2 a', '3 a.1', '2 b', '1 rest', '2 s']
    assert.equal(keys(facts), rows)
    assert.equal(keys({ ...facts, rest: 7 }).slice(-1), ['2 more'])
  })

  it('has no heading above nothing', () => {
    assert.equal(keys({ agents: byId(agent('a')) }), ['1 running', '2 a'])
    assert.equal(keys({ sessions: [session('s')] }), ['1 rest', '2 s'])
    assert.equal(keys({}), [])
  })

  it('keeps sub-agents that have gone below their caller, once, as long as that runs', () => {
    const left = byId(agent('a.1', 'a'), agent('a.1.1', 'a', 'a.1'), agent('z.1', 'z'))
    const facts = { agents: byId(agent('a')), left, sessions: [session('a.1'), session('z.1')] }
    assert.equal(keys(facts), ['1 running', '2 a', '3 a.1', '4 a.1.1', '1 rest', '2 z.1'])
    const gone = sidebarRows({ ...nobody, ...facts }).map((row) => row.type === 'agent' && row.hasLeft)
    assert.equal(gone.slice(1, 4), [false, true, true])
  })

  it('closes headings and callers, and opens them for a filter, which keeps the callers of what fits', () => {
    const agents = byId(agent('a'), agent('a.1', 'a'), agent('b'))
    const facts = { agents, sessions: [session('s'), session('a.7')], rest: 3 }
    const closed = new Set([headings.rest, 'a'])
    assert.equal(keys({ ...facts, closed }), ['1 running', '2 a', '2 b', '1 rest'])
    assert.equal(keys({ ...facts, closed, words: ['a.'] }), ['1 running', '2 a', '3 a.1', '1 rest', '2 a.7'])
    assert.equal(keys({ ...facts, words: ['nobody'] }), ['1 running'])
  })

  it('says of each row its place', () => {
    const rows = sidebarRows({ ...nobody, agents: byId(agent('a')), sessions: [session('s')], rest: 1 })
    assert.equal(
      rows.map(({ place, siblings }) => [place, siblings]),
      [
        [1, 2],
        [1, 1],
        [2, 2],
        [1, 2],
        [2, 2],
      ],
    )
  })

  it('has a width that a person sets within bounds', () => {
    const choices = new ShellChoices()
    assert.is(choices.side.value, 264)
    choices.setSide(9_000)
    assert.is(choices.side.value, 520)
    choices.setSide(-1)
    assert.is(choices.side.value, 200)
    assert.is(choices.details.value, 344)
  })
})

describe('notices of what waits', (it) => {
  const open = (said: NoticeState | Error, first: NoticeState = 'default') => {
    const shown: string[] = []
    const world = { isHidden: true, asked: 0 }
    const notices = new Notices({
      state: () => first,
      ask: async () => {
        world.asked += 1
        if (said instanceof Error) throw said
        return said
      },
      show: (text) => shown.push(text),
      isHidden: () => world.isHidden,
    })
    return { notices, shown, world }
  }

  it('are shown once permitted, for what is new, while the page is out of sight', async () => {
    const { notices, shown, world } = open('granted')
    notices.see(['a/1'])
    await notices.ask()
    notices.see(['a/1'])
    assert.equal(shown, [])
    notices.see(['a/1', 'b/1'])
    world.isHidden = false
    notices.see(['a/1', 'b/1', 'c/1'])
    world.isHidden = true
    notices.see(['b/1'])
    notices.see(['d/1'])
    assert.equal(shown, ['2 calls are waiting for you', '1 call is waiting for you'])
  })

  for (const said of ['denied', 'default', new Error('not here')] as const)
    it(`that are refused (${String(said)}) are never shown, and that is said`, async () => {
      const { notices, shown } = open(said)
      await notices.ask()
      notices.see(['a/1'])
      assert.equal([shown, notices.wasRefused.value], [[], true])
    })

  it('that were refused are not asked for again', async () => {
    const { notices, world } = open('denied')
    await notices.ask()
    await notices.ask()
    assert.is(world.asked, 1)
    const before = open('granted', 'denied')
    await before.notices.ask()
    assert.equal([before.world.asked, before.notices.wasRefused.value], [0, false])
  })
})
