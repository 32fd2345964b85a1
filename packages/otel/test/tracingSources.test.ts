import { deferred } from '../../../src/actors/parts/deferred/deferred.ts'
import { calls, tool } from '../../../test/support/agentHarness.ts'
import { scriptedSource } from '../../../test/support/scriptedSource.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { startTraced, startTracing } from './tracingProbe.ts'

describe('spans of an agent with tools of a source', (it) => {
  it('say which source a tool is of, and what was new in a turn', async (test) => {
    const { tracer, span, spans } = startTracing(test)
    const server = scriptedSource('srv', [tool('look', () => 'seen')])
    const { agent } = await startTraced(test, { tracer, tools: [server], replies: [calls('c', 'look'), 'done'] })
    await agent.prompt('go').result
    assert.is(span('execute_tool look').attributes['escapement.tool.source'], 'srv')
    const [first, second] = spans().filter(({ name }) => name === 'turn')
    assert.equal(first!.attributes['escapement.turn.tools_added'], ['look'])
    assert.equal(
      first!.events.map(({ name, attributes }) => [name, attributes?.['escapement.source.state']]),
      [['source.status', 'up']],
    )
    assert.is(second!.attributes['escapement.turn.tools_added'], undefined)
    assert.equal(second!.events, [])
  })

  it('name the tool that is called where no request lists it, and its arguments', async (test) => {
    const { tracer, span, paths } = startTracing(test, { content: true })
    const server = scriptedSource('srv', [tool('look', () => 'seen')])
    const { agent } = await startTraced(test, {
      tracer,
      tools: [deferred([server])],
      replies: [calls('c', ['call_tool', { name: 'look', input: { at: 1 } }]), 'done'],
    })
    await agent.prompt('go').result
    const { attributes } = span('execute_tool look')
    assert.equal([attributes['gen_ai.tool.call.arguments'], attributes['escapement.tool.source']], ['{"at":1}', 'srv'])
    assert.not.ok(paths().some((path) => path.includes('call_tool')))
  })
})
