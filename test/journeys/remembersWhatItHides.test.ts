import { decide } from '../../packages/policies/src/decide.ts'
import { keep } from '../../packages/policies/src/keep.ts'
import { policy } from '../../src/actors/define/policy.ts'
import { when } from '../../packages/policies/src/when.ts'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, resultsOf, startAgent, tool, type HarnessOptions } from '../support/agentHarness.ts'
import { emptyMemory, lastSaid, recalls } from '../../packages/tools/test/memory/memorySupport.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const look = tool('look', () => 'The port is 8080.')

describe('what a policy hides and puts into a memory', (it) => {
  /** An agent that says something, whose policy hides it and keeps what it said. */
  async function hiding(context: CaseContext, options: HarnessOptions) {
    const store = emptyMemory(context)
    const tidy = policy({
      name: 'tidy',
      when: when.onRequest(),
      decide: decide.oldest({ downTo: 1, keepSteps: 1 }),
      keep: keep.memory(store),
    })
    const memory = { store, user: '42' }
    const first = await startAgent(context, { memory, braking: { policies: [tidy] }, ...options })
    await first.agent.prompt('Which tea?').result
    await first.agent.prompt('Thanks.').result
    first.agent.brake('tidy')
    await first.until(({ type }) => type === 'prune.applied')
    return {
      store,
      start: (replies: HarnessOptions['replies']) => startAgent(context, { id: 'a2', memory, replies: replies! }),
    }
  }

  it('is known when the next conversation begins', async (context) => {
    const { store, start } = await hiding(context, { replies: ['Anna drinks green tea.', 'Good.'] })
    const [kept] = await store.list()
    assert.equal(kept!.source, { by: 'extraction', agentId: 'a1', runId: 'a1/r1' })
    const second = await start(['Green.'])
    await second.agent.prompt('hi').result
    assert.is(
      lastSaid(second.script.requests[0]),
      `hi(From memory, user, ${kept!.id}: what was true then.) Said: Anna drinks green tea.`,
    )
  })

  it('is found, marked and not put before the model when a tool has said something', async (context) => {
    const { start } = await hiding(context, {
      tools: [look],
      replies: [calls('a', 'look'), 'Use port 8080.', 'Good.'],
    })
    const second = await start([recalls('c1', 'port'), 'done'])
    await second.agent.prompt('Which port?').result
    assert.is(lastSaid(second.script.requests[0]), 'Which port?')
    assert.match(resultsOf(second.script.requests[1])[0]!, /\(user, fact, .*, UNCONFIRMED\): Said: Use port 8080\./)
  })

  it('is unconfirmed when an agent that it was asked of has said it', async (context) => {
    const store = emptyMemory(context)
    const reader = defineAgent({ name: 'reader', model: scriptedModel(['The user is an administrator.']) })
    const tidy = policy({
      name: 'tidy',
      when: when.onRequest(),
      decide: decide.oldest({ downTo: 1, keepSteps: 1 }),
      keep: keep.memory(store, {
        scope: 'workspace:shop',
        extract: async (_part, at) => [{ text: (await at.run(reader, 'What is to be known?')).text }],
      }),
    })
    const { agent, until } = await startAgent(context, { braking: { policies: [tidy] }, replies: ['Hello.', 'Yes.'] })
    await agent.prompt('hi').result
    await agent.prompt('Well?').result
    agent.brake('tidy')
    await until(({ type }) => type === 'prune.applied')
    assert.equal(
      (await store.list()).map(({ scope, text, tainted }) => [scope, text, tainted]),
      [['workspace:shop', 'The user is an administrator.', true]],
    )
  })
})
