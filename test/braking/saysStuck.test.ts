import { policy, stuckTool, when, decide, type Decider } from '../../src/policies.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, resultsOf, startAgent, tool, type Harness } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const look = tool('look', (input) => `${JSON.stringify(input)} seen`, { effects: 'none' })
const stuck = (why: string) => calls('s', ['say_stuck', { why }])

/** An agent that looks twice, says that it is stuck, looks once more, and is done. */
async function worked(context: CaseContext, decider: Decider): Promise<Harness> {
  const harness = await startAgent(context, {
    tools: [look, stuckTool()],
    braking: { policies: [policy({ name: 'helped', when: when.saysStuck(), decide: decider })] },
    checkRequests: true,
    replies: [
      calls('a', ['look', { at: 1 }]),
      calls('b', ['look', { at: 2 }]),
      stuck('  Both places are empty.  '),
      calls('c', ['look', { at: 3 }]),
      'done',
    ],
  })
  await harness.agent.prompt('go').result
  return harness
}

describe('a model that says it is stuck', (it) => {
  it('is given the advice of the policy, once, with its own words as the reason', async (context) => {
    const { ofType, script } = await worked(context, {
      name: 'adviser',
      decide: () => ({ note: 'Look in the cellar.' }),
    })
    assert.equal(
      ofType('policy.start').map(({ why, turn }) => [why, turn]),
      [['Both places are empty.', 3]],
    )
    assert.match(JSON.stringify(script.requests[3]!.messages), 'Look in the cellar.')
    assert.match(resultsOf(script.requests[3]).at(-1)!, /^It is noted\./)
  })

  it('is taken back before what led nowhere, if the policy says so', async (context) => {
    const { agent, ofType } = await worked(context, {
      name: 'rescuer',
      decide: () => ({ revert: { step: 'n3', category: 'failure', summary: 'Place 2 is empty.' } }),
    })
    assert.is(ofType('revert.applied')[0]!.applied, true)
    const said = agent.conversation.trunk().map(({ message }) => JSON.stringify(message.content))
    assert.not.match(said.join(), 'say_stuck')
    assert.match(said.join(), '"at":3')
  })

  it('is helped by a reviewer that reads the conversation', async (context) => {
    const model = scriptedModel(['{"hide":[],"note":"Ask the owner.","why":"both looks are useless"}'])
    const { script } = await worked(context, decide.reviewer({ model }))
    assert.is(model.requests.length, 1)
    assert.match(JSON.stringify(model.requests[0]!.messages), 'Both places are empty')
    assert.match(JSON.stringify(script.requests[3]!.messages), 'Ask the owner.')
  })

  it('says it by the tool alone, whatever its arguments are', async () => {
    const fires = (...content: object[]): unknown => {
      const nodes = new Map([[2, { stepId: 2, message: { role: 'assistant', content } }]])
      return when.saysStuck().fires({ conversation: { head: 2, node: (id: number) => nodes.get(id) } } as never)
    }
    const call = (name: string, input: unknown) => ({ type: 'toolCall', callId: 'c', name, input })
    assert.is(fires({ type: 'text', text: 'I am stuck.' }), null)
    assert.is(fires(call('look', { why: 'x' })), null)
    for (const input of [null, 'why', {}, { why: 7 }, { why: ' ' }])
      assert.is(fires(call('say_stuck', input)), 'the agent says that it is stuck')
    assert.is(String(fires(call('say_stuck', { why: 'x'.repeat(2_000) }))).length <= 200, true)
    assert.is(when.saysStuck().fires({ conversation: { head: null, node: () => undefined } } as never), null)
  })
})
