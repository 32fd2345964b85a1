import { acp } from '../../../../src/acp.ts'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { aiSdkChat } from '../../../../src/aiSdk.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { serveAgents } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'said it') })

describe('an agent that was unloaded', (it) => {
  it('is shown as it is, and is not loaded for it', async (context) => {
    const clock = simulatedClock()
    const tokens = { 'the-token-of-an-admin': 'admin' } as const
    const options = { tokens, endpoints: [acp(), aiSdkChat()], runtime: { clock, idleUnloadMs: 1_000 } }
    const { runtime, server, dial } = await serveAgents(context, [echo], options)
    const agent = await runtime.spawn(echo, { id: 'a1' })
    await agent.prompt('go').result
    while (agent.isLoaded) {
      void clock.advance(1_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const client = await dial({ hello: { token: 'the-token-of-an-admin' } })
    const snapshot = await client.ask({ type: 'agent.snapshot', agentId: 'a1' })
    assert.ok(snapshot.type === 'ok')
    const { state, seq, head } = snapshot.result as Record<string, unknown>
    assert.equal([state, seq, head], ['idle', agent.lastSeq, 2])
    assert.match(
      JSON.stringify(await client.ask({ type: 'agent.conversation', agentId: 'a1', view: 'log' })),
      'said it',
    )
    for (const type of ['agent.share', 'agent.past', 'agent.subscribe']) {
      assert.is((await client.ask({ type, agentId: 'a1' })).type, 'ok', type)
    }
    const headers = { authorization: 'Bearer the-token-of-an-admin' }
    for (const path of ['/api/chat/a1', '/api/chat/a1/stream', '/agents/a1/chart.json'])
      await (await fetch(`http://127.0.0.1:${server.port}${path}`, { headers })).text()
    assert.is(agent.isLoaded, false)
  })

  it('was not kept by a subscription to it that was refused', async (context) => {
    const clock = simulatedClock()
    const { runtime, dial } = await serveAgents(context, [echo], { runtime: { clock, idleUnloadMs: 1_000 } })
    const agent = await runtime.spawn(echo, { id: 'a1' })
    await agent.prompt('go').result
    const client = await dial({ hello: {} })
    assert.is((await client.ask({ type: 'agent.subscribe', agentId: 'a1', fromSeq: 1_000 })).type, 'error')
    while (agent.isLoaded) {
      void clock.advance(1_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
  })
})
