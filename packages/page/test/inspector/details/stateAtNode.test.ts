import { z } from 'zod'
import { stateAtNode } from '../../../src/inspector/model/conversation/stateAtNode.ts'
import { calls, startAgent, tool } from '../../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const schema = z.object({ title: z.string(), steps: z.array(z.string()) })
const add = tool('add', (_, { state }) => {
  state.of(schema).update((plan) => void plan.steps.push('a step'))
  return 'added'
})

describe('the state at a message', (it) => {
  it('differs from that of the message before by what its step changed', async (context) => {
    const { agent } = await startAgent(context, {
      state: { schema, initial: { title: '', steps: [] } },
      tools: [add],
      replies: [calls('c', 'add'), 'done', 'again'],
    })
    await agent.prompt('go').result
    await agent.updateState((plan) => ({ ...(plan as z.output<typeof schema>), title: 'mine' }))
    await agent.prompt('more').result
    const { conversation } = agent
    const shown = conversation.trunk().map((node) => stateAtNode(conversation, node)!)
    assert.equal(
      shown.map(({ changed }) => changed.map(({ op, path }) => `${op} ${path}`)),
      [[], ['add /steps/0'], [], ['replace /title'], [], []],
    )
    assert.equal(shown.at(-1)!.value, { title: 'mine', steps: ['a step'] })
  })

  it('is not there where nothing has told of one', async (context) => {
    const { agent } = await startAgent(context, { replies: ['done'] })
    await agent.prompt('go').result
    const { conversation } = agent
    assert.is(stateAtNode(conversation, conversation.trunk()[0]!), undefined)
  })
})
