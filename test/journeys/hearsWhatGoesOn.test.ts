import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../src/actors/models/policyModel.ts'
import { startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { recordsOf, runtimeOver } from './cutLogs.ts'

describe('an agent that goes on as it is opened', (it) => {
  it('is heard from the first word by whoever listens at once, whatever its model', async (context) => {
    const model = policyModel(({ messages }) =>
      messages.at(-1)?.role === 'toolResult' ? 'one two three' : { toolCalls: [{ name: 'look', input: {} }] },
    )
    const options = { tools: [tool('look', () => 'seen', { effects: 'none' })] }
    const before = await startAgent(context, { ...options, model })
    await before.agent.prompt('go').result
    const records = await recordsOf(before.store, 'a1')
    const end = records.findIndex(({ type }) => type === 'tool.end')
    const { runtime } = await runtimeOver(context, { a1: records.slice(0, end + 1) })
    const agent = await runtime.open('a1', defineAgent({ name: 'tester', ...options, model }))
    let heard = ''
    agent.subscribe((event) => {
      if (event.type === 'reply.delta') heard += event.text
    })
    await agent.settled()
    assert.is(heard, 'one two three')
  })
})
