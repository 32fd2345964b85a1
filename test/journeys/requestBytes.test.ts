import { createHash } from 'node:crypto'
import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

/** The requests of the session below, as version 0.1 sent them before its agents could have permissions, state, schedules, scripts or background calls. */
const known = '7ca272560ce110c7005268d9f1c9ca0211d041c01f451f3619d3085288976200'

describe('the requests of an agent without options', (it) => {
  it('are byte for byte those of earlier versions', async (context) => {
    const read = tool('read', ({ path }: { path: string }) => `the text of ${path}`, {
      input: z.object({ path: z.string() }),
    })
    const fail = tool('fail', () => {
      throw new Error('it does not work')
    })
    const pay = tool('pay', () => 'paid', { needsApproval: true })
    const helper = defineAgent({ name: 'helper', description: 'Helps.', model: scriptedModel(['I helped.']) })
    const { agent, script } = await startAgent(context, {
      instructions: 'Work carefully.',
      tools: [read, fail, pay],
      agents: [helper],
      braking: { revert: true, prune: true, recall: true, fold: true, stall: true },
      limits: { turns: 40 },
      replies: [
        {
          toolCalls: [
            { name: 'read', input: { path: 'a.ts' } },
            { name: 'read', input: { path: 'b.ts' } },
          ],
        },
        calls('f', 'fail', 'pay'),
        { toolCalls: [{ name: 'helper', input: { task: 'Help.' } }] },
        { toolCalls: [{ name: 'revert_to_state', input: { step: 'n2', category: 'failure', summary: 'It failed.' } }] },
        'The first answer.',
        { toolCalls: [{ name: 'nothing', input: {} }] },
        'The second answer.',
      ],
    })
    agent.subscribe((event) => event.type === 'approval.requested' && agent.decide(event.key, 'deny', 'not today'))
    await agent.prompt('Begin.').result
    agent.pin('n1')
    await agent.prompt('Go on.', {
      context: [{ content: 'A memory.', provenance: { type: 'memoryTier', tier: 'long', recordId: 'm1' } }],
    }).result
    const text = JSON.stringify(
      script.requests.map(({ system, tools, messages, settings }) => ({ system, tools, messages, settings })),
    )
    assert.is(script.requests.length, 7)
    assert.is(createHash('sha256').update(text).digest('hex'), known, text)
  })
})
