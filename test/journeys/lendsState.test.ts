import { z } from 'zod'
import { defineAgent } from '../../src/index.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { SubAgentOptions } from '../../src/actors/define/subAgents.ts'
import { calls, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const schema = z.object({ title: z.string(), secret: z.number() })

/** A boss with state whose sub-agent changes it, as far as it may. */
async function lending(context: CaseContext, state?: SubAgentOptions['state']) {
  const seen: unknown[] = []
  const change = tool('change', (_, call) => {
    try {
      seen.push(call.state.get())
      seen.push(
        call.state.of(schema).update((draft) => {
          draft.title += '!'
        }),
      )
    } catch (thrown) {
      seen.push(thrown)
    }
    return 'ok'
  })
  const helper = defineAgent({
    name: 'helper',
    description: 'helps',
    model: scriptedModel([calls('h', 'change'), 'helped']),
    tools: [change],
  })
  const harness = await startAgent(context, {
    state: { schema, initial: { title: 'mine', secret: 7 } },
    agents: [state === undefined ? helper : { definition: helper, state }],
    replies: [calls('c', ['helper', { task: 'change it' }]), 'done'],
  })
  await harness.agent.prompt('go').result
  return { ...harness, seen, helper }
}

describe('the state of a caller', (it) => {
  it('is changed by a sub-agent that may, in the log of the caller', async (context) => {
    const { agent, seen, ofType } = await lending(context, 'write')
    assert.equal(seen, [
      { title: 'mine', secret: 7 },
      { title: 'mine!', secret: 7 },
    ])
    assert.equal(agent.appState, seen[1])
    const [changed] = ofType('state.patched')
    assert.equal([changed!.agentId, changed!.by, changed!.n], ['a1', 'child', 1])
    assert.is(changed!.callId, `${changed!.childId}/h0`)
  })
  it('is read by one that may only read, as a whole or in part', async (context) => {
    const read = await lending(context, 'read')
    assert.equal(read.seen[0], { title: 'mine', secret: 7 })
    assert.ok(withCode('STATE_INVALID', 'may read the state of its caller, and not change it')(read.seen[1]))
    assert.equal(read.agent.appState, { title: 'mine', secret: 7 })
  })
  it('shows the named fields and no others', async (context) => {
    const { seen } = await lending(context, { read: ['title', 'gone'] })
    assert.equal(seen[0], { title: 'mine' })
    assert.ok(withCode('STATE_INVALID')(seen[1]))
  })
  it('is not there for others', async (context) => {
    const { seen } = await lending(context)
    assert.ok(withCode('STATE_OFF')(seen[0]))
  })
  it('is given neither to those that outlive it nor to those with state of their own', () => {
    const model = scriptedModel([])
    const helper = defineAgent({ name: 'helper', description: 'helps', model })
    const own = defineAgent({ name: 'own', description: 'has', model, state: { schema: z.string(), initial: '' } })
    const boss = (entry: SubAgentOptions) => () => defineAgent({ name: 'boss', model, agents: [entry] })
    assert.throws(
      boss({ definition: helper, state: 'read', detach: true }),
      withCode('INVALID_DEFINITION', 'is detached'),
    )
    assert.throws(boss({ definition: own, state: 'write' }), withCode('INVALID_DEFINITION', 'has state of its own'))
  })
})
