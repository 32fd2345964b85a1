import { FleetLists } from '../../src/gateway/fleetLists.ts'
import { pageSize } from '../../src/gateway/workerFrames.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const [one, other] = ['ws://one:4100/bridge', 'ws://other:4100/bridge']

interface Frame {
  readonly type: string
  readonly agents?: readonly object[]
  readonly gone?: readonly string[]
  readonly result?: object
}

/** Lists over two workers, what they were asked and what the client was sent. */
function lists({
  isWithin = (): boolean => true,
}: { isWithin?: (agent: { readonly agentId: string }) => boolean } = {}) {
  const sent: Frame[] = []
  const asked: { readonly url: string; readonly type: string; readonly id: string; readonly after?: string }[] = []
  const clock = simulatedClock()
  const fleet = new FleetLists({
    workers: async () => [one, other],
    clock,
    ask(url, frame) {
      const id = `q${asked.length}`
      asked.push({ url, ...(frame as { type: string }), id })
      return id
    },
    send: (frame) => void sent.push(frame as Frame),
    isNamed: true,
    isWithin,
  })
  return { fleet, sent, asked, clock }
}

const a1 = (seq: number) => ({ agentId: 'a1', seq, path: [] })
const news = (agents: readonly object[], gone: readonly string[] = []) => ({ type: 'agents', agents, gone })
/** Lets what is promised come. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
}

describe('the lists of a gateway, of an agent that one worker still has as it was before another took it', (it) => {
  it('tell a watcher of the one that wrote last, in whatever order the two speak', async () => {
    const { fleet, sent } = lists()
    fleet.take({ type: 'agent.watch', id: 'c1' })
    await settled()
    sent.length = 0
    fleet.heard(one, news([a1(12)]))
    fleet.heard(other, news([a1(20)]))
    fleet.heard(one, news([a1(12)]))
    fleet.heard(one, news([], ['a1']))
    fleet.heard(other, news([a1(21)]))
    fleet.heard(other, news([], ['a1']))
    assert.equal(
      sent.map(({ agents, gone }) => [agents, gone]),
      [
        [[{ ...a1(12), worker: 'one:4100' }], []],
        [[{ ...a1(20), worker: 'other:4100' }], []],
        [[{ ...a1(21), worker: 'other:4100' }], []],
        [[], ['a1']],
      ],
    )
    fleet.close()
  })

  it('have it once, as the one that wrote last has it', async () => {
    for (const order of [
      [one, other],
      [other, one],
    ]) {
      const { fleet, sent, asked } = lists()
      fleet.take({ type: 'agent.list', id: 'c1' })
      await settled()
      for (const url of order) {
        const { id } = asked.find((question) => question.url === url)!
        fleet.answered({ type: 'ok', id, result: { agents: [a1(url === one ? 12 : 20)], total: 1 } })
        await settled()
      }
      assert.equal(sent, [
        { type: 'ok', id: 'c1', result: { agents: [{ ...a1(20), worker: 'other:4100' }], total: 1 } },
      ] as never)
      fleet.close()
    }
  })
})

describe('the lists of a gateway', (it) => {
  it('are read from each worker page by page, to their end', async () => {
    const { fleet, sent, asked } = lists()
    const page = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => ({ agentId: `a${10_000 + from + at}`, seq: 1, path: [] }))
    fleet.take({ type: 'agent.list', id: 'c1', limit: 2 })
    await settled()
    const answer = async (at: number, agents: readonly object[]): Promise<void> => {
      fleet.answered({ type: 'ok', id: asked[at]!.id, result: { agents, total: pageSize + 1 } })
      await settled()
    }
    await answer(0, page(0, pageSize))
    await answer(1, [])
    assert.equal(
      asked.map(({ url, after }) => [url, after]),
      [
        [one, undefined],
        [other, undefined],
        [one, `a${10_000 + pageSize - 1}`],
      ],
    )
    assert.equal(sent, [])
    await answer(2, page(pageSize, 1))
    const { agents, total } = sent[0]!.result as { agents: { agentId: string }[]; total: number }
    assert.equal([agents.map(({ agentId }) => agentId), total], [['a10000', 'a10001'], pageSize + 1])
    fleet.close()
  })

  it('have nothing of a worker that does not answer within five seconds, or of any once the client has left', async () => {
    const { fleet, sent, asked, clock } = lists()
    fleet.take({ type: 'agent.list', id: 'c1' })
    await settled()
    fleet.answered({ type: 'ok', id: asked[0]!.id, result: { agents: [a1(1)], total: 1 } })
    await clock.advance(4_999)
    await settled()
    assert.equal(sent, [])
    await clock.advance(1)
    await settled()
    assert.is((sent[0]!.result as { total: number }).total, 1)
    assert.is(clock.pending, 0)
    fleet.take({ type: 'agent.list', id: 'c2' })
    await settled()
    const count = asked.length
    fleet.close()
    await settled()
    assert.equal([clock.pending, asked.length], [0, count])
    fleet.take({ type: 'agent.list', id: 'c3' })
    await settled()
    assert.is(asked.length, count)
  })

  it('are watched anew, on each worker once, and no more at the end', async () => {
    const { fleet, asked, sent, clock } = lists()
    const asks = (type: string) => asked.filter((question) => question.type === type).length
    fleet.take({ type: 'agent.watch', id: 'c1' })
    await settled()
    assert.equal([asks('agent.watch'), sent.map(({ type }) => type)], [2, ['agents', 'ok']])
    await clock.advance(1_000)
    await settled()
    assert.is(asks('agent.watch'), 2)
    fleet.heard(one, news([a1(1)]))
    assert.equal([...(await fleet.running())], ['a1'])
    sent.length = 0
    fleet.lost(one)
    fleet.lost(one)
    assert.equal(
      sent.map(({ agents, gone }) => [agents, gone]),
      [[[], ['a1']]],
    )
    fleet.heard(one, news([a1(2)]))
    assert.is(sent.length, 1)
    await clock.advance(1_000)
    await settled()
    assert.is(asks('agent.watch'), 3)
    fleet.take({ type: 'agent.unwatch', id: 'c2' })
    assert.equal([asks('agent.unwatch'), clock.pending], [2, 0])
    fleet.heard(other, news([a1(3)]))
    assert.is(sent.filter(({ type }) => type === 'agents').length, 1)
    fleet.close()
  })

  it('tell nothing of what is out of reach, of a worker that nobody watches, or where nothing changes', async () => {
    const { fleet, sent } = lists({ isWithin: ({ agentId }) => agentId !== 'hidden' })
    const hidden = { agentId: 'hidden', seq: 1, path: [] }
    fleet.heard(one, news([a1(1)]))
    assert.equal(sent, [])
    fleet.take({ type: 'agent.watch', id: 'c1' })
    await settled()
    sent.length = 0
    fleet.heard('ws://stranger:1/bridge', news([a1(1)]))
    fleet.heard(one, news([hidden], ['hidden', 'a1']))
    fleet.heard(one, news([]))
    assert.equal(sent, [])
    fleet.heard(one, news([hidden, a1(1)]))
    fleet.heard(one, news([a1(1)]))
    // The other one says that it has it no more, which it had never.
    fleet.heard(other, news([], ['a1']))
    assert.equal(
      sent.map(({ agents }) => agents),
      [[{ ...a1(1), worker: 'one:4100' }], [{ ...a1(1), worker: 'one:4100' }]],
    )
    sent.length = 0
    fleet.lost(other)
    assert.equal(sent, [], 'none of its agents was told')
    fleet.heard(one, news([], ['a1']))
    fleet.heard(one, news([], ['a1']))
    assert.is(sent.length, 1)
    fleet.heard(other, news([a1(1)]))
    assert.is(sent.length, 1, 'it is lost')
    fleet.take({ type: 'agent.list', id: 'c2' })
    fleet.close()
    await settled()
    assert.equal([...(await fleet.running())], [])
  })

  it('begin anew for who watches again, whatever of before is still looked up', async () => {
    const { fleet, asked, sent, clock } = lists()
    const asks = (type: string) => asked.filter((question) => question.type === type).length
    fleet.take({ type: 'agent.watch', id: 'c1' })
    fleet.take({ type: 'agent.watch', id: 'c2' })
    await settled()
    assert.equal([asks('agent.watch'), clock.pending], [2, 1])
    fleet.heard(one, news([a1(1)]))
    fleet.take({ type: 'agent.watch', id: 'c3' })
    await settled()
    assert.equal([asks('agent.unwatch'), asks('agent.watch'), clock.pending], [2, 4, 1])
    assert.equal([...(await fleet.running())], [], 'what was told before is told again')
    sent.length = 0
    fleet.heard(one, news([a1(1)]))
    assert.is(sent.length, 1)
    fleet.take({ type: 'agent.unwatch', id: 'c4' })
    await clock.advance(5_000)
    assert.equal([asks('agent.watch'), clock.pending], [4, 0])
  })

  it('go on after one of them, and are refused after none of them', async () => {
    for (const [after, expected] of [
      [undefined, ['a1', 'a2']],
      ['a1', ['a2', 'a3']],
      ['a3', []],
      ['x', undefined],
    ] as const) {
      const { fleet, sent, asked, clock } = lists()
      fleet.take({ type: 'agent.list', id: 'c1', limit: 2, ...(after === undefined ? {} : { after }) })
      await settled()
      const agents = ['a1', 'a2', 'a3'].map((agentId) => ({ agentId, seq: 1, path: [] }))
      fleet.answered({ type: 'ok', id: asked[0]!.id, result: { agents, total: 3 } })
      fleet.answered({ type: 'error', id: asked[1]!.id, code: 'INTERNAL', message: 'no' })
      await settled()
      const [{ type, result, code }] = sent as unknown as [
        { type: string; code?: string; result?: { agents: { agentId: string }[]; total: number } },
      ]
      if (expected === undefined) assert.equal([type, code], ['error', 'INVALID_OPTION'])
      else assert.equal([result?.agents.map(({ agentId }) => agentId), result?.total], [expected, 3])
      assert.equal([clock.pending, fleet.answered({ type: 'ok', id: asked[0]!.id })], [0, false])
      fleet.close()
    }
  })

  it('are read from one worker for half a minute at most', async () => {
    const { fleet, sent, asked, clock } = lists()
    fleet.take({ type: 'agent.list', id: 'c1' })
    await settled()
    fleet.answered({ type: 'ok', id: asked[1]!.id, result: { agents: [], total: 0 } })
    let pages = 0
    for (; sent.length === 0 && pages < 20; pages += 1) {
      await clock.advance(4_000)
      const agents = Array.from({ length: pageSize }, (_, at) => ({
        agentId: `a${pages * pageSize + at}`,
        seq: 1,
        path: [],
      }))
      fleet.answered({ type: 'ok', id: asked.at(-1)!.id, result: { agents, total: 0 } })
      if (pages === 0) fleet.answered({ type: 'ok', id: asked[0]!.id, result: { agents, total: 0 } })
      await settled()
    }
    assert.is(pages, 8)
    fleet.close()
  })
})
