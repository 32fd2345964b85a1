import type { AgentSummary } from '../../../../wire/src/frames.ts'
import { noUsage } from '../../../../../src/protocol/messages.ts'
import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import { controlsOf, type ControlFacts } from '../../../src/inspector/model/agent/controls.ts'
import { having } from '../../../../../test/support/having.ts'
import { EventList } from '../../../src/inspector/model/agent/eventList.ts'
import { FrameBatch } from '../../../src/inspector/model/agent/frameBatch.ts'
import { agentRows } from '../../../src/inspector/model/sessions/hierarchy.ts'
import { emptyRoute, formatRoute, readRoute } from '../../../src/inspector/model/shell/route.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

describe('the address of the inspector page', (it) => {
  it('is read as it was written', () => {
    const route = {
      ...emptyRoute,
      agent: 'a.b-c',
      node: 12,
      view: 'requests',
      at: 120,
      turn: 3,
      q: 'a&b=c is:error',
      with: 'a.2',
    } as const
    assert.is(formatRoute(route), '#agent=a.b-c&node=n12&view=requests&at=120&turn=4&q=a%26b%3Dc+is%3Aerror&with=a.2')
    assert.equal(readRoute(formatRoute(route)), { route, token: null, problems: [] })
    assert.is(formatRoute(emptyRoute), '')
    const chart = { ...emptyRoute, agent: 'a', view: 'chart', look: 'full' } as const
    assert.is(formatRoute(chart), '#agent=a&view=chart&look=full')
    assert.equal(readRoute('#agent=a&view=chart&look=full').route, chart)
    // In other views it says nothing.
    assert.is(formatRoute({ ...chart, view: 'timeline' }), '#agent=a&view=timeline')
    assert.match(readRoute('#agent=a&view=chart&look=small').problems.join(), /"look=small" .* overview, full, actors/)
    assert.equal(readRoute('').route, emptyRoute)
    const ofHost = { ...emptyRoute, host: 'order-17' }
    assert.is(formatRoute(ofHost), '#host=order-17')
    assert.equal(readRoute('#host=order-17').route, ofHost)
    assert.equal(readRoute('#agent=a&host=order-17').route, { ...emptyRoute, agent: 'a' })
    assert.match(readRoute('#host=..%2Fetc').problems.join(), /"host=..\/etc" .* the id of a machine/)
  })

  it('names what makes no sense in it and shows the rest', () => {
    const { route, problems } = readRoute('#agent=../etc&node=x&view=nothing&at=-1&turn=2')
    assert.equal(route, { ...emptyRoute, turn: 1 })
    assert.match(readRoute('#agent=a&turn=0').problems.join(), /"turn=0" .* the number of a turn/)
    assert.is(problems.length, 4)
    assert.match(problems.join('\n'), /"node=x" in the address is not a node such as n12/)
    // What it has must not turn the sentence.
    assert.equal(readRoute('#node=%E2%80%AEx').problems, ['"node=x" in the address is not a node such as n12.'])
  })

  it('gives a token once, and never writes it', () => {
    const { route, token } = readRoute('#agent=a&token=secret')
    assert.is(token, 'secret')
    assert.is(formatRoute(route), '#agent=a')
  })
})

describe('a frame batch', (it) => {
  it('tells each change once a frame, however often it was asked for', () => {
    const frames: (() => void)[] = []
    const told: string[] = []
    const batch = new FrameBatch((flush) => {
      frames.push(flush)
      return () => {}
    })
    const [a, b] = [() => told.push('a'), () => told.push('b')]
    for (let i = 0; i < 1_000; i++) batch.add(a)
    batch.add(b)
    assert.equal(told, [])
    assert.is(frames.length, 1)
    frames.shift()!()
    assert.equal(told, ['a', 'b'])
    batch.add(a)
    batch.add(b)
    batch.remove(b)
    frames.shift()!()
    assert.equal(told, ['a', 'b', 'a'])
  })
})

describe('the list of agents', (it) => {
  const agent = (agentId: string, ...path: string[]): AgentSummary => ({
    agentId,
    path,
    definition: 'd',
    state: 'idle',
    seq: 1,
    head: null,
    pendingApprovals: [],
    spent: { usage: noUsage, costUsd: 0, turns: 0 },
  })

  it('has sub-agents below their parents, and hides those of a closed one', () => {
    const agents = [agent('c', 'a', 'b'), agent('a'), agent('b', 'a'), agent('z')]
    const rows = (closed: string[]): string[] =>
      agentRows(agents, new Set(closed)).map(
        ({ agent: { agentId }, level, place, siblings }) => `${agentId} ${level} ${place}/${siblings}`,
      )
    assert.equal(rows([]), ['a 1 1/2', 'b 2 1/1', 'c 3 1/1', 'z 1 2/2'])
    assert.equal(rows(['b']), ['a 1 1/2', 'b 2 1/1', 'z 1 2/2'])
  })

  it('shows an agent whose parent is not there as a root, below its nearest ancestor that is', () => {
    const rows = agentRows([agent('c', 'a', 'b'), agent('a')], new Set())
    assert.equal(
      rows.map(({ agent: { agentId }, level }) => [agentId, level]),
      [
        ['a', 1],
        ['c', 2],
      ],
    )
    assert.is(agentRows([agent('x', 'gone')], new Set())[0]?.level, 1)
  })
})

describe('the controls', (it) => {
  const facts = (view: Partial<ControlFacts['view']>, rest: Partial<ControlFacts> = {}): ControlFacts => ({
    may: having('drive'),
    connection: 'open',
    hasToken: true,
    isRecording: false,
    ...rest,
    view: {
      status: 'live',
      chartState: 'idle',
      isRunning: true,
      policies: null,
      pause: null,
      isStopped: false,
      ...view,
    },
  })

  it('say why they cannot be used: role, connection, past, stopped', () => {
    assert.match(controlsOf(facts({}, { may: having('observe') })).prompt ?? '', /right "talk"/)
    const open = { may: having('observe'), hasToken: false }
    assert.is(controlsOf(facts({}, open)).prompt, 'This server only lets you look.')
    assert.is(controlsOf(facts({}, { ...open, isRecording: true })).prompt, 'A recording: nothing runs here.')
    assert.match(controlsOf(facts({}, { connection: 'reconnecting' })).abort ?? '', /no connection/)
    assert.match(controlsOf(facts({ status: 'past' })).decide ?? '', /past/)
    assert.match(controlsOf(facts({ isStopped: true })).prompt ?? '', /stopped for good/)
    const parts = { when: 'onRequest()', decide: 'oldest()', keep: 'notes()' }
    assert.match(controlsOf(facts({ policies: [] })).brake ?? '', /has no policies/)
    assert.is(controlsOf(facts({ policies: [{ name: 'tidy', ...parts }] })).brake, null)
    assert.equal([controlsOf(facts({})).revert, controlsOf(facts({})).prune], [null, null])
  })

  it('go with the state: what is said to a run needs one, resume needs a pause', () => {
    const idle = controlsOf(facts({}))
    assert.equal([idle.prompt, idle.revert, idle.stop], [null, null, null])
    assert.match(idle.abort ?? '', /No run/)
    assert.match(idle.resume ?? '', /not paused/)
    const busy = controlsOf(facts({ chartState: 'replying.streaming' }))
    assert.equal([busy.steer, busy.followUp, busy.interrupt, busy.abort], [null, null, null, null])
    const limit = controlsOf(facts({ chartState: 'paused', pause: { type: 'interrupted' } }))
    assert.equal([limit.resume, limit.abort], [null, null])
    const asks = controlsOf(facts({ chartState: 'paused', pause: { type: 'approvals', callIds: ['c'] } }))
    assert.match(asks.resume ?? '', /decision/)
  })
})

describe('the list of events', (it) => {
  const at = { agentId: 'a', path: [], time: 0, runId: 'r', turnIndex: 0 }
  const logged = (seq: number): AgentEvent => ({ ...at, v: 3, seq, type: 'turn.start' })
  const live = (seq: number): AgentEvent => ({ ...at, seq, type: 'state.changed', state: 's', previous: 'p' })

  it('keeps all records, and of what was seen live the newest', () => {
    const list = new EventList()
    for (let seq = 1; seq <= 3_000; seq++) {
      list.add(logged(seq))
      for (let i = 0; i < 3; i++) list.add(live(seq))
    }
    assert.is(list.all.filter(({ type }) => type === 'turn.start').length, 3_000)
    const kept = list.all.filter(({ type }) => type === 'state.changed')
    assert.ok(kept.length <= 4_000 && kept.length >= 2_000, `${kept.length} kept`)
    assert.is(list.all.at(-1)?.seq, 3_000)
    assert.ok(list.all.every(({ seq }, index) => index === 0 || seq >= list.all[index - 1]!.seq))
  })

  it('tells how many happened up to a record, with what was seen right after it', () => {
    const list = new EventList()
    for (const event of [logged(1), live(1), logged(2), logged(3), live(3)]) list.add(event)
    assert.equal(
      [0, 1, 2, 3, 9].map((seq) => list.countUpTo(seq)),
      [0, 2, 3, 5, 5],
    )
  })
})
