import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { WebSocketConstructor } from '../../src/client/connectOptions.ts'
import type { Grant } from '../../src/server/roles.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { serveAgents, untilStatus } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })

/** Sockets that bring cookies, as those of a page do. */
const cookied = (cookie: string): WebSocketConstructor =>
  class extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols, { headers: { cookie } })
    }
  }

describe('a server whose clients have no tokens', (it) => {
  /** Grants an application may give two users; no part of them tells the two apart. */
  const alike: { readonly [what: string]: (user: string) => Grant } = {
    'the role alone': () => ({ role: 'admin' }),
    'ids of agents': () => ({ role: 'admin', agents: ['ann-1', 'bob-1'] }),
    'a function that chooses agents': (user) => ({ role: 'admin', agents: ({ id }) => id.startsWith(user) }),
    'metadata that both have': () => ({ role: 'admin', metadata: { tenant: 'acme' } }),
  }
  for (const [what, grantOf] of Object.entries(alike))
    it(`keeps sessions apart of users of whom it knows no more than ${what}`, async (context) => {
      const authenticate = ({ headers }: IncomingMessage): Grant => grantOf(headers.cookie ?? '')
      const serving = await serveAgents(context, [echo], { authenticate })
      const ann = await serving.dial({ hello: { sessionId: 'tab' }, headers: { cookie: 'ann' } })
      await ann.until(({ type }) => type === 'welcome')
      assert.is((await ann.ask({ type: 'agent.spawn', definition: 'echo', agentId: 'ann-1', id: '1' })).type, 'ok')
      const bob = await serving.dial({ hello: { sessionId: 'tab' }, headers: { cookie: 'bob' } })
      assert.is((await bob.closed).code, 4001)
      assert.equal(
        bob.frames.map((frame) => frame.type === 'error' && frame.code),
        ['BRIDGE_SESSION'],
      )
      // A client of ours has a key of its own, and comes back by it.
      const client = serving.connect({ webSocket: cookied('ann') })
      const reconnecting = untilStatus(client, 'reconnecting')
      const agent = client.agent('ann-1')
      assert.is((await agent.prompt('go').result).text, 'yes')
      await serving.server.close()
      await reconnecting
      const next = await serving.runtime.serve({ definitions: [echo], authenticate, port: serving.server.port })
      context.cleanup(() => next.close())
      assert.is((await agent.prompt('again').result).text, 'yes')
      for await (const record of serving.store.read('ann-1'))
        if (record.type === 'run.start') assert.match(record.requestId, /^[0-9a-f]{32}\/c\d+$/)
    })

  it('names the owner of a session, who comes back to it with other cookies', async (context) => {
    const authenticate = ({ headers }: IncomingMessage): Grant => ({
      role: 'admin',
      owner: headers.cookie!.split('-')[0]!,
      agents: () => true,
    })
    const serving = await serveAgents(context, [echo], { authenticate })
    const enter = async (cookie: string): Promise<string> => {
      const bare = await serving.dial({ hello: { sessionId: 'tab' }, headers: { cookie } })
      const first = await bare.until(({ type }) => type === 'welcome' || type === 'error')
      return first.type
    }
    assert.equal([await enter('ann-1'), await enter('bob-1'), await enter('ann-2')], ['welcome', 'error', 'welcome'])
  })

  it('has a session that is a connection’s own end with it, and with it what only its client could see', async (context) => {
    const authenticate = (): Grant => ({ role: 'admin' })
    const serving = await serveAgents(context, [echo], { authenticate })
    const first = await serving.dial({ hello: { sessionId: 'tab' } })
    await first.until(({ type }) => type === 'welcome')
    await first.ask({ type: 'agent.spawn', definition: 'echo', agentId: 'secret', incognito: true, id: '1' })
    assert.ok(serving.runtime.agent('secret'))
    first.socket.close()
    await first.closed
    const isGone = (): boolean => serving.runtime.agent('secret') === undefined
    while (!isGone()) await new Promise((later) => setImmediate(later))
    const next = await serving.dial({ hello: { sessionId: 'tab' } })
    assert.is((await next.until(({ type }) => type === 'welcome' || type === 'error')).type, 'welcome')
  })
})
