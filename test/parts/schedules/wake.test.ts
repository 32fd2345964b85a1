import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { z } from 'zod'
import { memoryStore } from '../../../packages/stores/src/memory/memoryStore.ts'
import { readAll } from '../../../packages/evaluation/src/testing/contractDemands.ts'
import { simulatedClock } from '../../../packages/evaluation/src/testing/simulatedClock.ts'
import { createRuntime } from '../../../packages/bridge/src/createRuntime.ts'
import type { RuntimeOptions } from '../../../packages/runtime/src/runtimeOptions.ts'
import { policyModel } from '../../../packages/models/src/policyModel.ts'
import { quiet } from '../../support/agentHarness.ts'
import { failsWith } from '../../../packages/stores/test/storeFolder.ts'
import { assert, describe, type CaseContext } from '../../support/suite.ts'

const start = Date.parse('2026-05-04T08:00:00Z')
const definition = defineAgent({ name: 'worker', model: policyModel(() => 'fine') })

/** One store, on which any number of runtimes may be made. */
function house({ cleanup }: Pick<CaseContext, 'cleanup'>) {
  const store = memoryStore()
  const clock = simulatedClock(start)
  const runtime = async (options: Partial<RuntimeOptions> = {}) => {
    const made = await createRuntime({ store: { ...store, close: async () => {} }, clock, ...options })
    cleanup(() => made.close())
    return made
  }
  const startsOf = async (id: string): Promise<string[]> =>
    (await readAll(store, id)).flatMap((record) => (record.type === 'run.start' ? [record.requestId] : []))
  return { store, clock, runtime, startsOf }
}

type House = ReturnType<typeof house>

async function asleep({ runtime }: House, ids: readonly string[], of = definition): Promise<void> {
  const first = await runtime()
  for (const id of ids) {
    const agent = await first.spawn(of, { id })
    agent.schedule({ id: 'x', every: 60_000, prompt: 'Go.' })
  }
  await first.close()
}

describe('runtime.wake', (it) => {
  it('opens the agents that are due, lets them run, and closes them', async (context) => {
    const all = house(context)
    await asleep(all, ['a', 'b'])
    const { runtime, clock, store, startsOf } = all
    const second = await runtime()
    second.wake({ definitions: [definition], everyMs: 1_000 })
    await clock.advance(59_000)
    assert.equal(second.agents(), [])
    assert.equal(await startsOf('a'), [])
    await clock.advance(2_000)
    assert.equal(second.agents(), [])
    await clock.advance(120_000)
    for (const id of ['a', 'b'])
      assert.equal(
        await startsOf(id),
        [1, 2, 3].map((count) => `schedule/x/${start + count * 60_000}`),
      )
    assert.equal(
      (await store.timers!.due(start + 10 ** 6)).map(({ due }) => due - start),
      [240_000, 240_000],
    )
  })

  it('fires each time once, with ten of them on one store', async (context) => {
    const all = house(context)
    await asleep(all, ['a', 'b', 'c'])
    const { runtime, clock, startsOf } = all
    for (let count = 0; count < 10; count += 1) (await runtime()).wake({ definitions: [definition], everyMs: 700 })
    await clock.advance(300_500)
    for (const id of ['a', 'b', 'c'])
      assert.equal(
        await startsOf(id),
        [1, 2, 3, 4, 5].map((count) => `schedule/x/${start + count * 60_000}`),
      )
  })

  it('leaves an agent to who has it, which fires by itself', async (context) => {
    const all = house(context)
    await asleep(all, ['a'])
    const { runtime, clock, startsOf } = all
    const [holder, waker] = [await runtime(), await runtime()]
    const agent = await holder.resume('a', definition)
    waker.wake({ definitions: [definition], everyMs: 500 })
    await clock.advance(61_000)
    assert.equal(await startsOf('a'), [`schedule/x/${start + 60_000}`])
    assert.is(agent.state, 'idle')
    assert.is(waker.agent('a'), undefined)
  })

  it('gives each agent its deps, and leaves those that it cannot wake, saying so once an hour', async (context) => {
    const all = house(context)
    const needy = defineAgent({ name: 'needy', model: policyModel(() => 'fine'), deps: z.object({ user: z.string() }) })
    const made = await all.runtime()
    for (const [id, of] of [
      ['a', needy],
      ['b', needy],
      ['c', definition],
    ] as const) {
      const agent = await made.spawn(
        of as typeof definition,
        { id, metadata: { user: id }, deps: { user: id } } as never,
      )
      agent.schedule({ id: 'x', every: 60_000, prompt: 'Go.' })
    }
    await made.close()
    const warned: string[] = []
    const logger = {
      debug() {},
      info() {},
      error() {},
      warn: (fields: object, text: string) => void warned.push(`${JSON.stringify(fields)} ${text}`),
    }
    const second = await all.runtime({ logger })
    second.wake({
      definitions: [needy],
      deps: ({ id, metadata }) => (id === 'a' ? { user: metadata!['user'] } : undefined),
      everyMs: 1_000,
    })
    await all.clock.advance(300_000)
    assert.is((await all.startsOf('a')).length, 5)
    assert.equal([await all.startsOf('b'), await all.startsOf('c')], [[], []])
    assert.is(warned.length, 2, warned.join('\n'))
    assert.ok(warned.some((text) => text.includes('"agentId":"c"') && text.includes('"worker"')))
    await all.clock.advance(3_600_000)
    assert.is(warned.length, 4)
  })

  it('goes on with a run of a schedule whose process is gone', async (context) => {
    const all = house(context)
    const gate = Promise.withResolvers<string>()
    let asked = 0
    const model = policyModel(() => ((asked += 1) === 1 ? gate.promise : 'fine'))
    const slow = defineAgent({ name: 'worker', model })
    await asleep(all, ['a'], slow)
    const { runtime, clock, startsOf, store } = all
    const first = await runtime()
    const waker = first.wake({ definitions: [slow], everyMs: 1_000 })
    await clock.advance(60_500)
    await quiet()
    assert.is(asked, 1)
    assert.equal((await store.timers!.due(start + 60_000)).length, 1)
    // It is released in the middle of its work, as if its process had died.
    await waker.close()
    gate.resolve('late')
    assert.is(first.agent('a'), undefined)
    const second = await runtime()
    second.wake({ definitions: [slow], everyMs: 1_000 })
    await clock.advance(2_000)
    await quiet()
    assert.is(asked, 2)
    assert.is((await startsOf('a')).filter((id) => id.startsWith('schedule/')).length, 1)
    assert.equal(
      (await store.timers!.due(start + 10 ** 6)).map(({ due }) => due - start),
      [120_000],
    )
  })

  it('is refused without an index of times, and with options that it does not have', async (context) => {
    const { store, runtime } = house(context)
    const { timers: _, ...bare } = store
    const blind = await runtime({ store: { ...bare, close: async () => {} } })
    assert.throws(() => blind.wake({ definitions: [] }), failsWith('INVALID_OPTION', 'no index of times'))
    const made = await runtime()
    assert.throws(() => made.wake({ definitions: [], every: 5 } as never), failsWith('INVALID_OPTION', 'every'))
    assert.throws(() => made.wake({ definitions: [], atOnce: 0 }), failsWith('INVALID_OPTION', 'atOnce'))
    const waker = made.wake({ definitions: [] })
    await Promise.all([waker.close(), waker.close()])
    await made.close()
    assert.throws(() => made.wake({ definitions: [] }), failsWith('RUNTIME_CLOSED'))
  })
})
