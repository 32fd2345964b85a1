import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { lastingStore, serveAgents } from './bridgeHarness.ts'

const counter = defineAgent({
  name: 'counter',
  model: policyModel(({ messages }) => `heard ${messages.filter(({ role }) => role === 'user').length}`),
})
const tokens = {
  'admin-token-0123456789': 'admin',
  'drive-token-0123456789': 'drive',
  'other-token-0123456789': { role: 'admin', agents: ['a1'] },
  'owner-token-0123456789': { role: 'admin', metadata: { tenant: 't1' } },
  'guest-token-0123456789': { role: 'admin', metadata: { tenant: 't2' } },
} as const
const [admin, drive, other, owner, guest] = Object.keys(tokens) as [string, string, string, string, string]

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (thrown: unknown) => (thrown as { readonly code: string }).code,
  )

describe('a fork that a client asks for', (it) => {
  it('shares the past up to a node, goes on by itself and leaves its source as it was', async (context) => {
    const { runtime, connect } = await serveAgents(context, [counter], { tokens })
    const agent = await runtime.spawn(counter, { id: 'a1', metadata: { tenant: 't1' } })
    await agent.prompt('one').result
    await agent.prompt('two').result
    const client = connect({ token: admin })
    const { agentId } = await client.agent('a1').fork('n2')
    assert.match(agentId, /^counter-[0-9a-f]{16}$/)
    const fork = client.agent(agentId)
    assert.is((await fork.conversation()).nodes.length, 2)
    const { text } = await fork.prompt('another two').result
    assert.is(text, 'heard 2')
    assert.is((await fork.conversation()).nodes.length, 4)
    assert.is(agent.conversation.trunk().length, 4)
    const { sessions } = await client.sessions()
    const entry = sessions.find((session) => session.agentId === agentId)
    assert.equal(entry?.forkedFrom, 'a1')
    assert.equal(entry?.metadata, { tenant: 't1' })
  })

  it('is made once, however often the same request comes', async (context) => {
    const store = lastingStore()
    const ids: unknown[] = []
    for (let time = 0; time < 2; time++) {
      // The second time at another server, which has answered nothing.
      const { runtime, dial, connect } = await serveAgents(context, [counter], { runtime: { store } })
      if (time === 0) await (await runtime.spawn(counter, { id: 'a1' })).prompt('one').result
      for (let again = 0; again < 2; again++) {
        const bare = await dial({ hello: { sessionId: 's1' } })
        const answer = await bare.ask({ type: 'agent.fork', id: '1', agentId: 'a1', at: 'n1' })
        ids.push(answer.type === 'ok' ? (answer.result as { readonly agentId: string }).agentId : answer.message)
        bare.socket.close()
      }
      assert.is((await connect().sessions()).total, 2)
      await runtime.close()
    }
    assert.match(String(ids[0]), /^counter-/)
    assert.is(new Set(ids).size, 1)
  })

  it('needs the right to start agents, one within reach, a node that is there, and a log', async (context) => {
    const { runtime, connect } = await serveAgents(context, [counter], { tokens })
    await (await runtime.spawn(counter, { id: 'a1' })).prompt('one').result
    await (await runtime.spawn(counter, { id: 'a2' })).prompt('one').result
    assert.is(await codeOf(connect({ token: drive }).agent('a1').fork('n1')), 'BRIDGE_FORBIDDEN')
    const narrow = connect({ token: other })
    assert.is(await codeOf(narrow.agent('a2').fork('n1')), 'BRIDGE_FORBIDDEN')
    // It could not see what it made.
    assert.is(await codeOf(narrow.agent('a1').fork('n1')), 'BRIDGE_FORBIDDEN')
    const client = connect({ token: admin })
    assert.is(await codeOf(client.agent('a1').fork('n9')), 'NODE_NOT_FOUND')
    assert.is(await codeOf(client.agent('a1').fork('nothing')), 'NODE_NOT_FOUND')
    assert.is(await codeOf(client.agent('nobody').fork('n1')), 'AGENT_NOT_FOUND')
    const hidden = await client.spawn('counter', { incognito: true })
    assert.is(await codeOf(hidden.fork('n1')), 'AGENT_INCOGNITO')
    const { sessions } = await client.sessions()
    assert.equal(sessions.map(({ agentId }) => agentId).toSorted(), ['a1', 'a2'])
  })

  it('is listed as a fork of its source, running or not, to who may see it', async (context) => {
    const { runtime, connect } = await serveAgents(context, [counter], { tokens })
    for (const id of ['a1', 'a2']) await (await runtime.spawn(counter, { id })).prompt('one').result
    const client = connect({ token: admin })
    assert.equal((await client.sessions({ forkedFrom: 'a1' })).sessions, [])
    const first = await client.agent('a1').fork('n1')
    const second = await client.agent('a1').fork('n2')
    await client.agent('a2').fork('n1')
    await client.agent(second.agentId).prompt('two').result
    const { sessions, total } = await client.sessions({ forkedFrom: 'a1' })
    assert.equal(sessions.map(({ agentId }) => agentId).toSorted(), [first.agentId, second.agentId].toSorted())
    assert.is(total, 2)
    assert.equal(
      (await client.sessions({ forkedFrom: 'a1', running: true })).sessions.map(({ agentId }) => agentId),
      [second.agentId],
    )
    const narrow = connect({ token: other })
    assert.is((await narrow.sessions({ forkedFrom: 'a1' })).total, 0)
    assert.is(await codeOf(narrow.sessions({ forkedFrom: 'a2' })), 'BRIDGE_FORBIDDEN')
  })

  it('is made by who reaches its source by metadata, which it has too, and by nobody else', async (context) => {
    const { runtime, connect } = await serveAgents(context, [counter], { tokens })
    const agent = await runtime.spawn(counter, { id: 'a1', metadata: { tenant: 't1' } })
    await agent.prompt('one').result
    const client = connect({ token: owner })
    const { agentId } = await client.agent('a1').fork('n2')
    assert.equal(
      (await client.sessions({ metadata: { tenant: 't1' } })).sessions.map((one) => one.agentId).toSorted(),
      ['a1', agentId].toSorted(),
    )
    assert.is(await codeOf(connect({ token: guest }).agent('a1').fork('n2')), 'AGENT_NOT_FOUND')
  })
})
