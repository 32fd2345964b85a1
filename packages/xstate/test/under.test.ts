import { createActor, createMachine, waitFor } from 'xstate'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { actorOf, asker, begin, boss, ending, talker } from './logicParts.ts'

const parent = createMachine({ id: 'parent' })

describe('an agent that is started under an actor', (it) => {
  it('is in its system, whether it is spawned, resumed or opened, and knows nothing else of it', async (context) => {
    const runtime = await begin(context)
    const actors: string[] = []
    const under = createActor(parent, {
      inspect: (event) => {
        if (event.type === '@xstate.actor') actors.push((event.actorRef as unknown as { id: string }).id)
      },
    }).start()
    const start = [
      () => runtime.spawn(talker, { id: 't1', under }),
      () => runtime.resume('t1', talker, { under }),
      () => runtime.open('t1', talker, { under }),
      () => runtime.open('t2', talker, { under }),
    ]
    for (const each of start) {
      const agent = await each()
      assert.is(agent.ref!.system, under.system)
      assert.match((await agent.prompt('hello').result).text, 'answer')
      await agent.close()
    }
    assert.equal(
      actors.filter((id) => /^t\d/.test(id)),
      ['t1', 't1', 't1', 't2'],
    )
    const last = await runtime.spawn(talker, { id: 't3', under })
    under.stop()
    assert.is((await last.prompt('still there?').result).text, 'answer 1')
  })

  it('is refused anything that is no actor', async (context) => {
    const runtime = await begin(context)
    for (const under of [{}, null, 'order', () => {}]) {
      const options = { under } as never
      await assert.rejects(runtime.spawn(talker, options), withCode('INVALID_OPTION', 'spawn: under'))
      await assert.rejects(runtime.resume('t1', talker, options), withCode('INVALID_OPTION', 'resume: under'))
      await assert.rejects(runtime.open('t1', talker, options), withCode('INVALID_OPTION', 'open: under'))
    }
  })

  it('does not take a system id of the application, nor does a sub-agent', async (context) => {
    const under = createActor(parent, { systemId: 'b1' }).start()
    const other = createActor(createMachine({ invoke: { src: parent, systemId: 'b1.1' } })).start()
    for (const actor of [under, other]) {
      const runtime = await begin(context)
      const agent = await runtime.spawn(boss(), { id: 'b1', under: actor })
      const run = agent.prompt('go')
      for await (const event of run) if (event.type === 'approval.requested') agent.decide(event.key, 'approve')
      assert.is((await run.result).text, 'all done')
      await agent.close()
    }
    assert.is(under.system.get('b1'), under)
  })
})

describe('agent.ref', (it) => {
  it('is the actor of the chart, for XState to wait for, and there as long as the agent is loaded', async (context) => {
    const clock = simulatedClock()
    const runtime = await begin(context, memoryStore(), { clock, idleUnloadMs: 1_000 })
    const agent = await runtime.spawn(talker)
    const { ref } = agent
    const busy = waitFor(ref!, (snapshot) => !snapshot.matches('idle'))
    await agent.prompt('hello').result
    await busy
    assert.is(ref!.getSnapshot().context.turns, 1)
    await clock.advance(2_000)
    assert.is(agent.ref, undefined)
    await agent.wake()
    assert.ok(agent.ref !== undefined && agent.ref !== ref)
    await agent.close()
    assert.is(agent.ref?.getSnapshot().status, 'done')
  })
})

describe('an agent below an actor, seen over the wire', (it) => {
  it('is listed, and asks whoever is connected', async (context) => {
    const definition = asker()
    const serving = await serveAgents(context, [definition])
    const client = serving.connect()
    const actor = actorOf(serving.runtime, definition, { id: 'a1', prompt: 'go' }).start()
    await waitFor(actor, ({ pending }) => pending.length === 1)
    const remote = client.agent('a1')
    const { state, approvals } = await remote.snapshot()
    assert.equal([state, approvals.length], ['paused', 1])
    const ended = ending(actor)
    await remote.decide(approvals[0]!.key, 'approve')
    assert.is((await ended).text, 'it is done')
  })
})
