import { assign, createMachine, fromPromise, raise, setup } from 'xstate'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { failsWith } from '../../../stores/test/storeFolder.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { agentLogic } from '../../src/agentLogic.ts'
import { defineHost } from '../../src/hosts/defineHost.ts'
import { durable } from '../../src/hosts/durable.ts'
import { hostMachine } from '../../src/hosts/hostMachine.ts'
import type { AnyMachine, DurableEffects } from '../../src/hosts/hostTypes.ts'
import { begin } from '../logicParts.ts'
import { counter, recordsOf } from './hostParts.ts'

const plain = fromPromise(async () => 1)

describe('machines that cannot be kept', (it) => {
  const child = createMachine({ id: 'child' })
  const refusedAtOnce: readonly (readonly [string, AnyMachine, string])[] = [
    [
      'a plain promise in setup',
      setup({ actors: { pay: plain } }).createMachine({ invoke: { src: 'pay' } }),
      'Its actor "pay" is a plain promise',
    ],
    [
      'a plain promise at an invoke',
      createMachine({ initial: 'a', states: { a: { initial: 'b', states: { b: { invoke: { src: plain } } } } } }),
      'The actor that "a.b" invokes is a plain promise',
    ],
    [
      'a machine in a machine',
      setup({ actors: { child } }).createMachine({ invoke: { src: 'child' } }),
      'Its actor "child" is a machine',
    ],
    ['a context that is no JSON', createMachine({ context: { since: new Date(0) } }), 'context.since is a Date'],
    ['a map in its context', createMachine({ context: { by: [new Map()] } }), 'context.by[0] is a Map'],
    [
      'an actor that was spawned without an id',
      setup({ actors: { pay: durable(async () => 1, { effects: 'none' }) } }).createMachine({
        context: ({ spawn }) => ({ ref: spawn('pay') }),
      }),
      'It spawned "pay" without an id',
    ],
    [
      'an actor without a name',
      createMachine({
        context: ({ spawn }) => ({
          ref: spawn(
            durable(async () => 1, { effects: 'none' }),
            { id: 'pay' },
          ),
        }),
      }),
      'Its actor "pay" was spawned from a logic that has no name',
    ],
    [
      'an input that it does not take',
      createMachine({ context: ({ input }) => ({ cents: (input as { cents: number }).cents }) }),
      'It does not begin with this input',
    ],
  ]
  for (const [what, machine, why] of refusedAtOnce)
    it(`are refused with ${what}, and leave no log`, async (context) => {
      const store = memoryStore()
      const runtime = await begin(context, store)
      await assert.rejects(hostMachine(runtime, machine, { id: 'm' }), failsWith('MACHINE_REFUSED', why))
      assert.equal(await recordsOf(store, 'm'), [])
      // The id is free.
      await hostMachine(runtime, counter(), { id: 'm' })
    })

  it('end when they become such, and are not opened again', async (context) => {
    const store = memoryStore()
    const machine = setup({ types: { context: {} as { at: unknown } } }).createMachine({
      id: 'late',
      context: { at: 0 },
      on: { set: { actions: assign({ at: () => new Date(0) }) } },
    })
    const hosted = await hostMachine(await begin(context, store), machine, { id: 'm' })
    await hosted.send({ type: 'set' })
    await assert.rejects(hosted.done, failsWith('MACHINE_REFUSED', 'context.at is a Date'))
    await assert.rejects(
      hostMachine(await begin(context, store), machine, { id: 'm' }),
      failsWith('MACHINE_REFUSED', 'context.at is a Date'),
    )
  })

  it('refuses its hundred and first agent, by an error of that actor', { timeoutMs: 20_000 }, async (context) => {
    const store = memoryStore()
    const runtime = await begin(context, store)
    const talker = agentLogic(runtime, defineAgent({ name: 'talker', model: policyModel(() => 'hello') }))
    const machine = setup({
      types: {
        context: {} as { count: number; why: string | null },
        events: {} as { type: 'more' } | { type: `xstate.error.actor.${string}`; error: { message: string } },
      },
      actors: { talker },
    }).createMachine({
      context: { count: 0, why: null },
      on: {
        more: {
          actions: assign(({ context: { count }, spawn }) => {
            spawn('talker', { id: `t${count}` })
            return { count: count + 1 }
          }),
        },
        'xstate.error.actor.*': {
          actions: assign({ why: ({ event }) => event.error.message }),
        },
      },
    })
    const hosted = await hostMachine(runtime, machine, { id: 'm' })
    for (let i = 0; i < 100; i += 1) await hosted.send({ type: 'more' })
    assert.is(hosted.snapshot.context.why, null)
    await hosted.send({ type: 'more' })
    await hosted.settled()
    assert.ok(hosted.snapshot.context.why?.includes('100 agents'), String(hosted.snapshot.context.why))
  })

  it('takes a plain promise whose effects are named', async (context) => {
    const machine = setup({ actors: { pay: plain } }).createMachine({
      initial: 'paying',
      states: { paying: { invoke: { src: 'pay', onDone: 'paid' } }, paid: { type: 'final' } },
    })
    const host = defineHost({ name: 'p', machine, effects: { pay: 'idempotent' } })
    const hosted = await hostMachine(await begin(context), host, { id: 'm' })
    await hosted.done
    assert.is(hosted.view.value, 'paid')
    const wrong = defineHost({ name: 'p', machine, effects: { paid: 'none' } })
    await assert.rejects(
      hostMachine(await begin(context), wrong, { id: 'm' }),
      failsWith('MACHINE_REFUSED', 'effects names "paid", which is no plain promise'),
    )
  })
})

describe('a machine that is not pure', (it) => {
  const impure = (isOdd: () => boolean) =>
    setup({ types: { events: {} as { type: 'go' } } }).createMachine({
      id: 'impure',
      initial: 'a',
      states: { a: { on: { go: [{ guard: isOdd, target: 'b' }, { target: 'c' }] } }, b: {}, c: {} },
    })

  it('is found by its next snapshot, with the event', async (context) => {
    let isOdd = true
    const store = memoryStore()
    const clock = simulatedClock()
    const hosted = await hostMachine(
      await begin(context, store, { clock }),
      impure(() => isOdd),
      { id: 'm' },
    )
    await hosted.send({ type: 'go' })
    isOdd = false
    await clock.advance(1_000)
    await assert.rejects(hosted.done, failsWith('MACHINE_IMPURE', 'event "go" (record 3)', 'now "c"'))
    assert.not.ok((await recordsOf(store, 'm')).some(({ type }) => type === 'host.snapshot'))
  })

  it('is found when it is opened, with the event', async (context) => {
    let isOdd = true
    const store = memoryStore()
    const clock = simulatedClock()
    const open = async () =>
      hostMachine(
        await begin(context, store, { clock }),
        impure(() => isOdd),
        { id: 'm', takeOver: true },
      )
    const first = await open()
    await first.send({ type: 'go' })
    isOdd = false
    await assert.rejects(open(), failsWith('MACHINE_IMPURE', 'event "go" (record 3)'))
    await assert.rejects(first.done, failsWith('STORE_LEASE_LOST'))
  })
})

describe('an effect whose process ended in the middle', (it) => {
  const machine = (effects: DurableEffects, run: (key: string) => Promise<string>) =>
    setup({
      types: { context: {} as { end: unknown } },
      actors: { work: durable(({ key }) => run(key), { effects }) },
    }).createMachine({
      id: 'worker',
      context: { end: null },
      initial: 'working',
      states: {
        working: {
          invoke: {
            id: 'work',
            src: 'work',
            onDone: { target: 'over', actions: assign({ end: ({ event }) => event.output }) },
            onError: {
              target: 'over',
              actions: assign({ end: ({ event }) => (event.error as { code: string }).code }),
            },
          },
        },
        over: { type: 'final' },
      },
      output: ({ context }) => context.end,
    })

  const ends: readonly (readonly [DurableEffects, unknown])[] = [
    ['none', 'done again under m/1/work'],
    ['idempotent', 'done again under m/1/work'],
    ['irreversible', 'EFFECT_INTERRUPTED'],
  ]
  for (const [effects, expected] of ends)
    it(`ends by its rule: ${effects}`, async (context) => {
      const store = memoryStore()
      const begun = Promise.withResolvers<void>()
      const never = machine(effects, () => (begun.resolve(), new Promise(() => {})))
      const first = await hostMachine(await begin(context, store), never, { id: 'm' })
      await begun.promise
      let runs = 0
      const next = machine(effects, async (key) => ((runs += 1), `done again under ${key}`))
      const again = await hostMachine(await begin(context, store), next, { id: 'm', takeOver: true })
      assert.is(await again.done, expected)
      assert.is(runs, effects === 'irreversible' ? 0 : 1)
      await assert.rejects(first.done, failsWith('STORE_LEASE_LOST'))
    })

  it('is waited for by a close if it is irreversible', async (context) => {
    const store = memoryStore()
    const begun = Promise.withResolvers<void>()
    const held = Promise.withResolvers<string>()
    const slow = machine('irreversible', () => (begun.resolve(), held.promise))
    const first = await hostMachine(await begin(context, store), slow, { id: 'm' })
    await begun.promise
    const closed = first.close()
    held.resolve('paid')
    await closed
    const again = await hostMachine(await begin(context, store), slow, { id: 'm' })
    assert.is(await again.done, 'paid')
  })

  it('tells the machine of outputs that cannot be kept', async (context) => {
    const bad = machine('none', async () => new Date(0) as never)
    assert.is(await (await hostMachine(await begin(context), bad, { id: 'm' })).done, 'EFFECT_FAILED')
    const large = machine('none', async () => 'x'.repeat(262_144))
    assert.is(await (await hostMachine(await begin(context), large, { id: 'm' })).done, 'EFFECT_FAILED')
    const failing = machine('none', async () => Promise.reject(Object.assign(new Error('no'), { code: 'DECLINED' })))
    assert.is(await (await hostMachine(await begin(context), failing, { id: 'm' })).done, 'DECLINED')
  })
})

describe('versions of a machine', (it) => {
  const versioned = (version: string, state: string, migrate?: (snapshot: object) => object) =>
    defineHost({
      name: 'doc',
      version,
      ...(migrate === undefined ? {} : { migrate }),
      machine: createMachine({ id: 'doc', context: { edits: 0 }, initial: state, states: { [state]: {} } }),
    })

  it('refuses a log of another version, and says both', async (context) => {
    const store = memoryStore()
    await (await hostMachine(await begin(context, store), versioned('1', 'draft'), { id: 'd' })).close()
    await assert.rejects(
      hostMachine(await begin(context, store), versioned('2', 'draft'), { id: 'd' }),
      failsWith('MACHINE_CHANGED', 'version 1', 'version 2'),
    )
  })

  it('names a state that is gone', async (context) => {
    const store = memoryStore()
    await (await hostMachine(await begin(context, store), versioned('1', 'draft'), { id: 'd' })).close()
    const same = versioned('1', 'written')
    await assert.rejects(
      hostMachine(await begin(context, store), same, { id: 'd' }),
      failsWith('MACHINE_CHANGED', 'draft'),
    )
  })

  it('goes on from what migrate makes, and from then on without it', async (context) => {
    const store = memoryStore()
    await (await hostMachine(await begin(context, store), versioned('1', 'draft'), { id: 'd' })).close()
    const migrate = (snapshot: object) => ({ ...snapshot, value: 'written' })
    const second = await hostMachine(await begin(context, store), versioned('2', 'written', migrate), { id: 'd' })
    assert.is(second.view.value, 'written')
    await second.close()
    const third = await hostMachine(await begin(context, store), versioned('2', 'written'), { id: 'd' })
    assert.is(third.view.value, 'written')
  })
})

describe('a machine and others', (it) => {
  it('is open in one process at a time', async (context) => {
    const store = memoryStore()
    const first = await hostMachine(await begin(context, store), counter(), { id: 'c' })
    const other = await begin(context, store)
    await assert.rejects(hostMachine(other, counter(), { id: 'c' }), failsWith('STORE_LOCKED'))
    await first.close()
    await hostMachine(other, counter(), { id: 'c' })
    await assert.rejects(first.send({ type: 'add', by: 1 }), failsWith('MACHINE_CLOSED'))
  })

  it('is handed out again where it is open, under its own name', async (context) => {
    const runtime = await begin(context)
    const [one, two] = await Promise.all([1, 2].map(() => hostMachine(runtime, counter(), { id: 'c' })))
    assert.is(one, two)
    await assert.rejects(
      hostMachine(runtime, counter({ name: 'other' }), { id: 'c' }),
      failsWith('MACHINE_CHANGED', '"counter"', '"other"'),
    )
  })

  it('has no id of an agent, and no agent has its', async (context) => {
    const runtime = await begin(context, memoryStore())
    const definition = defineAgent({ name: 'talker', model: policyModel(() => 'hello') })
    const agent = await runtime.spawn(definition, { id: 'a' })
    await agent.close()
    await assert.rejects(hostMachine(runtime, counter(), { id: 'a' }), failsWith('AGENT_EXISTS', 'is an agent'))
    const hosted = await hostMachine(runtime, counter(), { id: 'c' })
    await hosted.close()
    await assert.rejects(runtime.resume('c', definition), failsWith('AGENT_NOT_FOUND', 'is the machine "counter"'))
  })

  it('checks what it is given', async (context) => {
    const runtime = await begin(context)
    const bad: readonly (readonly [unknown, object, string])[] = [
      [counter(), { id: 'x'.repeat(101) }, '1 to 100'],
      [counter(), {}, 'id'],
      [counter(), { id: 'c', inputs: 1 }, 'inputs'],
      [{}, { id: 'c' }, 'give an XState machine'],
    ]
    for (const [machine, options, why] of bad)
      await assert.rejects(hostMachine(runtime, machine as never, options as never), failsWith('INVALID_OPTION', why))
    assert.throws(
      () => defineHost({ machine: () => counter().machine(runtime) }),
      failsWith('INVALID_OPTION', 'a name'),
    )
    assert.throws(() => durable(async () => 1, {} as never), failsWith('INVALID_OPTION', 'effects'))
    assert.throws(() => durable('no' as never, { effects: 'none' }), failsWith('INVALID_OPTION', 'give a function'))
  })

  it('fails with the error of an action, for good', async (context) => {
    const store = memoryStore()
    const machine = setup({ types: { events: {} as { type: 'go' } } }).createMachine({
      id: 'bad',
      on: {
        go: {
          actions: [
            raise({ type: 'go' } as never, { delay: 5 }),
            () => {
              throw new Error('the wheel is off')
            },
          ],
        },
      },
    })
    const hosted = await hostMachine(await begin(context, store), machine, { id: 'm' })
    await hosted.send({ type: 'go' })
    await assert.rejects(hosted.done, failsWith('MACHINE_FAILED', 'the wheel is off'))
    const again = await hostMachine(await begin(context, store), machine, { id: 'm' })
    await assert.rejects(again.done, failsWith('MACHINE_FAILED', 'the wheel is off'))
  })
})
