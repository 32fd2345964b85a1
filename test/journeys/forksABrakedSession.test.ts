import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { calls, startAgent } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { checkRebuild, idsOf, look, openRuntime, runEnd } from './forking.ts'

describe('a fork of a braked conversation', (it) => {
  const braked = async (context: CaseContext) => {
    const harness = await startAgent(context, {
      braking: { revert: true, prune: true },
      tools: [look()],
      replies: [
        calls('a', 'look'),
        calls('b', 'look', 'look'),
        calls('c', ['revert_to_state', { category: 'failure', step: 'n3', summary: 'no good' }]),
        calls('d', 'look'),
        calls('e', ['prun', { steps: ['n3'], memo: 'looked' }]),
        'done',
      ],
    })
    await harness.agent.prompt('go').result
    return harness
  }
  const definitionOf = (replies: readonly ScriptedReply[]) => {
    const model = scriptedModel(replies)
    const braking = { revert: true, prune: true }
    return { model, definition: defineAgent({ name: 'tester', model, tools: [look()], braking, checkRequests: true }) }
  }

  it('shows the branch again that the source abandoned later', async (context) => {
    const { agent, store } = await braked(context)
    const abandoned = agent.conversation.abandoned().map(({ id }) => id)
    assert.equal(abandoned, [4, 5, 6, 7, 8])
    await forkSession(store, 'a1', 'n5', { id: 'f1' })
    const runtime = await openRuntime(context, store)
    const { model, definition } = definitionOf(['it was good'])
    const fork = await runtime.resume('f1', definition)
    await runEnd(fork)
    assert.equal(idsOf(fork), [1, 2, 3, 4, 5, 6, 7])
    assert.equal(fork.conversation.abandoned(), [])
    assert.equal(fork.conversation.tags(), [])
    assert.not.match(JSON.stringify(model.requests), /brake-note/)
    await checkRebuild(store, fork)
  })

  it('keeps tags and hidden steps from before it', async (context) => {
    const { agent, store } = await braked(context)
    await forkSession(store, 'a1', agent.conversation.head!, { id: 'f1' })
    const runtime = await openRuntime(context, store)
    const { model, definition } = definitionOf(['more'])
    const fork = await runtime.resume('f1', definition)
    assert.equal(idsOf(fork), [1, 2, 3, 9, 10, 11, 12, 13])
    assert.equal(fork.conversation.tags(), agent.conversation.tags())
    assert.is(fork.conversation.tokens, agent.conversation.tokens)
    await fork.prompt('go on').result
    assert.match(JSON.stringify(model.requests[0]), /no good/)
    assert.match(JSON.stringify(model.requests[0]), /looked/)
    await checkRebuild(store, fork)
  })

  it('can revert to a step it shares, and the source knows nothing of it', async (context) => {
    const { agent, store } = await braked(context)
    const before = idsOf(agent)
    await forkSession(store, 'a1', 'n10', { id: 'f1' })
    const runtime = await openRuntime(context, store)
    const { definition } = definitionOf([
      calls('f', ['revert_to_state', { category: 'tangent', step: 'n3', summary: 'elsewhere' }]),
      'back',
    ])
    const fork = await runtime.resume('f1', definition)
    await runEnd(fork)
    assert.equal(idsOf(fork), [1, 2, 3, 13])
    assert.equal(
      fork.conversation.tags().map(({ nodeId, tag }) => [nodeId, tag.text]),
      [
        [3, 'no good'],
        [3, 'elsewhere'],
      ],
    )
    await checkRebuild(store, fork)
    assert.equal(idsOf(agent), before)
    assert.equal(
      agent.conversation.tags().map(({ tag }) => tag.text),
      ['no good'],
    )
  })
})
