import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { commandTable } from '../../src/server/commandTable.ts'

const forbidden = (): never => {
  throw new RuntimeError('BRIDGE_FORBIDDEN', 'not you')
}
const run = (type: 'agent.subscribe' | 'agent.decide', client: object, frame: object): Promise<unknown> =>
  Promise.resolve(commandTable[type].run(client as never, { type, id: 'x', agentId: 'a', ...frame } as never, 'r1'))

describe('a subscription', (it) => {
  /** A server with one feed, and what was done to it. */
  function served(access: object) {
    const done: string[] = []
    const bridge = {
      feedOf: async () => (done.push('opened'), { lastSeq: 3 }),
      releaseFeed: (id: string) => done.push(`released ${id}`),
    }
    const subscriptions = { subscribe: () => done.push('subscribed') }
    return { done, client: { bridge, subscriptions, access } }
  }

  it('to the requests of an agent is for who sees all, and nothing is opened for others', async () => {
    const rights: unknown[] = []
    const must = (right: unknown): never => {
      rights.push(right)
      return forbidden()
    }
    const { done, client } = served({ must, viewOf: async () => 'messages' })
    await assert.rejects(run('agent.subscribe', client, { requests: true }), withCode('BRIDGE_FORBIDDEN'))
    assert.equal([rights, done], [['see.all'], []])
    assert.equal(await run('agent.subscribe', client, {}), { seq: 3 })
    assert.equal(done, ['opened', 'subscribed'])
  })

  it('of a client of which it cannot be said what it may see leaves no feed open', async () => {
    const { done, client } = served({ viewOf: async () => forbidden() })
    await assert.rejects(run('agent.subscribe', client, {}), withCode('BRIDGE_FORBIDDEN'))
    assert.equal(done, ['opened', 'released a'])
  })
})

describe('a decision', (it) => {
  it('is asked about again once its agent is awake, as by then something else may wait under its name', async () => {
    const dispatched: string[] = []
    let isStillTheirs = true
    const agent = {
      wasAsked: async () => false,
      durable: async () => {},
      dispatch: () => void dispatched.push('decided'),
    }
    const client = {
      bridge: { decisions: { wasDecided: async () => false } },
      access: {
        mayDecide: async () => {},
        find: () => undefined,
        agent: async () => agent,
        mustDecide: () => isStillTheirs || forbidden(),
        checkAdmitted: () => {},
      },
    }
    await run('agent.decide', client, { callId: 'c', decision: 'approve' })
    assert.equal(dispatched, ['decided'])
    isStillTheirs = false
    const late = run('agent.decide', client, { callId: 'c', decision: 'approve' })
    await assert.rejects(late, withCode('BRIDGE_FORBIDDEN'))
    assert.equal(dispatched, ['decided'])
  })
})
