import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, resultsOf, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

describe('turns of a sub-agent', (it) => {
  it('are prepared by its own definition, and a limit it reached gives its caller an answer', async (context) => {
    const model = scriptedModel([calls('a', 'dig'), calls('b', 'dig'), 'half of it'])
    const paths: unknown[] = []
    const helper = defineAgent({
      name: 'helper',
      description: 'Digs.',
      model,
      instructions: ({ agent }) => `You are ${agent.id}.`,
      beforeTurn: ({ agent, turn, limit }) => {
        paths.push([agent.path, turn, limit?.limit])
        return { settings: { temperature: turn } }
      },
      tools: [tool('dig', () => 'earth')],
      limits: { turns: 2, onLimit: 'answer' },
    })
    const { agent, script } = await startAgent(context, {
      agents: [helper],
      replies: [{ toolCalls: [{ name: 'helper', input: { task: 'dig' } }] }, 'done'],
    })
    assert.is((await agent.prompt('go').result).text, 'done')
    assert.match(resultsOf(script.requests[1])[0]!, /half of it/)
    assert.equal(
      model.requests.map(({ system, tools, settings }) => [system, tools.length, settings.temperature]),
      [
        ['You are a1.1.', 1, 1],
        ['You are a1.1.', 1, 2],
        ['You are a1.1.', 0, 3],
      ],
    )
    assert.equal(paths, [
      [['a1'], 1, undefined],
      [['a1'], 2, undefined],
      [['a1'], 3, 'turns'],
    ])
  })
})

describe('turns of an agent that folds', (it) => {
  it('are counted with what they are asked with, and keep the tools of the brakes', async (context) => {
    const wanted = 60
    const long = 'Mind the details. '.repeat(40)
    const { agent, script, ofType } = await startAgent(context, {
      tools: [tool('look', () => 'seen it there '.repeat(60)), tool('find', () => 'found')],
      braking: { fold: { work: 100, minBatch: 200, keepSteps: 2, indexTokens: 60, cap: 4_000, leastRequests: 0 } },
      instructions: ({ turnIndex }) => (turnIndex % 2 === 0 ? long : 'Look.'),
      beforeTurn: () => ({ tools: ['look'] }),
      replies: [...Array.from({ length: wanted }, (_, at) => calls(`c${at}-`, 'look')), 'done'],
    })
    assert.is((await agent.prompt('go').result).text, 'done')
    assert.equal(
      script.requests[0]!.tools.map(({ name }) => name),
      ['look', 'recall'],
    )
    assert.ok(ofType('prune.applied').some(({ applied, by }) => applied && by === 'runtime'))
    script.requests.forEach(({ system }, turn) => assert.is(system, turn % 2 === 0 ? long : 'Look.', `turn ${turn}`))
    const [first, second, third] = ofType('reply.end').map(({ estimatedTokens }) => estimatedTokens)
    // Every turn adds the same to the conversation.
    assert.ok(third! - second! > second! - first! + 200, 'shorter instructions count for less')
  })
})
