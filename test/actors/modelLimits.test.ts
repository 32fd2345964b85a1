import * as fc from 'fast-check'
import { covers } from '../../packages/runtime/src/limits/modelLimit.ts'
import { MinuteWindow } from '../../packages/runtime/src/limits/minuteWindow.ts'
import { ModelQueue, type Permit } from '../../packages/runtime/src/limits/modelQueue.ts'
import type { ModelLimits } from '../../packages/runtime/src/limits/modelLimit.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { quiet, withCode } from '../support/agentHarness.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'

const start = 1_000_000

/** A queue under a simulated clock, with the calls that were let through, in order. */
function queueOf(limits: ModelLimits) {
  const clock = simulatedClock(start)
  const queue = new ModelQueue(limits, clock)
  const begun: { readonly name: string; readonly at: number; readonly permit: Permit }[] = []
  const waits: string[] = []
  const enter = (
    name: string,
    options: { root?: string; model?: string; tokens?: number; signal?: AbortSignal } = {},
  ) =>
    queue
      .enter({
        model: options.model ?? 'p:m',
        root: options.root ?? name.slice(0, 1),
        tokens: () => options.tokens ?? 1,
        signal: options.signal ?? new AbortController().signal,
        waits: (why, ahead) => void waits.push(`${name} ${why} ${ahead}`),
      })
      .then((permit) => {
        if (permit !== undefined) begun.push({ name, at: clock.now() - start, permit })
        return permit
      })
  return { clock, queue, begun, waits, enter, names: () => begun.map(({ name }) => name) }
}

describe('the ids that a limit is for', (it) => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['*', 'anthropic:x', true],
    ['anthropic:*', 'anthropic:x', true],
    ['anthropic:*', 'openai:x', false],
    ['*:x', 'anthropic:x', true],
    ['anthropic:x', 'anthropic:x', true],
    ['anthropic:x', 'anthropic:xy', false],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'a-c', false],
    ['ab*ba', 'aba', false],
    ['a*b*b', 'ab', false],
    ['a.c', 'abc', false],
  ]
  for (const [match, model, fits] of cases)
    it(`${match} ${fits ? 'is' : 'is not'} for ${model}`, () => assert.is(covers({ match }, model), fits))
})

describe('what was used in the last minute', (it) => {
  it('never exceeds the limit in any 60 seconds when each amount is added where it fits', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ amount: fc.integer({ min: 1, max: 10 }), gap: fc.nat(40_000) })), (uses) => {
        const window = new MinuteWindow()
        const added: { at: number; amount: number }[] = []
        let now = 0
        for (const { amount, gap } of uses) {
          now = Math.max(now + gap, window.fitsAt(amount, 10, now + gap))
          added.push(window.add(amount, now))
          const inMinute = added.filter(({ at }) => at > now - 60_000).reduce((sum, used) => sum + used.amount, 0)
          if (inMinute > 10) return false
        }
        return true
      }),
      { seed: 3, numRuns: someRuns(200) },
    )
  })

  it('counts what is corrected while it still counts', () => {
    const window = new MinuteWindow()
    const used = window.add(8, 0)
    assert.is(window.fitsAt(5, 10, 1), 60_000)
    window.correct(used, 2, 1)
    assert.is(window.fitsAt(5, 10, 1), 1)
    window.correct(used, 99, 60_000)
    assert.is(window.fitsAt(10, 10, 60_000), 60_000)
  })
})

describe('the queue for models', (it) => {
  it('lets as many through at once as may be, and the next when one has left', async () => {
    const { enter, begun, names, waits } = queueOf({ concurrency: 2 })
    for (const name of ['a1', 'b1', 'c1', 'd1']) void enter(name)
    await quiet()
    assert.equal(
      [names(), waits],
      [
        ['a1', 'b1'],
        ['c1 concurrency 0', 'd1 concurrency 1'],
      ],
    )
    begun[0]!.permit.leave()
    begun[0]!.permit.leave()
    await quiet()
    assert.equal(names(), ['a1', 'b1', 'c1'])
  })

  it('gives each root its turn, however many calls another has waiting', async () => {
    const { enter, begun, names } = queueOf({ concurrency: 1 })
    for (let n = 1; n <= 199; n++) void enter(`a${n}`)
    void enter('b1')
    void enter('c1')
    void enter('b2')
    for (let n = 0; n < 6; n++) {
      await quiet()
      begun.at(-1)!.permit.leave()
    }
    await quiet()
    assert.equal(names(), ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  })

  it('lets no more begin in 60 seconds than requestsPerMinute, and has one timer while anything waits', async () => {
    const { enter, begun, clock, names } = queueOf({ requestsPerMinute: 2 })
    void enter('a1')
    await clock.advance(10_000)
    void enter('a2')
    void enter('a3')
    void enter('a4')
    await quiet()
    for (const { permit } of begun) permit.leave()
    assert.equal([names(), clock.pending], [['a1', 'a2'], 1])
    await clock.advance(49_999)
    assert.equal(names(), ['a1', 'a2'])
    await clock.advance(1)
    assert.equal(names(), ['a1', 'a2', 'a3'])
    await clock.advance(10_000)
    assert.equal([names(), clock.pending], [['a1', 'a2', 'a3', 'a4'], 0])
  })

  it('counts a call as it was estimated until it says what it used', async () => {
    const { enter, begun, names } = queueOf({ tokensPerMinute: 100 })
    void enter('a1', { tokens: 60 })
    void enter('b1', { tokens: 60 })
    await quiet()
    assert.equal(names(), ['a1'])
    begun[0]!.permit.used(40)
    begun[0]!.permit.leave()
    await quiet()
    assert.equal(names(), ['a1', 'b1'])
  })

  it('keeps what has become free for the one that waits for it, though a smaller call would fit', async () => {
    const { enter, names, clock } = queueOf({ tokensPerMinute: 100 })
    void enter('a1', { tokens: 60 })
    void enter('b1', { tokens: 90 })
    void enter('c1', { tokens: 10 })
    await quiet()
    assert.equal(names(), ['a1'])
    await clock.advance(60_000)
    assert.equal(names(), ['a1', 'b1', 'c1'])
  })

  it('keeps a limit that models share for the one whose turn it is', async () => {
    const { enter, names, clock } = queueOf({ tokensPerMinute: 100 })
    void enter('a1', { tokens: 60 })
    await clock.advance(1_000)
    void enter('b1', { tokens: 90 })
    void enter('c1', { tokens: 10, model: 'q:m' })
    await quiet()
    assert.equal(names(), ['a1'])
    await clock.advance(60_000)
    assert.equal(names(), ['a1', 'b1', 'c1'])
  })

  it('refuses what can never fit, and says by how much', async () => {
    const { enter } = queueOf([{ tokensPerMinute: 100 }, { match: 'q:*', tokensPerMinute: 50 }])
    await assert.rejects(enter('a1', { tokens: 101 }), withCode('MODEL_LIMIT', '101', '100', 'p:m'))
    await assert.rejects(enter('a1', { model: 'q:m', tokens: 60 }), withCode('MODEL_LIMIT', '60', '50'))
    assert.ok((await enter('a2', { tokens: 100 })) !== undefined)
  })

  it('holds all limits that match, and none that does not', async () => {
    const { enter, names, begun } = queueOf([{ concurrency: 2 }, { match: 'p:*', concurrency: 1 }])
    for (const [name, model] of [
      ['a1', 'p:1'],
      ['a2', 'p:2'],
      ['a3', 'q:1'],
      ['a4', 'q:2'],
    ] as const)
      void enter(name, { model })
    await quiet()
    assert.equal(names(), ['a1', 'a3'])
    begun[0]!.permit.leave()
    await quiet()
    assert.equal(names(), ['a1', 'a3', 'a2'])
    const other = queueOf([{ match: 'p:*', concurrency: 1 }])
    await Promise.all([other.enter('a1', { model: 'x:1' }), other.enter('a2', { model: 'x:1' })])
    assert.equal(other.waits, [])
  })

  it('pauses a model as its provider asks, and only that, for at most ten minutes', async () => {
    const { queue, enter, names, clock, waits } = queueOf({})
    queue.pause('p:m', 5_000)
    queue.pause('p:m', 1_000)
    void enter('a1')
    void enter('b1', { model: 'q:m' })
    await quiet()
    assert.equal([names(), waits, queue.pausedMs('p:m')], [['b1'], ['a1 retryAfter 0'], 5_000])
    await clock.advance(5_000)
    assert.equal([names(), queue.pausedMs('p:m')], [['b1', 'a1'], 0])
    queue.pause('p:m', 36e5)
    assert.is(queue.pausedMs('p:m'), 600_000)
  })

  it('lets go of a call that is aborted while it waits, and of its timer', async () => {
    const { enter, names, clock, begun } = queueOf({ requestsPerMinute: 1, concurrency: 1 })
    const abort = new AbortController()
    void enter('a1')
    const second = enter('a2', { signal: abort.signal })
    const third = enter('b1')
    await quiet()
    abort.abort()
    assert.is(await second, undefined)
    begun[0]!.permit.leave()
    await clock.advance(60_000)
    await third
    assert.equal([names(), clock.pending], [['a1', 'b1'], 0])
    const late = new AbortController()
    const last = enter('c1', { signal: late.signal })
    await quiet()
    late.abort()
    assert.equal([await last, clock.pending], [undefined, 0])
    assert.is(await enter('d1', { signal: AbortSignal.abort() }), undefined)
  })

  it('serves no root twice while another has waited all along', { timeoutMs: 10_000 }, async () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c', 'd') },
      { weight: 2, arbitrary: fc.constant('leave') },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 50 }), async (steps) => {
        const { enter, begun, names } = queueOf({ concurrency: 1 })
        const waiting = new Map<string, number>()
        /** Requests that waited, by root, since the last turn of each root that had none. */
        const owed = new Map<string, Set<string>>()
        let left = 0
        let seen = 0
        for (const [nth, what] of [...steps, ...steps.map(() => 'leave')].entries()) {
          if (what === 'leave') begun[left++]?.permit.leave()
          else {
            waiting.set(what, (waiting.get(what) ?? 0) + 1)
            void enter(`${what}${nth}`)
          }
          left = Math.min(left, begun.length)
          await quiet()
          for (const name of names().slice(seen)) {
            const root = name.slice(0, 1)
            assert.equal([...(owed.get(root) ?? [])], [], `${root} was served again: ${names().join(' ')}`)
            for (const others of owed.values()) others.delete(root)
            waiting.set(root, waiting.get(root)! - 1)
            const others = [...waiting].filter(([other, count]) => other !== root && count > 0)
            owed.set(root, new Set(others.map(([other]) => other)))
          }
          seen = begun.length
        }
        assert.is(begun.length, steps.filter((what) => what !== 'leave').length)
      }),
      { seed: 5, numRuns: someRuns(60) },
    )
  })

  it(
    'serves everyone, in the end, within the limits, whatever happens in whatever order',
    { timeoutMs: 20_000 },
    async () => {
      const call = fc.record({
        root: fc.constantFrom('a', 'b', 'c'),
        model: fc.constantFrom('p:1', 'p:2', 'q:1'),
        tokens: fc.integer({ min: 1, max: 50 }),
        used: fc.integer({ min: 1, max: 80 }),
        aborts: fc.boolean(),
        leaves: fc.boolean(),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(call, { maxLength: 25 }), async (calls) => {
          const limits = [
            { concurrency: 3, tokensPerMinute: 100 },
            { match: 'p:*', concurrency: 2, requestsPerMinute: 4 },
          ]
          const { enter, begun, clock, queue } = queueOf(limits)
          const active = new Map<string, string>()
          const ended = new Set<string>()
          const check = (): void => {
            const models = [...active.values()]
            assert.ok(models.length <= 3 && models.filter((model) => model.startsWith('p')).length <= 2)
          }
          let expected = 0
          for (const [nth, { root, model, tokens, used, aborts, leaves }] of calls.entries()) {
            const name = `${root}${nth}`
            const abort = new AbortController()
            void enter(name, { root, model, tokens, signal: abort.signal }).then((permit) => {
              if (permit === undefined) return
              active.set(name, model)
              check()
              permit.used(used)
            })
            await quiet()
            if (aborts && !begun.some((each) => each.name === name)) abort.abort()
            else expected += 1
            const oldest = begun.find((each) => !ended.has(each.name))
            if (leaves && oldest !== undefined) {
              ended.add(oldest.name)
              active.delete(oldest.name)
              oldest.permit.leave()
            }
          }
          for (let rounds = 0; ended.size < expected && rounds < 200; rounds++) {
            await clock.advance(60_000)
            for (const each of begun.filter(({ name }) => !ended.has(name))) {
              ended.add(each.name)
              active.delete(each.name)
              each.permit.leave()
            }
          }
          assert.is(begun.length, expected)
          assert.is(clock.pending, 0)
          assert.is(queue.pausedMs('p:1'), 0)
        }),
        { seed: 11, numRuns: someRuns(60) },
      )
    },
  )

  it('is quick with ten thousand that wait', { timeoutMs: 10_000 }, async () => {
    const { enter, begun, clock } = queueOf({ concurrency: 1, requestsPerMinute: 100_000 })
    const all = Array.from({ length: 10_000 }, (_, nth) =>
      enter(`x${nth}`, { root: `r${nth % 5_000}` }).then((permit) => permit?.leave()),
    )
    await Promise.all(all)
    assert.equal([begun.length, clock.pending], [10_000, 0])
  })
})
