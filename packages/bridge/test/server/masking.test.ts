import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { calls, tool, withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Heard, serveAgents } from './bridgeHarness.ts'

describe('a mask asked for from afar', (it) => {
  it('takes the results of steps out of the next request, and says which steps are masked', async (context) => {
    const model = scriptedModel([calls('c', 'look'), calls('d', 'look'), 'done', 'more'])
    const look = tool('look', () => 'seen '.repeat(50), { effects: 'none' })
    const braking = { recall: true, revert: true }
    const { connect } = await serveAgents(context, [defineAgent({ name: 'tester', model, tools: [look], braking })])
    const agent = await connect().spawn('tester', { id: 'a1' })
    const heard = new Heard()
    agent.subscribe(heard.listen)
    await agent.prompt('go').result
    await agent.prune({ steps: ['n3'], mask: true })
    const masked = await heard.until(({ type }) => type === 'prune.applied')
    assert.equal(masked.type === 'prune.applied' && [masked.applied, masked.masked, masked.steps], [true, true, [2]])
    assert.equal((await agent.conversation()).masks, [2])
    await agent.prompt('and now?').result
    const results = model.requests.at(-1)!.messages.filter(({ role }) => role === 'toolResult')
    assert.equal(
      results.map(({ content }) => textOf(content).split('\n')[0]),
      ['[output hidden: 250 characters; recall n3 brings it back]', 'seen '.repeat(50)],
    )
    await agent.prune({ tokens: 1, mask: true })
    await heard.until((event) => event.type === 'prune.applied' && event.steps[0] === 4)
    await agent.prune({ tokens: 1, mask: true })
    const refused = await heard.until((event) => event.type === 'prune.applied' && !event.applied)
    assert.match(refused.type === 'prune.applied' ? (refused.reason ?? '') : '', /^mask refused: there is no step/)
    await agent.prune({ steps: ['n3', 'n5'], show: true })
    const shown = await heard.until((event) => event.type === 'prune.applied' && event.shown === true)
    assert.equal(shown.type === 'prune.applied' && [shown.applied, shown.masked, shown.steps], [
      true,
      undefined,
      [2, 4],
    ])
    assert.equal((await agent.conversation()).masks, [])
    for (const wrong of [{ show: true }, { tokens: 1, show: true }, { steps: ['n3'], show: true, mask: true }])
      await assert.rejects(() => agent.prune(wrong as object), withCode('INVALID_OPTION'))
    for (const wrong of [{ mask: true }, { tokens: 1, mask: true, memo: 'm' }, { tokens: 1, mask: false }])
      await assert.rejects(() => agent.prune(wrong as object), withCode('INVALID_OPTION'))
  })
})
