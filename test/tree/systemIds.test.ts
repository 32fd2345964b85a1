import { createActor, fromPromise, type AnyActorRef } from 'xstate'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { agentMachine } from '../../src/machines/agentMachine.ts'
import { supervisorMachine } from '../../src/machines/supervisorMachine.ts'
import type { OpenInput, WatchOutput } from '../../src/machines/supervisorTypes.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { gate, never, quiet, stalled, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { opened, supervised } from '../machines/supervisorDriver.ts'
import { idleAgents, idleMs } from '../runtime/idleAgents.ts'

/** The actor of a loaded agent, as an inspector sees it. */
function actorOf(agent: Agent): AnyActorRef {
  const seen: AnyActorRef[] = []
  agent.inspect(({ actorRef }) => void seen.push(actorRef as AnyActorRef))()
  return seen[0]!
}

/** Who is found by these ids, and is who they say. */
const found = ({ system }: AnyActorRef, ...ids: readonly string[]): boolean[] =>
  ids.map((id) => {
    const actor = system.get(id) as AnyActorRef | undefined
    if (actor !== undefined) assert.is(actor.getSnapshot().context.agentId, id)
    return actor !== undefined
  })

const waiting = (name: string) => defineAgent({ name, model: scriptedModel([stalled([], never)]) })

/** Calls an agent of this name, and is done with its answer. */
const caller = (name: string) =>
  policyModel(({ messages }) =>
    messages.at(-1)!.role === 'toolResult' ? 'done' : { toolCalls: [{ name, input: { task: 'x' } }] },
  )

describe('the actor of an agent', (it) => {
  it('is found by the agent’s id, at every depth and from every actor of the tree, while it lives', async (context) => {
    const middle = defineAgent({ name: 'middle', model: caller('leaf'), agents: [waiting('leaf')] })
    const { agent } = await startAgent(context, { model: caller('middle'), agents: [middle] })
    const helper = await agent.spawn(waiting('helper'), { id: 'h1' })
    const below = await helper.spawn(waiting('helper'))
    const run = agent.prompt('go')
    await quiet()
    const ids = ['a1', 'a1.2', 'a1.2.1', 'h1', below.id]
    const root = actorOf(agent)
    assert.equal(Object.keys(root.system.getAll()).toSorted(), ids.toSorted())
    for (const each of [agent, helper, below]) assert.ok(found(actorOf(each), ...ids).every(Boolean))
    assert.is(root.system.get('h1'), actorOf(helper))
    await helper.stop()
    assert.equal(found(root, ...ids), [true, true, true, false, false])
    agent.abort()
    await run.result
    assert.equal(found(root, ...ids), [true, false, false, false, false])
    await agent.stop()
    assert.equal(found(root, 'a1'), [false])
  })

  it('is the new one after a restart', async (context) => {
    const open = [gate(), gate()]
    let lives = 0
    const shaky = defineAgent({ name: 'shaky', model: scriptedModel([stalled([], never), stalled([], never)]) })
    const { agent, clock } = await startAgent(context, {
      model: caller('shaky'),
      agents: [{ definition: shaky, stallMs: 1_000, backoffMs: 500 }],
    })
    agent.subscribe(({ type, agentId }) => type === 'run.start' && agentId === 'a1.1' && open[lives++]?.resolve(), {
      descendants: true,
    })
    const run = agent.prompt('go')
    await open[0]!.promise
    const root = actorOf(agent)
    const first = root.system.get('a1.1')
    assert.equal(found(root, 'a1.1'), [true])
    await clock.advance(1_000)
    await quiet()
    assert.equal(found(root, 'a1.1'), [false], 'between two lives')
    await clock.advance(500)
    await open[1]!.promise
    assert.equal(found(root, 'a1.1'), [true])
    assert.is.not(root.system.get('a1.1'), first)
    agent.abort()
    await run.result
  })

  it('is found again once the agent was woken, or resumed, in a system of its own', async (context) => {
    const { clock, runtime, spawn } = await idleAgents(context)
    const agent = await spawn('a1')
    const before = actorOf(agent)
    await clock.advance(idleMs)
    await quiet()
    assert.equal(found(before, 'a1'), [false])
    await agent.wake()
    assert.equal(found(actorOf(agent), 'a1'), [true])
    assert.equal(found(before, 'a1'), [false])
    await agent.close()
    const resumed = await runtime.resume('a1', defineAgent({ name: 'tester', model: scriptedModel([]) }))
    assert.equal(found(actorOf(resumed), 'a1'), [true])
  })

  it('is not found from another root, and a detached agent is one', async (context) => {
    const { agent, runtime } = await startAgent(context, {
      replies: [{ toolCalls: [{ name: 'helper', input: { task: 'x' } }] }, 'done'],
      agents: [{ definition: waiting('helper'), detach: true }],
    })
    await agent.prompt('go').result
    const other = await runtime.spawn(waiting('other'), { id: 'a2' })
    assert.equal(found(actorOf(agent), 'a1', 'a1.1', 'a2'), [true, false, false])
    assert.equal(found(actorOf(runtime.agent('a1.1')!), 'a1', 'a1.1', 'a2'), [false, true, false])
    assert.equal(found(actorOf(other), 'a1', 'a1.1', 'a2'), [false, false, true])
    // Those are still at work.
    await Promise.all([runtime.agent('a1.1')!.stop(), other.stop()])
  })
})

describe('an id that another agent of the tree has', (it) => {
  it('is refused as the result of the call, and the other is still found', async (context) => {
    const { agent } = await startAgent(context, {
      replies: [{ toolCalls: [{ name: 'worker', input: { task: 'x' } }] }, 'done'],
      agents: [waiting('worker')],
      tools: [tool('look', () => 'x')],
    })
    const helper = await agent.spawn(waiting('helper'), { id: 'h1' })
    // The id of the next call of its parent.
    const first = await helper.spawn(waiting('helper'), { id: 'a1.2' })
    const result = await agent.prompt('go').result
    assert.is(result.text, 'done')
    assert.is(actorOf(agent).system.get('a1.2'), actorOf(first))
    assert.equal([agent.state, first.state], ['idle', 'idle'])
  })

  it('leaves the second unlisted where a store let both in, and fails nobody', async ({ cleanup }) => {
    const machine = supervisorMachine.provide({
      actors: {
        openChild: fromPromise(async () => opened()),
        watchChild: fromPromise<WatchOutput, OpenInput>(() => never),
        agent: agentMachine.provide({ actions: { attach: () => {} } }) as never,
      },
    })
    const supervisor = createActor(machine, { systemId: 'a.1', input: supervised() })
    cleanup(() => supervisor.stop())
    supervisor.subscribe({ error: (thrown) => assert.unreachable(String(thrown)) })
    supervisor.start()
    await quiet()
    assert.is(supervisor.getSnapshot().value, 'running')
    assert.is(supervisor.system.get('a.1'), supervisor)
    assert.is((supervisor.getSnapshot().children['agent'] as AnyActorRef).getSnapshot().status, 'active')
  })
})
