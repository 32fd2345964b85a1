import { getEventListeners } from 'node:events'
import { z } from 'zod'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { each } from '../src/each.ts'
import type { EachOptions } from '../src/eachTypes.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { never, withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

const rated = z.object({ n: z.number() })

/** An agent that doubles; it counts what it is asked, and `answer` may stand in for an answer. */
function doubler(answer: (text: string) => unknown = () => undefined) {
  const asked: string[] = []
  const model = policyModel(async ({ messages }) => {
    const text = textOf(messages[0]!.content.slice(0, 1))
    asked.push(text)
    const said = await answer(text)
    return typeof said === 'string' ? said : JSON.stringify({ n: Number(text) * 2 })
  })
  const pricing = { input: 1_000, output: 1_000 }
  return { asked, agent: defineAgent({ name: 'doubler', model, output: rated, pricing, retry: { attempts: 1 } }) }
}

async function begin({ cleanup }: CaseContext, store: Store = memoryStore()) {
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close())
  return runtime
}

/** A store that outlives its runtime. */
function lasting(): Store {
  const { close: _, ...store } = memoryStore()
  return { ...store, close: async () => {} }
}

const numbered: EachOptions<number> & { prompt(input: number): string } = { prompt: (n) => `${n}`, key: (n) => n }

describe('each', (it) => {
  it('has an answer for each input, as data and in their order, so many at a time', async (context) => {
    const way = { under: 0, most: 0 }
    const { agent, asked } = doubler(async (text) => {
      way.most = Math.max(way.most, (way.under += 1))
      for (let turns = 20 - Number(text); turns > 0; turns -= 1) await new Promise(setImmediate)
      way.under -= 1
    })
    const batch = each(await begin(context), agent, ['1', '2', '3', '4', '5'], { concurrency: 2 })
    const { items, left, stopped, costUsd, usage } = await batch.result
    assert.equal(
      items.map(({ output }) => output?.n),
      [2, 4, 6, 8, 10],
    )
    assert.equal([way.most, asked.length, left, stopped], [2, 5, [], null])
    assert.ok(costUsd > 0 && usage.output > 0)
  })

  it('tells how far it is, to whoever asks late too', async (context) => {
    const { agent } = doubler((text) => (text === '2' ? 'no number' : undefined))
    const batch = each(await begin(context), agent, [1, 2, 3], { ...numbered, concurrency: 1, limits: { turns: 2 } })
    await batch.result
    const seen: unknown[] = []
    for await (const { item, done, total, failed, stored } of batch) seen.push([item.key, done, total, failed, stored])
    assert.equal(seen, [
      ['1', 1, 3, 0, 0],
      ['2', 2, 3, 1, 0],
      ['3', 3, 3, 1, 0],
    ])
  })

  it('tells of each as it is done, to whoever listens meanwhile, and leaves nothing on its signal', async (context) => {
    const gates = [0, 1, 2].map(() => Promise.withResolvers<undefined>())
    const { agent } = doubler((text) => gates[Number(text)]!.promise)
    const { signal } = new AbortController()
    const batch = each(await begin(context), agent, [0, 1, 2], { ...numbered, concurrency: 3, signal })
    const [one, other] = [batch, batch].map((listened) => listened[Symbol.asyncIterator]())
    for (const [done, index] of [1, 0, 2].entries()) {
      const nexts = [one!.next(), other!.next()]
      gates[index]!.resolve(undefined)
      for (const { value } of await Promise.all(nexts))
        assert.equal([value.item.key, value.done], [`${index}`, done + 1])
    }
    assert.is((await batch.result).items.length, 3)
    assert.equal(await Promise.all([one!.next(), other!.next()]).then((ends) => ends.map(({ done }) => done)), [
      true,
      true,
    ])
    assert.equal(getEventListeners(signal, 'abort'), [])
  })

  it('has no answer in a stored one that does not fit what is asked for now, and asks again if told to', async (context) => {
    const store = lasting()
    const before = await createRuntime({ store })
    await each(before, doubler().agent, [1], numbered).result
    await before.close()
    const runtime = await begin(context, store)
    const model = policyModel(() => '{"m":"two"}')
    const other = defineAgent({ name: 'doubler', model, output: z.object({ m: z.string() }), retry: { attempts: 1 } })
    const { items } = await each(runtime, other, [1], numbered).result
    assert.equal(
      [items[0]!.status, items[0]!.status === 'failed' && items[0]!.error.code],
      ['failed', 'OUTPUT_INVALID'],
    )
    const again = await each(runtime, other, [1], { ...numbered, retry: true }).result
    assert.equal([again.items[0]!.status, again.items[0]!.output], ['ok', { m: 'two' }])
  })

  it('goes on after one that fails, and says why', async (context) => {
    const { agent } = doubler((text) => (text === '2' ? 'no number' : undefined))
    const { items } = await each(await begin(context), agent, [1, 2, 3], {
      ...numbered,
      prompt(n) {
        if (n === 3) throw new Error('no third')
        return `${n}`
      },
    }).result
    assert.equal(
      items.map(({ status, error }) => [status, error?.code]),
      [
        ['ok', undefined],
        ['failed', 'OUTPUT_INVALID'],
        ['failed', 'INVALID_CONTENT'],
      ],
    )
    assert.match(items[2]!.error!.message, /prompt of input 3 failed: no third/)
  })

  it('asks nothing twice, and gives the stored answers with their types', async (context) => {
    const store = lasting()
    const first = doubler()
    const before = await createRuntime({ store })
    const { costUsd } = await each(before, first.agent, ['1', '2']).result
    await before.close()
    const second = doubler()
    const runtime = await begin(context, store)
    const batch = each(runtime, second.agent, ['2', '1', '3'])
    const { items, costUsd: all } = await batch.result
    assert.equal(second.asked, ['3'])
    const sum: number = items.reduce((total, item) => total + (item.status === 'ok' ? item.output.n : 0), 0)
    assert.is(sum, 12)
    assert.ok(all > costUsd)
    let stored = 0
    for await (const progress of batch) ({ stored } = progress)
    assert.is(stored, 2)
    assert.equal(runtime.agents(), [])
  })

  it('keeps what failed, unless it is to be tried again', async (context) => {
    const store = lasting()
    const { agent, asked } = doubler(() => 'no')
    const runtime = await begin(context, store)
    const failing = await each(runtime, agent, [1], numbered).result
    const times = asked.length
    assert.is((await each(runtime, agent, [1], numbered).result).items[0]!.status, 'failed')
    assert.is(asked.length, times)
    const mended = doubler()
    const { items } = await each(runtime, mended.agent, [1], { ...numbered, retry: true }).result
    assert.equal([failing.items[0]!.status, items[0]!.output], ['failed', { n: 2 }])
  })

  it('goes on with a run that a limit paused, if it is to be tried again', async (context) => {
    const runtime = await begin(context)
    const look = defineTool({ name: 'look', description: 'Looks.', input: z.object({}), run: () => 'seen' })
    const model = scriptedModel([{ toolCalls: [{ name: 'look', input: {} }] }, 'done'])
    const agent = defineAgent({ name: 'looker', model, tools: [look] })
    const paused = await each(runtime, agent, ['a'], { limits: { turns: 1 } }).result
    assert.equal([paused.items[0]!.status, paused.items[0]!.error?.code], ['failed', 'LIMIT_REACHED'])
    const { items } = await each(runtime, agent, ['a'], { limits: { turns: 2 }, retry: true }).result
    assert.ok(items[0]!.status === 'ok' && items[0]!.text === 'done')
    assert.is(model.requests.length, 2)
  })
})

describe('the budget of each', (it) => {
  it('begins no more once it is used up, and says which are left', async (context) => {
    const store = lasting()
    const runtime = await begin(context, store)
    const { agent, asked } = doubler()
    const one = await each(runtime, agent, [1], numbered).result
    const options = { ...numbered, concurrency: 1, budget: { costUsd: 2.5 * one.costUsd } }
    const { items, left, stopped } = await each(runtime, agent, [1, 2, 3, 4, 5], options).result
    assert.equal([asked, stopped, left.map(({ key }) => key)], [['1', '2', '3'], 'budget', ['4', '5']])
    assert.equal(
      items.map(({ status }) => status),
      ['ok', 'ok', 'ok', 'left', 'left'],
    )
    const again = await each(runtime, agent, [5, 3, 2, 1], options).result
    assert.equal([asked.length, again.left.map(({ key }) => key), again.costUsd], [3, ['5'], 3 * one.costUsd])
    const tokens = { ...numbered, concurrency: 1, budget: { tokens: 1 } }
    assert.equal((await each(runtime, agent, [1, 2, 3, 6], tokens).result).stopped, 'budget')
    assert.is((await each(runtime, agent, [1, 2, 3], tokens).result).stopped, null)
  })
})

describe('each, once it is aborted', (it) => {
  it('lets go of what is under way, which goes on the next time', async (context) => {
    const store = lasting()
    const runtime = await begin(context, store)
    const begun = Promise.withResolvers<void>()
    const held = doubler((text) => (text === '2' ? (begun.resolve(), never) : undefined))
    const aborting = new AbortController()
    const batch = each(runtime, held.agent, [1, 2, 3], { ...numbered, concurrency: 1, signal: aborting.signal })
    await begun.promise
    aborting.abort()
    const { items, left, stopped } = await batch.result
    assert.equal([items.map(({ status }) => status), stopped], [['ok', 'left', 'left'], 'aborted'])
    assert.equal(
      left.map(({ agentId }) => agentId),
      ['doubler-2', 'doubler-3'],
    )
    assert.equal(runtime.agents(), [])
    const types: string[] = []
    for await (const { type } of store.read('doubler-2', 1)) types.push(type)
    assert.not.ok(types.includes('run.end'))
    const { agent, asked } = doubler()
    const whole = await each(runtime, agent, [1, 2, 3], numbered).result
    assert.equal(
      [whole.items.map(({ output }) => output?.n), asked],
      [
        [2, 4, 6],
        ['2', '3'],
      ],
    )
    const over = await each(runtime, agent, [4], { ...numbered, signal: AbortSignal.abort() }).result
    assert.equal([over.stopped, over.left.length, asked.length], ['aborted', 1, 2])
  })

  it('leaves what could not be opened any more, and tells of no failure', async (context) => {
    const aborting = new AbortController()
    const open = (): never => {
      aborting.abort()
      throw new Error('the disk is away')
    }
    const { agent, asked } = doubler()
    const runtime = await begin(context, { ...memoryStore(), open })
    const { items, stopped } = await each(runtime, agent, [1, 2], { ...numbered, signal: aborting.signal }).result
    assert.equal([items.map(({ status }) => status), stopped, asked], [['left', 'left'], 'aborted', []])
  })

  it('asks again what an end of the runtime aborted', async (context) => {
    const store = lasting()
    const before = await createRuntime({ store })
    const begun = Promise.withResolvers<void>()
    const held = doubler(() => (begun.resolve(), never))
    const batch = each(before, held.agent, [1, 2], { ...numbered, concurrency: 1 })
    await begun.promise
    await before.close()
    const { left, stopped } = await batch.result
    assert.equal([left.length, stopped], [2, 'closed'])
    const { items } = await each(await begin(context, store), doubler().agent, [1, 2], numbered).result
    assert.equal(
      items.map(({ output }) => output?.n),
      [2, 4],
    )
  })
})

describe('each with wrong options', (it) => {
  const { agent } = doubler()
  const wrong = [
    [
      'two inputs of one key',
      'INVALID_OPTION',
      /inputs 1 and 3 have the same key "x"/,
      [1, 2, 3],
      { key: (n: number) => (n === 2 ? 'y' : 'x') },
    ],
    [
      'two equal inputs',
      'INVALID_OPTION',
      /inputs 1 and 2 are the same: leave one out, or give each a key/,
      [1, 1],
      {},
    ],
    ['a key that is no part of an id', 'INVALID_ID', /input 1 has the key "a\/b"/, [1], { key: () => 'a/b' }],
    ['an input that JSON cannot hold', 'INVALID_OPTION', /input 1 cannot be told in JSON: give a key/, [1n], {}],
    ['inputs that are no texts', 'INVALID_OPTION', /input 1 is no text: say with prompt/, [1], { prompt: undefined }],
    ['an unknown option', 'INVALID_OPTION', /concurency/, [1], { concurency: 3 }],
    ['a concurrency of 0', 'INVALID_OPTION', /concurrency/, [1], { concurrency: 0 }],
    ['no list', 'INVALID_OPTION', /list of inputs/, 'abc', {}],
  ] as const
  for (const [name, code, text, inputs, options] of wrong)
    it(`refuses ${name} before anything begins`, async (context) => {
      const runtime = await begin(context)
      const fits = (thrown: unknown): boolean => withCode(code)(thrown) && text.test((thrown as Error).message)
      assert.throws(() => each(runtime, agent, inputs as never, { prompt: String, ...options } as never), fits)
      assert.equal(runtime.agents(), [])
    })

  it('refuses a budget of dollars without prices, what is no definition, and an agent', async (context) => {
    const runtime = await begin(context)
    const free = defineAgent({ name: 'free', model: policyModel(() => 'x') })
    assert.throws(() => each(runtime, free, ['a'], { budget: { costUsd: 1 } }), /has no pricing/)
    assert.throws(() => each(runtime, {} as typeof free, ['a']), withCode('INVALID_DEFINITION'))
    assert.throws(() => each({} as typeof runtime, free, ['a']), withCode('INVALID_OPTION'))
    assert.equal(await each(runtime, free, []).result, {
      items: [],
      left: [],
      stopped: null,
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      costUsd: 0,
    })
  })
})
