import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, gate, quiet, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { idleAgents, idleMs } from './idleAgents.ts'

describe('an idle agent with a call in the background', (it) => {
  it('stays loaded until the call has reported', async (context) => {
    const { clock, runtime } = await idleAgents(context)
    const building = gate()
    const build = tool('build', async () => (await building.promise, 'built'), { background: true })
    const model = scriptedModel([calls('c', 'build'), 'meanwhile', 'heard'])
    const agent = await runtime.spawn(defineAgent({ name: 'builder', model, tools: [build] }), { id: 'b' })
    await agent.prompt('go').result
    await clock.advance(2 * idleMs)
    await quiet()
    assert.is(agent.isLoaded, true)
    building.resolve()
    while (agent.conversation.log().length < 6) await quiet()
    await agent.settled()
    await clock.advance(idleMs)
    await quiet()
    assert.is(agent.isLoaded, false)
  })
})
