import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { calls } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Heard, serveAgents } from './bridgeHarness.ts'

const model = (replies: Parameters<typeof scriptedModel>[0]) => scriptedModel(replies)

describe('from afar', (it) => {
  it('a handoff stays in the agent that is followed, and its snapshot says who answers', async (context) => {
    const billing = defineAgent({ name: 'billing', model: model(['paid', 'again']) })
    const triage = defineAgent({
      name: 'triage',
      model: model([calls('t', 'transfer_to_billing')]),
      handoffs: [billing],
    })
    const { connect } = await serveAgents(context, [triage])
    const agent = await connect().spawn('triage', { id: 'a1' })
    const heard = new Heard()
    agent.subscribe(heard.listen)
    assert.is((await agent.snapshot()).active, undefined)
    assert.is((await agent.prompt('go').result).text, 'paid')
    const ended = await heard.until((event) => event.type === 'tool.end' && event.handoff === 'billing')
    assert.is(ended.agentId, 'a1')
    const { active, definition } = await agent.snapshot()
    assert.equal([active, definition], ['billing', 'triage'])
    assert.is((await agent.prompt('go').result).text, 'again')
  })

  it('a report is heard where its caller is followed', async (context) => {
    const helper = defineAgent({ name: 'helper', model: model(['four']) })
    const replies = [calls('c', ['helper', { task: 'look' }]), 'begun', 'heard']
    const agents = [{ definition: helper, detach: 'report' as const }]
    const caller = defineAgent({ name: 'caller', model: model(replies), agents })
    const { connect } = await serveAgents(context, [caller, helper])
    const agent = await connect().spawn('caller', { id: 'a1' })
    const heard = new Heard()
    agent.subscribe(heard.listen)
    await agent.prompt('go').result
    const said = await heard.until(
      (event) => event.type === 'message.added' && event.message.provenance?.type === 'report',
    )
    assert.ok(said.type === 'message.added' && textOf(said.message.content).endsWith('four'))
  })
})
