import { checkCommand } from '../../src/protocol/bridge/checkCommand.ts'
import { agentCommands, type AgentCommand } from '../../src/protocol/bridge/commands.ts'
import { maxContentChars } from '../../src/protocol/text/saidContent.ts'
import { assert, describe } from '../support/suite.ts'

/** The outcome of a command: itself as it is carried out, or the code that it is refused with. */
function outcome(command: unknown): unknown {
  try {
    return checkCommand(command as AgentCommand)
  } catch (thrown) {
    return (thrown as { readonly code?: string }).code
  }
}

/** The same by the schemas alone. */
function bySchema(command: unknown): unknown {
  const { success, data, error } = agentCommands.schema().safeParse(command)
  if (success) return data
  return error.issues[0]?.path[0] === 'content' ? 'INVALID_CONTENT' : 'INVALID_OPTION'
}

describe('a text for an agent', (it) => {
  it('is checked as the schema does, and given in the same order', () => {
    const types = ['agent.prompt', 'agent.interrupt', 'agent.steer', 'agent.followUp', 'agent.stop', 'prompt', 5]
    const ids = ['a', 'reviewer-1', '../x', '', 5]
    const contents = ['go', ' go ', '', ' \n', 5, null, [{ type: 'text', text: 'go' }], ['go']]
    const others = [{}, { limits: { turns: 2 } }, { limits: { turns: 0 } }, { limits: undefined }, { id: 'mine' }]
    for (const type of types)
      for (const agentId of ids)
        for (const content of contents)
          for (const other of others) {
            const command = { type, agentId, content, ...other }
            const schemas = JSON.stringify(bySchema(command))
            assert.is(JSON.stringify(outcome(command)), schemas, JSON.stringify(command))
          }
    for (const command of [null, undefined, [], 'agent.prompt', {}]) assert.is(outcome(command), bySchema(command))
  })

  it('may be as long as content may be, and no longer', () => {
    const command = { type: 'agent.prompt', agentId: 'a', content: 'x'.repeat(maxContentChars) }
    assert.type(outcome(command), 'object')
    assert.is(outcome({ ...command, content: `${command.content}x` }), 'INVALID_CONTENT')
  })
})
