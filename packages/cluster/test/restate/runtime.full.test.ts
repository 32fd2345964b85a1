import { z } from 'zod'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { restateRuntime } from '../../../../src/restate.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { tool, withCode } from '../../../../test/support/agentHarness.ts'
import { assert } from '../../../../test/support/suite.ts'
import { describeWithEngine } from './withEngine.ts'

describeWithEngine('a runtime whose agents an engine places', (it) => {
  it('spawns, opens and resumes agents in the words of the other one', async ({
    worker,
    engine,
    name,
    store,
    cleanup,
  }) => {
    const output = z.object({ stars: z.number() })
    const model = scriptedModel([{ text: '{"stars":3}' }, { text: '{"stars":4}' }, { text: '{"stars":5}' }])
    const critic = defineAgent({ name: 'critic', model, output })
    await worker([critic])
    const runtime = await restateRuntime({ ingress: engine.ingress, store: store(), name, pollMs: 20 })
    cleanup(() => runtime.close())
    const history = [
      { role: 'user', content: 'Hello.' },
      { role: 'assistant', content: 'Good day.' },
    ] as const
    const agent = await runtime.spawn(critic, { id: 'a1', metadata: { userId: 'u1' }, history })
    const result = await agent.prompt('Rate it.').result
    assert.ok(result.stopReason === 'stop')
    assert.is(result.output.stars, 3)
    assert.is((await agent.conversation()).nodes.length, 4)
    const again = await runtime.resume('a1', critic)
    assert.equal((await again.prompt('Rate it again.').result).output, { stars: 4 })
    assert.equal((await (await runtime.open('a2', critic)).prompt('Rate that.').result).output, { stars: 5 })
    assert.equal(
      (await runtime.agents()).map(({ id }) => id),
      ['a1', 'a2'],
    )
    assert.is(runtime.agent('a1'), again)
  })

  it('goes on with a run that has failed, once, with what was done before', async ({
    worker,
    engine,
    name,
    store,
    cleanup,
  }) => {
    let sent = 0
    const send = tool('send', () => `sent ${(sent += 1)}`, { effects: 'irreversible' })
    let asked = 0
    const model = policyModel(({ messages }) => {
      if (messages.at(-1)?.role !== 'toolResult') return { toolCalls: [{ name: 'send', input: {} }] }
      asked += 1
      if (asked === 1) throw new Error('the provider refuses this request')
      return 'All sent.'
    })
    const clerk = defineAgent({ name: 'clerk', model, tools: [send], retry: { attempts: 1 } })
    await worker([clerk])
    const runtime = await restateRuntime({ ingress: engine.ingress, store: store(), name, pollMs: 20 })
    cleanup(() => runtime.close())
    const agent = await runtime.spawn(clerk, { id: 'a1' })
    assert.is((await agent.prompt('Send it.').result).stopReason, 'error')
    const result = await agent.resume().result
    assert.equal([result.stopReason, result.text, sent, asked], ['stop', 'All sent.', 1, 2])
    const { nodes } = await agent.conversation()
    assert.equal(
      nodes.map(({ message }) => message.role),
      ['user', 'assistant', 'toolResult', 'assistant'],
    )
  })

  it('refuses what cannot go through an engine', async ({ worker, engine, name, store, cleanup }) => {
    const critic = defineAgent({ name: 'critic', model: scriptedModel([]) })
    await worker([critic])
    const runtime = await restateRuntime({ ingress: engine.ingress, store: store(), name })
    cleanup(() => runtime.close())
    const unsupported = withCode('ENGINE_UNSUPPORTED')
    const given = { deps: {} } as object
    await assert.rejects(() => runtime.spawn(critic, given), unsupported)
    await assert.rejects(() => runtime.spawn(critic, { incognito: true } as object), unsupported)
    await assert.rejects(() => runtime.detach('a1'), unsupported)
    await assert.rejects(() => runtime.serve(), unsupported)
    assert.throws(() => runtime.onAgent(() => {}), unsupported)
    await assert.rejects(() => runtime.resume('a1', critic), withCode('AGENT_NOT_FOUND'))
    await assert.rejects(() => runtime.client.sessions({ running: true }), unsupported)
    await assert.rejects(() => runtime.client.spawn('critic', { incognito: true }), unsupported)
  })
})
