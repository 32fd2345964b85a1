import { defineAgent, type AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { quiet, tool } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { echo, idleAgents, idleMs } from './idleAgents.ts'

/** All that an application can read of an agent without waking it, but for its conversation. */
const factsOf = (agent: Agent) => ({
  id: agent.id,
  definition: agent.definition,
  active: agent.active,
  state: agent.state,
  waitsFor: agent.waitsFor,
  pause: agent.pause,
  hasFailed: agent.hasFailed,
  repairedBytes: agent.repairedBytes,
  room: agent.room,
  incognito: agent.incognito,
  metadata: agent.metadata,
  path: agent.path,
  lastSeq: agent.lastSeq,
  braking: agent.braking,
  policies: agent.policies,
  sources: agent.sources,
  clientTools: agent.clientTools,
  spent: agent.spent,
  growingReply: agent.growingReply,
  tree: agent.tree(),
  children: agent.children().length,
  pending: agent.pending(),
  approvals: agent.approvals(),
  inUse: agent.inUse,
})

const failing = policyModel(() => {
  throw new Error('The model is down')
})

const kinds: { readonly [kind: string]: { readonly options?: Partial<AgentOptions>; act?(agent: Agent): unknown } } = {
  'that has answered': { act: (agent) => agent.prompt('one').result },
  'that was never asked': {},
  'whose last run failed': {
    options: { model: failing, retry: { attempts: 1 } },
    act: (agent) => agent.prompt('one').result,
  },
  'that is to use something else': {
    act: async (agent) => {
      agent.use({ instructions: 'Be short.', tools: [] })
      await agent.prompt('one').result
    },
  },
  'with tools and brakes': {
    options: { tools: [tool('look', () => 'x')], braking: { revert: true, prune: true }, maxChildren: 3 },
    act: (agent) => agent.prompt('one').result,
  },
}

async function start(context: CaseContext, options: Partial<AgentOptions> = {}) {
  const { runtime, clock } = await idleAgents(context)
  const definition = defineAgent({ name: 'tester', model: echo, ...options })
  const agent = (await runtime.spawn(definition, { id: 'a', metadata: { user: 'anna' } })) as unknown as Agent
  const unload = async (): Promise<void> => {
    await clock.advance(idleMs)
    for (let turn = 0; agent.isLoaded && turn < 50; turn += 1) await quiet()
    assert.is(agent.isLoaded, false)
  }
  return { runtime, agent, unload }
}

describe('an unloaded agent', (it) => {
  for (const [kind, { options, act }] of Object.entries(kinds))
    it(`is to be read as while it was loaded: one ${kind}`, async (context) => {
      const { agent, unload } = await start(context, options)
      await act?.(agent)
      await agent.settled()
      const before = factsOf(agent)
      await unload()
      assert.equal(factsOf(agent), before)
      await agent.wake()
      assert.is(agent.isLoaded, true)
      assert.equal(factsOf(agent), before)
    })

  it('uses a model that it was lent before or meanwhile', async (context) => {
    const { agent, unload } = await start(context)
    const [one, two] = ['one', 'two'].map((name) => {
      const model = policyModel(() => `${name} answers`)
      return { id: `test:${name}`, stream: model.stream.bind(model) }
    })
    agent.use({ model: one! })
    await agent.prompt('go').result
    await unload()
    assert.is((await agent.prompt('go').result).text, 'one answers')
    await unload()
    agent.use({ model: two! })
    assert.is((await agent.prompt('go').result).text, 'two answers')
    await unload()
    assert.is((await agent.prompt('go').result).text, 'two answers')
  })

  it('wakes for what is to be done, and not for what changes nothing', async (context) => {
    const { agent, unload } = await start(context)
    await agent.prompt('one').result
    await unload()
    const { lastSeq } = agent
    agent.abort()
    await quiet()
    assert.equal([agent.isLoaded, agent.lastSeq], [false, lastSeq])
    const run = agent.prompt('two')
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.is(agent.isLoaded, true)
  })

  it('is gone after close without being loaded, and after stop with a word in its log', async (context) => {
    for (const how of ['close', 'stop'] as const) {
      const { runtime, agent, unload } = await start(context)
      await agent.prompt('one').result
      await unload()
      const { lastSeq } = agent
      await Promise.all([agent[how](), agent[how]()])
      assert.equal([agent.state, runtime.agent('a')], ['stopped', undefined])
      assert.is(agent.isLoaded, how === 'stop')
      assert.is(agent.lastSeq > lastSeq, how === 'stop')
      assert.throws(() => agent.prompt('two'), /has stopped|AGENT_STOPPED/)
    }
  })
})
