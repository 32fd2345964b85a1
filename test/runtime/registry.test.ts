import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { calls, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { echo, idleAgents, idleMs, type IdleAgents } from './idleAgents.ts'

const idsOf = (agents: readonly Agent[]): string[] => agents.map(({ id }) => id)

async function spawnMany({ spawn }: IdleAgents, count: number): Promise<Agent[]> {
  const agents: Agent[] = []
  for (let n = 0; n < count; n += 1) agents.push(await spawn(`a${n}`))
  return agents
}

describe('the agents of a runtime', (it) => {
  it('are those without a parent, oldest first, and all of them without a page', async (context) => {
    const idle = await idleAgents(context)
    const agents = await spawnMany(idle, 3)
    const child = await agents[1]!.spawn(defineAgent({ name: 'helper', model: echo }))
    const last = await idle.spawn('a3')
    assert.equal(idle.runtime.agents(), [...agents, last])
    assert.equal(idle.runtime.agents({}), [...agents, last])
    assert.is(idle.runtime.agent(child.id), child)
  })

  it('come in pages that follow one another', async (context) => {
    const idle = await idleAgents(context)
    await spawnMany(idle, 250)
    const { runtime } = idle
    const seen: string[] = []
    const sizes: number[] = []
    for (let after: string | undefined; ;) {
      const page = runtime.agents({ page: after === undefined ? {} : { after } })
      sizes.push(page.length)
      if (page.length === 0) break
      seen.push(...idsOf(page))
      after = seen.at(-1)!
    }
    assert.equal(sizes, [100, 100, 50, 0])
    assert.equal(seen, idsOf(runtime.agents()))
    assert.equal(idsOf(runtime.agents({ page: { after: 'a7', limit: 2 } })), ['a8', 'a9'])
    assert.equal(idsOf(runtime.agents({ page: { limit: 1 } })), ['a0'])
    assert.is(runtime.agents({ page: { limit: 1_000 } }).length, 250)
  })

  it('keep their order when some end, are unloaded or come back', async (context) => {
    const idle = await idleAgents(context)
    const { runtime, clock } = idle
    const agents = await spawnMany(idle, 6)
    await clock.advance(idleMs)
    await agents[3]!.prompt('one').result
    for (const n of [0, 2, 5]) await agents[n]!.close()
    assert.equal(idsOf(runtime.agents()), ['a1', 'a3', 'a4'])
    await runtime.resume('a2', defineAgent({ name: 'tester', model: echo }))
    await clock.advance(idleMs)
    await agents[1]!.wake()
    assert.equal(idsOf(runtime.agents()), ['a1', 'a3', 'a4', 'a2'])
    assert.equal(idsOf(runtime.agents({ page: { after: 'a3', limit: 1 } })), ['a4'])
    assert.is(runtime.agent('a1'), agents[1])
    for (const agent of runtime.agents()) await agent.stop()
    assert.equal(runtime.agents(), [])
    assert.equal(idsOf([await idle.spawn('a9')]), idsOf(runtime.agents()))
  })

  it('refuse a page that cannot be', async (context) => {
    const idle = await idleAgents(context)
    const { runtime } = idle
    const [agent] = await spawnMany(idle, 1)
    const child = await agent!.spawn(defineAgent({ name: 'helper', model: echo }))
    const bad: unknown[] = [
      { page: { limit: 0 } },
      { page: { limit: -1 } },
      { page: { limit: 1.5 } },
      { page: { limit: '3' } },
      { page: { after: 7 } },
      { page: { after: 'nobody' } },
      { page: { after: child.id } },
      { page: { before: 'a0' } },
      { page: 3 },
      { pages: {} },
      7,
    ]
    for (const options of bad)
      assert.throws(() => runtime.agents(options as { page: object }), withCode('INVALID_OPTION', 'agents'))
    assert.throws(() => runtime.agents({ page: { after: 'nobody' } }), withCode('INVALID_OPTION', '"nobody"'))
    await agent!.close()
    assert.throws(() => runtime.agents({ page: { after: 'a0' } }), withCode('INVALID_OPTION', '"a0"'))
  })

  it('that are not loaded hold their ids: a child cannot take one', async (context) => {
    const idle = await idleAgents(context)
    const { clock, spawn, store } = idle
    const helper = defineAgent({ name: 'helper', model: echo })
    const unloaded = await spawn('b1')
    await clock.advance(idleMs)
    assert.is(unloaded.isLoaded, false)
    const parent = await spawn('b2')
    await assert.rejects(parent.spawn(helper, { id: 'b1' }), withCode('AGENT_EXISTS', 'b1'))
    assert.is((await unloaded.prompt('still here').result).text, '1: still here')
    assert.equal([...store.leased].toSorted(), ['b1', 'b2'])
    const caller = await spawn('b3', {
      model: scriptedModel([calls('c', ['helper', { task: 'x' }]), 'done']),
      agents: [helper],
    })
    await spawn('b3.1')
    await clock.advance(idleMs)
    await caller.prompt('go').result
    const answer = caller.conversation.trunk().find(({ message }) => message.role === 'toolResult')
    assert.match(textOf(answer!.message.content), /"b3.1" already exists/)
  })
})
