import { assign, fromCallback, sendTo, setup } from 'xstate'
import { assert, describe } from '../../../../test/support/suite.ts'
import { failsWith } from '../../../stores/test/storeFolder.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { defineHost } from '../../src/hosts/defineHost.ts'
import { hostMachine } from '../../src/hosts/hostMachine.ts'
import { begin } from '../logicParts.ts'
import { day, orderHost } from './orderMachine.ts'
import { counter, recordsOf } from './hostParts.ts'

describe('a hosted machine', (it) => {
  it('runs its effects and agents, and is done with its output', async (context) => {
    const store = memoryStore()
    const runtime = await begin(context, store)
    const keys: string[] = []
    const order = orderHost({ pay: async ({ input, key }) => (keys.push(key), `paid ${input.cents}`) })
    const hosted = await hostMachine(runtime, order, { id: 'order-1', input: { cents: 100 } })
    await hosted.send({ type: 'pay' })
    assert.is(hosted.view.value, 'paying')
    const { receipt, letter } = await hosted.done
    assert.equal([receipt, letter, keys], ['paid 100', 'dear customer 1', ['order-1/3/charge']])
    assert.equal(
      (await recordsOf(store, 'order-1')).map(({ type }) => type.replace('host.', '')).join(' '),
      'created step event effect.start step effect.end step event step done',
    )
    assert.is(hosted.view.status, 'done')
  })

  it('is read from its log once it is done', async (context) => {
    const store = memoryStore()
    const order = orderHost({ pay: async () => 'paid' })
    const first = await hostMachine(await begin(context, store), order, { id: 'o', input: { cents: 1 } })
    await first.send({ type: 'cancel' })
    await first.done
    const again = await hostMachine(await begin(context, store), order, { id: 'o' })
    assert.equal([again.view.status, again.view.value], ['done', 'cancelled'])
    assert.is((await again.done).cents, 1)
    await assert.rejects(again.send({ type: 'pay' }), failsWith('MACHINE_CLOSED', 'has come to its end'))
  })

  it('takes an event that is sent again once, in the next process too', async (context) => {
    const store = memoryStore()
    const first = await hostMachine(await begin(context, store), counter(), { id: 'c' })
    await Promise.all([1, 2].map(() => first.send({ type: 'add', by: 2 }, { requestId: 'r1' })))
    await first.close()
    const again = await hostMachine(await begin(context, store), counter(), { id: 'c' })
    await again.send({ type: 'add', by: 2 }, { requestId: 'r1' })
    await again.send({ type: 'add', by: 1 }, { requestId: 'r2' })
    assert.is(again.snapshot.context.count, 3)
  })

  it('refuses what is no event, and stays as it is', async (context) => {
    const store = memoryStore()
    const host = defineHost({ ...counterRules, refuse: ({ type }) => (type === 'odd' ? 'it is odd' : undefined) })
    const hosted = await hostMachine(await begin(context, store), host, { id: 'c' })
    const cyclic: Record<string, unknown> = { type: 'add' }
    cyclic['self'] = cyclic
    const bad: readonly (readonly [unknown, string])[] = [
      [null, 'null was given'],
      ['add', 'a string was given'],
      [[], 'an array was given'],
      [{}, 'one without a type'],
      [{ type: '' }, 'one without a type'],
      [{ type: 'xstate.done.actor.charge', output: 1 }, 'from XState alone'],
      [{ type: 'xstate.stop' }, 'from XState alone'],
      [{ type: 'add', by: Number.NaN }, 'event.by is NaN'],
      [{ type: 'add', at: new Date(0) }, 'event.at is a Date'],
      [{ type: 'add', by: () => 1 }, 'event.by is a function'],
      [cyclic, 'circular'],
      [{ type: 'add', text: 'x'.repeat(262_144) }, 'too large'],
      [{ type: 'odd' }, 'it is odd'],
    ]
    for (const [event, why] of bad) {
      await assert.rejects(hosted.send(event as never), failsWith('EVENT_INVALID', why))
      assert.throws(() => hosted.ref.send(event as never), failsWith('EVENT_INVALID', why))
    }
    await hosted.send({ type: 'unknown' } as never)
    assert.is(hosted.snapshot.context.count, 0)
    assert.is((await recordsOf(store, 'c')).filter(({ type }) => type === 'host.event').length, 1)
  })

  it('refuses events once 10,000 wait', async (context) => {
    const hosted = await hostMachine(await begin(context), counter(), { id: 'c' })
    const sent = Array.from({ length: 10_001 }, () =>
      hosted.send({ type: 'add', by: 1 }).catch((thrown: unknown) => codeOf(thrown)),
    )
    const answers = await Promise.all(sent)
    assert.equal(
      answers.filter((code) => code !== undefined),
      ['QUEUE_FULL'],
    )
    assert.is(hosted.snapshot.context.count, 10_000)
  })

  it('keeps time over a year, open or closed', { timeoutMs: 20_000 }, async (context) => {
    const store = memoryStore()
    const clock = simulatedClock()
    const order = orderHost({ pay: async () => 'paid' })
    const first = await begin(context, store, { clock })
    const open = await hostMachine(first, order, { id: 'open', input: { cents: 1 } })
    const closed = await hostMachine(first, order, { id: 'closed', input: { cents: 1 } })
    await closed.close()
    first.wake({ definitions: [], machines: [order], everyMs: day / 4 })
    for (let hours = 0; hours < 365 * 24 + 12; hours += 6) await clock.advance(day / 4)
    assert.is(open.snapshot.context.reminders, 365)
    const again = await hostMachine(first, order, { id: 'closed' })
    assert.ok(again.snapshot.context.reminders > 360, `${again.snapshot.context.reminders} reminders`)
    assert.is(again.view.timers.length, 1)
  })

  it('goes on with its delayed events after it was closed', async (context) => {
    const store = memoryStore()
    const clock = simulatedClock()
    const order = orderHost({ pay: async () => 'paid' })
    const first = await hostMachine(await begin(context, store, { clock }), order, { id: 'o', input: { cents: 1 } })
    const [timer] = first.view.timers
    await first.close()
    await clock.advance(day + 1)
    const again = await hostMachine(await begin(context, store, { clock }), order, { id: 'o' })
    await clock.advance(0)
    await again.settled()
    assert.is(again.snapshot.context.reminders, 1)
    // Each day from when it was entered again, which was late.
    assert.ok(again.view.timers[0]!.due > timer!.due + day)
  })

  it('starts live actors again, and keeps delayed events to them', async (context) => {
    const store = memoryStore()
    const clock = simulatedClock()
    const heard: string[] = []
    const live = defineHost({
      name: 'live',
      machine: setup({
        types: { context: {} as { count: number }, events: {} as { type: 'tick' } },
        actors: {
          bell: fromCallback(({ sendBack, receive }) => {
            heard.push('begins')
            sendBack({ type: 'tick' })
            receive(({ type }) => heard.push(type))
          }),
        },
      }).createMachine({
        context: { count: 0 },
        invoke: { id: 'bell', src: 'bell' },
        entry: sendTo('bell', { type: 'ring' }, { delay: 5_000 }),
        on: { tick: { actions: assign({ count: ({ context: { count } }) => count + 1 }) } },
      }),
    })
    const first = await hostMachine(await begin(context, store, { clock }), live, { id: 'l' })
    await first.settled()
    assert.is(first.snapshot.context.count, 1)
    await first.close()
    const again = await hostMachine(await begin(context, store, { clock }), live, { id: 'l' })
    await clock.advance(5_000)
    await again.settled()
    assert.equal(heard, ['begins', 'begins', 'ring'])
    assert.is(again.snapshot.context.count, 2)
  })

  it('goes on from its log when its runtime was closed in the middle of its work', async (context) => {
    const store = memoryStore()
    const aborted: string[] = []
    const begun = Promise.withResolvers<void>()
    const first = await begin(context, store)
    const order = (isQuick: boolean) =>
      orderHost({
        pay: ({ key, signal }) =>
          isQuick
            ? Promise.resolve(`paid under ${key}`)
            : new Promise((_, reject) => {
                begun.resolve()

                signal.addEventListener('abort', () => (aborted.push(key), reject(signal.reason as Error)))
              }),
      })
    const hosted = await hostMachine(first, order(false), { id: 'o', input: { cents: 1 } })
    await hosted.send({ type: 'pay' })
    await begun.promise
    await first.close()
    await assert.rejects(hosted.done, failsWith('MACHINE_CLOSED'))
    assert.equal(aborted, ['o/3/charge'])
    const again = await hostMachine(await begin(context, store), order(true), { id: 'o' })
    assert.is((await again.done).receipt, 'paid under o/3/charge')
  })

  it('keeps secrets out of its log, and works without them', async (context) => {
    const store = memoryStore()
    const runtime = await begin(context, store, { redact: { secrets: { PASSWORD: 'hunter2' } } })
    const order = orderHost({ pay: async ({ input }) => `hunter2 ${JSON.stringify(input)}` })
    const hosted = await hostMachine(runtime, order, { id: 'o', input: { cents: 1, password: 'hunter2' } })
    await hosted.send({ type: 'note', text: 'hunter2' })
    await hosted.send({ type: 'pay' })
    const { receipt } = await hosted.done
    assert.not.ok(JSON.stringify(await recordsOf(store, 'o')).includes('hunter2'))
    assert.not.ok(receipt!.includes('hunter2'))
  })
})

const counterRules = { name: 'counter', machine: counter().machine({} as never) }

const codeOf = (thrown: unknown): unknown => (thrown as { readonly code: unknown }).code
