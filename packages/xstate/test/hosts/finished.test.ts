import { assign, setup } from 'xstate'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { defineHost } from '../../src/hosts/defineHost.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { agentLogic } from '../../src/agentLogic.ts'
import { durable } from '../../src/hosts/durable.ts'
import { hostMachine } from '../../src/hosts/hostMachine.ts'
import { begin, held } from '../logicParts.ts'
import { counter, recordsOf } from './hostParts.ts'

/** A machine that spawns an effect and stays where it is when that ends. */
const spawning = (run: () => Promise<string>) =>
  setup({
    types: {
      context: {} as { said: readonly string[] },
      events: {} as { type: 'again' } | { type: `xstate.done.actor.${string}`; output: string },
    },
    actors: { work: durable(run, { effects: 'idempotent' }) },
  }).createMachine({
    id: 'spawning',
    context: ({ spawn }) => {
      spawn('work', { id: 'w1' })
      return { said: [] }
    },
    on: {
      'xstate.done.actor.*': {
        actions: assign({
          said: ({ context: { said }, event }) => [...said, event.output],
        }),
      },
    },
  })

describe('the actors of a hosted machine, when it is opened again', (it) => {
  it('do not run again once they have ended', async (context) => {
    const store = memoryStore()
    let runs = 0
    const machine = spawning(async () => `run ${(runs += 1)}`)
    const first = await hostMachine(await begin(context, store), machine, { id: 's' })
    await first.settled()
    assert.equal(first.snapshot.context.said, ['run 1'])
    // As after a crash: without a snapshot.
    const again = await hostMachine(await begin(context, store), machine, { id: 's', takeOver: true })
    await again.settled()
    assert.equal([again.snapshot.context.said, runs], [['run 1'], 1])
    assert.equal(again.view.children, [{ id: 'w1', status: 'done' }])
    await again.close()
    // And after a snapshot.
    const third = await hostMachine(await begin(context, store), machine, { id: 's' })
    await third.settled()
    assert.equal([third.snapshot.context.said, runs], [['run 1'], 1])
    await first.done.catch(() => {})
  })

  for (const how of ['machine', 'runtime'] as const)
    it(`go on in the middle of a reply after the ${how} was closed, whatever their onStop`, async (context) => {
      const store = memoryStore()
      const { model, definition } = held()
      const host = defineHost({
        name: 'asking',
        machine: (runtime) =>
          setup({
            types: { context: {} as { text: string } },
            actors: { talker: agentLogic(runtime, definition, { onStop: 'abort' }) },
          }).createMachine({
            context: { text: '' },
            initial: 'asking',
            states: {
              asking: {
                invoke: {
                  id: 't',
                  src: 'talker',
                  input: { prompt: 'go' },
                  onDone: { target: 'over', actions: assign({ text: ({ event }) => event.output.text }) },
                },
              },
              over: { type: 'final' },
            },
            output: ({ context: { text } }) => text,
          }),
      })
      const runtime = await begin(context, store)
      const first = await hostMachine(runtime, host, { id: 'a' })
      await model.begun
      await (how === 'machine' ? first.close() : runtime.close())
      model.release()
      const again = await hostMachine(await begin(context, store), host, { id: 'a' })
      assert.is(await again.done, 'well done 1')
      assert.is((await store.list()).length, 2)
    })

  it('are aborted when the machine leaves their state', async (context) => {
    const { model, definition } = held()
    const host = defineHost({
      name: 'leaving',
      machine: (runtime) =>
        setup({
          types: { events: {} as { type: 'leave' } },
          actors: { talker: agentLogic(runtime, definition) },
        }).createMachine({
          initial: 'asking',
          states: {
            asking: { invoke: { id: 't', src: 'talker', input: { prompt: 'go' } }, on: { leave: 'left' } },
            left: {},
          },
        }),
    })
    const hosted = await hostMachine(await begin(context), host, { id: 'l' })
    await model.begun
    await hosted.send({ type: 'leave' })
    assert.is(model.aborts, 1)
  })
})

describe('a waker', (it) => {
  it('leaves a machine alone that somebody has', async (context) => {
    const store = memoryStore()
    const clock = simulatedClock()
    const runtime = await begin(context, store, { clock })
    const hosted = await hostMachine(runtime, counter(), { id: 'c' })
    await hosted.send({ type: 'add', by: 1 })
    await store.timers!.set('c', clock.now())
    const waker = runtime.wake({ definitions: [], machines: [counter()], everyMs: 10 })
    await clock.advance(100)
    await waker.close()
    await hosted.send({ type: 'add', by: 1 })
    assert.is(hosted.snapshot.context.count, 2)
  })

  it('finishes what a process left that died', async (context) => {
    const store = memoryStore()
    const clock = simulatedClock()
    const begun = Promise.withResolvers<void>()
    const machine = (run: () => Promise<string>) =>
      setup({ actors: { work: durable(run, { effects: 'idempotent' }) } }).createMachine({
        id: 'work',
        initial: 'working',
        states: { working: { invoke: { id: 'w', src: 'work', onDone: 'over' } }, over: { type: 'final' } },
      })
    const dead = await begin(context, store, { clock })
    await hostMachine(
      dead,
      machine(() => (begun.resolve(), new Promise(() => {}))),
      { id: 'w' },
    )
    await begun.promise
    assert.equal(await store.timers!.due(clock.now()), [{ agentId: 'w', due: clock.now() }])
    // Its lease is over, as that of a dead process is.
    await (await store.open('w', { takeOver: true })).release()
    const runtime = await begin(context, store, { clock })
    const waker = runtime.wake({ definitions: [], machines: [defineHost({ machine: machine(async () => 'done') })] })
    const isDone = async (): Promise<boolean> => (await recordsOf(store, 'w')).some(({ type }) => type === 'host.done')
    while (!(await isDone())) await clock.advance(1)
    await waker.close()
    assert.equal(await store.timers!.due(clock.now() + 10), [])
  })

  it('is for machines, which resumeAll leaves alone', async (context) => {
    const store = memoryStore()
    const runtime = await begin(context, store)
    await (await hostMachine(runtime, counter(), { id: 'c' })).close()
    assert.equal(await runtime.resumeAll({ definitions: [] }), { resumed: [], left: [] })
  })
})
