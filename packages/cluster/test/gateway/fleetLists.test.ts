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
function lists() {
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
    isWithin: () => true,
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
})
