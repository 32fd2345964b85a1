import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { calls, gate, quiet, tool, withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Heard, serveAgents } from './bridgeHarness.ts'

describe('an abort from afar', (it) => {
  it('ends calls in the background, or leaves them', async (context) => {
    let isAborted = false
    const build = tool(
      'build',
      (_, { signal }) => {
        signal.addEventListener('abort', () => (isAborted = true))
        return gate<string>().promise
      },
      { background: true },
    )
    const model = scriptedModel([calls('c', 'build'), 'meanwhile'])
    const { connect } = await serveAgents(context, [defineAgent({ name: 'tester', model, tools: [build] })])
    const agent = await connect().spawn('tester', { id: 'a1' })
    const heard = new Heard()
    agent.subscribe(heard.listen)
    await agent.prompt('go').result
    await agent.abort({ background: false })
    await agent.abort({ background: 'run' })
    await quiet()
    assert.is(isAborted, false, 'at rest there is no run whose calls would end')
    await assert.rejects(() => agent.abort({ background: 'all' as never }), withCode('INVALID_OPTION'))
    await agent.abort()
    const report = await heard.until(({ type }) => type === 'call.reported')
    assert.is(report.type === 'call.reported' && report.ended, 'aborted')
    assert.is(isAborted, true)
  })
})
