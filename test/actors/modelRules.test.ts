import { fallback } from '../../packages/models/src/fallback.ts'
import { heardGate } from '../../src/actors/models/heardGate.ts'
import { gateOf } from '../../packages/runtime/src/limits/gateOf.ts'
import { MinuteWindow } from '../../packages/runtime/src/limits/minuteWindow.ts'
import { ModelQueue } from '../../packages/runtime/src/limits/modelQueue.ts'
import { requestDifference } from '../../packages/evaluation/src/testing/requestDifference.ts'
import { router } from '../../packages/models/src/router.ts'
import { through } from '../../src/actors/models/openStream.ts'
import type { Model, ModelPart, ModelRequest } from '../../src/protocol/ports/model.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { delta, quiet } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const request: ModelRequest = { system: '', messages: [], tools: [], settings: {} }

describe('a model that must be heard', (it) => {
  const ms = 100
  /** A model whose parts come when they are given. */
  function told() {
    const clock = simulatedClock(0)
    let next = Promise.withResolvers<IteratorResult<ModelPart>>()
    let [returns, asked] = [0, 0]
    const model: Model = {
      id: 'm',
      stream: () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => {
            asked += 1
            return next.promise
          },
          return: async () => {
            returns += 1
            return { done: true, value: undefined }
          },
        }),
      }),
    }
    const abort = new AbortController()
    const heard = through(heardGate(undefined, { clock, ms }), model)
    const parts = heard.stream(request, { signal: abort.signal })[Symbol.asyncIterator]()
    const give = async (part: ModelPart | undefined): Promise<void> => {
      const before = next
      next = Promise.withResolvers()
      before.resolve(part === undefined ? { done: true, value: undefined } : { done: false, value: part })
      await quiet()
    }
    return { clock, parts, give, abort, fail: (why: Error) => next.reject(why), seen: () => ({ returns, asked }) }
  }
  const silence = { kind: 'network', message: `The model said nothing for ${ms} ms.` }

  it('is left once it says nothing for that long, counted from each part that is asked for', async () => {
    const { clock, parts, give, seen } = told()
    for (let at = 0; at < 3; at += 1) {
      const part = parts.next()
      await clock.advance(ms - 1)
      await give(delta('x'))
      assert.equal((await part).value, delta('x'))
      // Time in which nobody asks for a part does not count.
      await clock.advance(ms * 3)
    }
    const part = parts.next()
    await clock.advance(ms * 2)
    const { value, done } = await part
    assert.equal([done, value], [false, { type: 'error', error: silence }])
    assert.equal([clock.pending, seen().returns], [0, 1])
  })

  it('leaves no timer however it ends', async () => {
    const done = { type: 'done', reply: {} } as unknown as ModelPart
    const error = { type: 'error', error: { kind: 'auth', message: 'no' } } as ModelPart
    for (const [what, end] of Object.entries({
      done: async ({ parts, give }: ReturnType<typeof told>) => {
        const part = parts.next()
        await give(done)
        await part
      },
      error: async ({ parts, give }: ReturnType<typeof told>) => {
        const part = parts.next()
        await give(error)
        await part
      },
      over: async ({ parts, give }: ReturnType<typeof told>) => {
        const part = parts.next()
        await give(undefined)
        await part
      },
      thrown: async ({ parts, fail }: ReturnType<typeof told>) => {
        const part = parts.next()
        fail(new Error('broken'))
        await assert.rejects(part, /broken/)
      },
      aborted: async ({ parts, abort }: ReturnType<typeof told>) => {
        void parts.next().catch(() => {})
        abort.abort()
      },
      left: async ({ parts, seen }: ReturnType<typeof told>) => {
        void parts.next()
        await parts.return!()
        assert.is(seen().returns, 1)
      },
    })) {
      const scene = told()
      const first = scene.parts.next()
      await scene.give(delta('x'))
      await first
      assert.is(scene.clock.pending, 1)
      await end(scene)
      await quiet()
      assert.is(scene.clock.pending, 0, what)
    }
  })

  it('has no timer when it was aborted before', async () => {
    const model: Model = {
      id: 'm',
      stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }),
    }
    const clock = simulatedClock(0)
    const parts = through(heardGate(undefined, { clock, ms }), model).stream(request, { signal: AbortSignal.abort() })
    void parts[Symbol.asyncIterator]().next()
    await quiet()
    assert.is(clock.pending, 0)
  })
})

describe('what was used in a minute', (it) => {
  it('is what a plain list says, over hundreds of calls and corrections', () => {
    const window = new MinuteWindow()
    const plain: { at: number; amount: number }[] = []
    let [now, seed] = [0, 7]
    const roll = (below: number): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((seed / 2 ** 32) * below)
    }
    const kept: ReturnType<MinuteWindow['add']>[] = []
    for (let step = 0; step < 1_500; step += 1) {
      now += roll(step % 200 < 150 ? 300 : 3_000)
      const amount = 1 + roll(9)
      kept.push(window.add(amount, now))
      plain.push({ at: now, amount })
      if (roll(3) === 0) {
        const at = Math.max(0, kept.length - 1 - roll(300))
        const corrected = roll(12)
        window.correct(kept[at]!, corrected, now)
        plain[at]!.amount = corrected
      }
      const wanted = 1 + roll(60)
      const limit = 40 + roll(400)
      const counts = plain.filter(({ at }) => at + 60_000 > now)
      let excess = counts.reduce((sum, one) => sum + one.amount, 0) + wanted - limit
      let fits = excess <= 0 ? now : Infinity
      for (const { at, amount: used } of counts) {
        if (excess <= 0) break
        excess -= used
        if (excess <= 0) fits = at + 60_000
      }
      assert.is(window.fitsAt(wanted, limit, now), fits, `step ${step}`)
    }
  })
})

describe('the queue before models', (it) => {
  it('lets go of those that do not wait for a pause, when it begins and before, and serves the rest', async () => {
    const clock = simulatedClock(0)
    const queue = new ModelQueue({ concurrency: 1 }, clock)
    const got: string[] = []
    const enter = (name: string, unlessPaused: boolean): void =>
      void queue
        .enter({
          model: 'p:m',
          root: name,
          tokens: () => 1,
          signal: new AbortController().signal,
          unlessPaused,
          waits: () => {},
        })
        .then((permit) => {
          got.push(`${name} ${permit === undefined ? 'let go' : 'begins'}`)
          if (permit !== undefined && name !== 'first') permit.leave()
          if (name === 'first') first = permit
        })
    let first: Awaited<ReturnType<ModelQueue['enter']>>
    enter('first', false)
    await quiet()
    enter('patient', false)
    enter('hasty', true)
    await quiet()
    queue.pause('p:m', 1_000)
    queue.pause('other', 1_000)
    await quiet()
    assert.equal(got, ['first begins', 'hasty let go'])
    enter('later', true)
    await quiet()
    assert.equal([got.at(-1), queue.pausedMs('p:m')], ['later let go', 1_000])
    first!.leave()
    first!.leave()
    await clock.advance(999)
    assert.is(got.length, 3)
    // A shorter pause shortens nothing.
    queue.pause('p:m', 0)
    await clock.advance(1)
    assert.equal([got.at(-1), clock.pending], ['patient begins', 0])
  })

  it('lets others through at once where the one that they waited behind has given up', async () => {
    const clock = simulatedClock(0)
    const queue = new ModelQueue({ tokensPerMinute: 10 }, clock)
    const begun: string[] = []
    const enter = (root: string, tokens: number): AbortController => {
      const abort = new AbortController()
      const entry = { model: 'p:m', root, tokens: () => tokens, signal: abort.signal, waits: () => {} }
      void queue.enter(entry).then((permit) => permit !== undefined && begun.push(root))
      return abort
    }
    enter('a', 6)
    const large = enter('b', 8)
    enter('c', 4)
    await quiet()
    assert.equal(begun, ['a'])
    large.abort()
    await quiet()
    assert.equal([begun, clock.pending], [['a', 'c'], 0])
  })

  it('waits for the latest of its limits', async () => {
    for (const order of [0, 1]) {
      const limits = [{ requestsPerMinute: 1 }, { match: 'p:*', tokensPerMinute: 10 }]
      const clock = simulatedClock(0)
      const queue = new ModelQueue(order === 0 ? limits : limits.toReversed(), clock)
      const begun: number[] = []
      const enter = (tokens: number): void =>
        void queue
          .enter({
            model: 'p:m',
            root: 'a',
            tokens: () => tokens,
            signal: new AbortController().signal,
            waits: () => {},
          })
          .then((permit) => {
            begun.push(clock.now())
            permit!.leave()
          })
      enter(10)
      await clock.advance(1_000)
      enter(10)
      await clock.advance(58_999)
      assert.equal(begun, [0])
      await clock.advance(1)
      assert.equal(begun, [0, 60_000])
      assert.is(clock.pending, 0)
    }
  })

  it('counts instructions, messages and tools where nobody says how many tokens there are', async () => {
    const tools = [{ name: 'look', description: 'x'.repeat(400), inputSchema: { type: 'object' } }]
    const tokensOf = async (more: Partial<ModelRequest>): Promise<number> => {
      let tokens = 0
      const queue = {
        enter: async (entry: { tokens(): number }) => void (tokens = entry.tokens()),
        pausedMs: () => 0,
      } as unknown as ModelQueue
      const gate = gateOf(queue, simulatedClock(0), { root: 'a', waits: () => () => {} })
      const model: Model = { id: 'm', stream: () => assert.unreachable('it was not let through') }
      const parts = gate.call(model, { ...request, ...more }, { signal: new AbortController().signal })
      for await (const part of parts) assert.is(part.type, 'error')
      return tokens
    }
    const [none, system, withTools] = [
      await tokensOf({}),
      await tokensOf({ system: 'y'.repeat(400) }),
      await tokensOf({ tools }),
    ]
    assert.is(none, 0)
    assert.ok(system >= 80 && system <= 150 && withTools > 100, `${system} ${withTools}`)
  })
})

describe('a router', (it) => {
  it('takes the models of the AI SDK for the same model each time, and stops with its reader', async () => {
    const chosen: string[] = []
    const answering = (id: string): Model => ({
      id,
      async *stream() {
        chosen.push(id)
        yield delta(id)
        yield delta('more')
      },
    })
    const models = [answering('a'), answering('b')]
    let n = 0
    const routed = router(() => models[n++ % 2]!)
    for (const id of ['a', 'b', 'a']) {
      const parts: ModelPart[] = []
      for await (const part of routed.stream(request, { signal: new AbortController().signal })) parts.push(part)
      assert.equal(parts, [{ type: 'model', model: id }, delta(id), delta('more')] as never)
    }
    assert.equal(chosen, ['a', 'b', 'a'])
    const silent = fallback([answering('a'), answering('b')])
    for await (const part of silent.stream(request, { signal: new AbortController().signal }))
      if (part.type === 'text.delta') break
    assert.equal(chosen.at(-1), 'a')
  })
})

describe('how one request differs from another', (it) => {
  it('is told in three places at most, and counted up to a limit', () => {
    const numbers = (count: number, more = 0) => Array.from({ length: count }, (_, n) => n + more)
    assert.is(requestDifference({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }), undefined)
    const counts = [1, 2, 3, 4, 10, 5_000].map((count) => requestDifference(numbers(count, 1), numbers(count)))
    assert.equal(
      counts.slice(0, 5).map((found) => found!.count),
      [1, 2, 3, 4, 10],
    )
    const most = counts[5]!.count
    assert.match(counts[5]!.text, `and at least ${most - shownIn(counts[5]!.text)} more`)
    for (const found of counts.slice(0, 5)) assert.not.match(found!.text, 'at least')
    const exact = requestDifference(numbers(most - 1, 1), numbers(most - 1))!
    assert.equal([exact.count, exact.text.includes('at least')], [most - 1, false])
    assert.match(requestDifference({ a: { 'b c': 1 } }, { a: {} })!.text, 'a["b c"]: expected 1')
  })

  const shownIn = (text: string): number => text.split(': expected ').length - 1
})
