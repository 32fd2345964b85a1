import { FleetLists } from '../../../src/server/gateway/fleetLists.ts'
import { simulatedClock } from '../../../src/testing/simulatedClock.ts'
import { assert, describe } from '../../support/suite.ts'

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
  const asked: { readonly url: string; readonly type: string; readonly id: string }[] = []
  const fleet = new FleetLists({
    workers: async () => [one, other],
    clock: simulatedClock(),
    ask(url, frame) {
      const id = `q${asked.length}`
      asked.push({ url, ...(frame as { type: string }), id })
      return id
    },
    send: (frame) => void sent.push(frame as Frame),
    isNamed: true,
    isWithin: () => true,
  })
  return { fleet, sent, asked }
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
    fleet.heard(other, news([], ['a1']))
    assert.equal(
      sent.map(({ agents, gone }) => [agents, gone]),
      [
        [[{ ...a1(12), worker: 'one:4100' }], []],
        [[{ ...a1(20), worker: 'other:4100' }], []],
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
