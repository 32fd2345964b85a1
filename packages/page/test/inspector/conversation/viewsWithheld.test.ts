import { GraphRows } from '../../../src/inspector/model/conversation/graphRows.ts'
import { textOf } from '../../../../../src/protocol/messages.ts'
import { startAgent } from '../../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

describe('the rows of what a guard refused', (it) => {
  it('say what the conversation says in its place', async (context) => {
    const { agent, records } = await startAgent(context, {
      replies: ['unheard', 'It was Ann.'],
      guards: {
        input: [({ text }) => (text.includes('1234') ? { refuse: 'no passwords' } : { ok: true })],
        output: [({ text }) => (text.includes('Ann') ? { refuse: 'no names' } : { ok: true })],
      },
    })
    await agent.prompt('My password is 1234').result
    await agent.prompt('Who was it?').result
    const graph = new GraphRows()
    for (const record of await records()) graph.apply(record)
    assert.equal(
      graph.rows.flatMap((row) => (row.type === 'message' ? [textOf(row.message.content)] : [])),
      agent.conversation.trunk().map(({ message }) => textOf(message.content)),
    )
    assert.not.match(JSON.stringify(graph.rows), /1234|Ann/)
  })
})
