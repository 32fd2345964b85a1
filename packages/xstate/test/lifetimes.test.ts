import { createActor, createMachine, sendTo, SimulatedClock, waitFor } from 'xstate'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { agentLogic } from '../../../src/xstate.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { quiet } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { actorOf, begin, boss, ending, held, talker } from './logicParts.ts'

describe('an actor that is stopped while it opens its agent', (it) => {
  for (const onStop of ['abort', 'suspend'] as const)
    it(`leaves no agent behind, with ${onStop}`, async (context) => {
      const runtime = await begin(context)
      const { model, definition } = held()
      const actor = actorOf(runtime, definition, { id: 't1', prompt: 'x' }, { onStop }).start()
      actor.stop()
      await (await runtime.open('t1', definition)).close()
      await quiet()
      assert.is(runtime.agent('t1'), undefined)
      assert.is(model.requests.length, 0)
    })

  it('does not take the agent from the next one', async (context) => {
    const runtime = await begin(context)
    const stopped = Array.from({ length: 5 }, (_, n) =>
      actorOf(runtime, talker, { id: 't1', prompt: `old ${n}` }).start(),
    )
    for (const actor of stopped) actor.stop()
    const last = actorOf(runtime, talker, { id: 't1', prompt: 'new' }).start()
    assert.equal((({ text, stopReason }) => [text, stopReason])(await ending(last)), ['answer 1', 'stop'])
  })
})

describe('two actors of one agent', (it) => {
  it('both hear it; the end of the one that started it ends the other, and not the other way round', async (context) => {
    const runtime = await begin(context)
    const owner = actorOf(runtime, talker, { id: 't1' }).start()
    const guest = actorOf(runtime, talker, { id: 't1' }).start()
    const other = actorOf(runtime, talker, { id: 't1' }).start()
    for (const actor of [owner, guest, other]) await waitFor(actor, ({ state }) => state === 'idle')
    owner.send({ type: 'prompt', content: 'one' })
    await waitFor(guest, ({ result }) => result?.text === 'answer 1')
    other.stop()
    await quiet()
    guest.send({ type: 'prompt', content: 'two' })
    await waitFor(owner, ({ result }) => result?.text === 'answer 3')
    const ended = ending(guest)
    owner.stop()
    assert.is((await ended).stopReason, 'aborted')
    assert.is(guest.getSnapshot().state, 'stopped')
    assert.is(runtime.agent('t1'), undefined)
  })

  it('get what each asked', async (context) => {
    const runtime = await begin(context)
    const agent = await runtime.spawn(talker, { id: 't1' })
    const tasks = ['one', 'two', 'three'].map((prompt) => actorOf(runtime, talker, { id: 't1', prompt }).start())
    const texts = (await Promise.all(tasks.map((task) => ending(task)))).map(({ text }) => text)
    assert.equal(texts.toSorted(), ['answer 1', 'answer 3', 'answer 5'])
    assert.is(runtime.agent('t1'), agent, 'it was there before, and stays')
    await agent.prompt('and I?').result
  })
})

describe('an agent that was left', (it) => {
  it('is unloaded when it rests, once nobody listens, and is a root of its own when it is loaded again', async (context) => {
    const clock = simulatedClock()
    const runtime = await begin(context, memoryStore(), { clock, idleUnloadMs: 1_000 })
    const actor = actorOf(runtime, talker, { id: 't1', prompt: 'x' }, { onStop: 'leave' }).start()
    await ending(actor)
    const agent = runtime.agent('t1')!
    assert.is(agent.ref!.system, actor.system)
    await clock.advance(5_000)
    assert.not.ok(agent.isLoaded)
    assert.is(agent.ref, undefined)
    assert.is((await agent.prompt('y').result).text, 'answer 3')
    assert.is.not(agent.ref!.system, actor.system)

    const guest = actorOf(runtime, talker, { id: 't1' }).start()
    await waitFor(guest, ({ state }) => state === 'idle')
    await clock.advance(5_000)
    assert.ok(agent.isLoaded, 'an actor that follows it keeps it')
    guest.stop()
    await clock.advance(5_000)
    assert.not.ok(agent.isLoaded)

    const woken = actorOf(runtime, talker, { id: 't1', prompt: 'z' }).start()
    assert.is((await ending(woken)).text, 'answer 5')
  })
})

describe('a machine whose state invokes an agent', (it) => {
  it('may leave that state and enter it again', async (context) => {
    for (const onStop of ['abort', 'suspend'] as const) {
      const runtime = await begin(context)
      const { model, definition } = held()
      const machine = createMachine({
        initial: 'asking',
        states: {
          asking: {
            invoke: {
              src: agentLogic(runtime, definition, { onStop }),
              input: { id: 't1', prompt: 'go' },
              onDone: 'done',
            },
            on: { again: { target: 'asking', reenter: true } },
          },
          done: { type: 'final' },
        },
      })
      const actor = createActor(machine).start()
      actor.send({ type: 'again' })
      await quiet()
      actor.send({ type: 'again' })
      await model.begun
      actor.send({ type: 'again' })
      model.release()
      await waitFor(actor, ({ status }) => status === 'done')
      assert.is(runtime.agent('t1'), undefined)
    }
  })

  it('may run on a simulated clock of its own', async (context) => {
    const runtime = await begin(context)
    const clock = new SimulatedClock()
    const machine = createMachine({
      invoke: { id: 'desk', src: agentLogic(runtime, talker), input: { id: 't1' } },
      after: { 1_000: { actions: sendTo('desk', { type: 'prompt', content: 'a second has passed' }) } },
    })
    const actor = createActor(machine, { clock }).start()
    clock.increment(1_000)
    const desk = actor.getSnapshot().children['desk']!
    await waitFor(desk as never, ({ result }: { result?: { text: string } }) => result?.text === 'answer 1')
    actor.stop()
  })

  it('ends the agents below the agent with it', async (context) => {
    const runtime = await begin(context)
    const actor = actorOf(runtime, boss(), { id: 'b1', prompt: 'go' }).start()
    await waitFor(actor, ({ pending }) => pending.length === 1)
    const agent = runtime.agent('b1')!
    assert.is(agent.children().length, 1)
    actor.stop()
    await agent.close()
    assert.equal(agent.children(), [])
  })
})

describe('the same actor, started again', (it) => {
  it('waits until its earlier life has let go of the agent', async (context) => {
    const runtime = await begin(context)
    const actor = actorOf(runtime, talker, { id: 't1' })
    // As `@xstate/react` does it when a component is mounted twice.
    interface Inner {
      _processingStatus: number
      _snapshot: unknown
    }
    const inner = actor as unknown as Inner
    for (const pause of [0, 1, 5]) {
      actor.start()
      for (let turn = 0; turn < pause; turn += 1) await quiet()
      const before = actor.getSnapshot()
      actor.stop()
      Object.assign(inner, { _processingStatus: 0, _snapshot: before })
    }
    actor.start()
    actor.send({ type: 'prompt', content: 'x' })
    await waitFor(actor, ({ result }) => result?.text === 'answer 1')
    actor.stop()
  })
})
