import {
  comesLate,
  expectedTurns,
  isUncached,
  measure,
  unmeasured,
  wentOn,
  withRun,
  type Measured,
} from '../../src/conversation/limits/tokenCounter.ts'
import { assert, describe } from '../support/suite.ts'

interface Seen {
  readonly input?: number
  readonly read?: number
  readonly model?: string
  readonly time?: number
  readonly estimated?: true
}

/** The measurements after replies to requests of so many tokens, of which so many came from the cache. */
const after = (...seen: readonly Seen[]): Measured =>
  seen.reduce<Measured>((before, { input = 0, read = 0, model = 'm', time = 0, estimated }) => {
    const usage = { input, output: 1, cacheRead: read, cacheWrite: 0, ...(estimated && { estimated }) }
    const message = { role: 'assistant', content: [], stopReason: 'stop', usage, model } as const
    return measure(before, { message, estimatedTokens: 0, time })
  }, unmeasured)

const misses = (count: number): Seen[] => Array.from({ length: count }, (_, n) => ({ input: 10_000 + n }))

describe('what a provider’s cache is measured to hold', (it) => {
  it('is all of it until two requests in a row are large enough', () => {
    assert.is(after().cachedShare, 1)
    assert.is(after({ input: 10_000 }).cachedShare, 1)
    assert.is(after({ input: 900 }, { input: 1_000 }, { input: 1_100 }).cachedShare, 1)
  })

  it('stays all of it while the whole request before is read', () => {
    const held = after({ input: 10_000 }, { input: 500, read: 10_000 }, { input: 900, read: 10_500 })
    assert.is(held.cachedShare, 1)
    assert.is(held.unread, 0)
  })

  it('falls towards what is read, the newest counting most', () => {
    assert.ok(Math.abs(after(...misses(2)).cachedShare - 0.9) < 1e-9)
    assert.ok(after(...misses(40)).cachedShare < 0.02)
    const half = after({ input: 10_000 }, { input: 6_000, read: 5_000 })
    assert.ok(Math.abs(half.cachedShare - 0.95) < 1e-9)
  })

  it('says nothing of a request that does not begin with the one before', () => {
    assert.is(after({ input: 10_000 }, { input: 6_000 }).cachedShare, 1)
    assert.is(after({ input: 10_000 }, { input: 12_000, model: 'other' }).cachedShare, 1)
    assert.is(after({ input: 10_000 }, { input: 12_000, estimated: true }).cachedShare, 1)
  })

  it('says nothing of a function that stands in for a model, unless it plays a cache', () => {
    const model = 'embedded:long'
    assert.is(after({ input: 10_000, model }, { input: 11_000, model }).cachedShare, 1)
    const played = after({ read: 10_000, model }, { input: 11_000, model })
    assert.ok(played.cachedShare < 1)
  })

  it('counts the requests in a row that had nothing, though they came soon', () => {
    assert.is(after(...misses(4)).unread, 3)
    assert.is(after(...misses(4), { input: 1, read: 10_003 }).unread, 0)
    const late = { input: 20_000, time: 300_000 }
    assert.equal([after(...misses(4), late).unread, after(...misses(4), late).cachedShare < 0.9 ** 3], [3, true])
  })
})

describe('a cache that is not there', (it) => {
  it('is known from three requests in a row, also of a provider that reports nothing of one, until one is read', () => {
    const counts = [2, 3, 4, 9].map((count) => isUncached(after(...misses(count))))
    assert.equal(counts, [false, false, true, true])
    assert.is(isUncached(after(...misses(9), { input: 1, read: 10_008 })), false)
    assert.is(isUncached(unmeasured), false)
  })
})

/** The measurements after replies that came so many minutes after one another. */
const pausing = (...minutes: readonly number[]): Measured => {
  let time = 0
  return minutes.reduce<Measured>((before, pause) => {
    time += pause * 60_000
    const usage = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0 }
    const message = { role: 'assistant', content: [], stopReason: 'stop', usage, model: 'm' } as const
    return measure(wentOn(before, { time }), { message, estimatedTokens: 0, time })
  }, unmeasured)
}
const again = (measured: Measured, pause: number): boolean =>
  comesLate(wentOn(measured, { time: measured.repliedAt! + pause * 60_000 }))

describe('requests that come late', (it) => {
  it('make a longer lifetime pay when two of twenty do, with the one that is about to be made', () => {
    assert.is(again(pausing(0, 1, 1), 10), false)
    assert.is(again(pausing(0, 10, 1), 10), true)
    assert.is(again(pausing(0, 10, 10), 1), true)
    const soon = (count: number): number[] => Array.from({ length: count }, () => 1)
    assert.is(again(pausing(0, 10, ...soon(18)), 10), true)
    assert.is(again(pausing(0, 10, ...soon(19)), 10), false)
  })

  it('count from five minutes to an hour: no longer lifetime outlasts a week', () => {
    for (const [pause, isLate] of [
      [4.99, false],
      [5, true],
      [59.9, true],
      [60, false],
      [7 * 24 * 60, false],
    ] as const)
      assert.is(again(pausing(0, pause), pause), isLate, `${pause}`)
  })

  it('are told by the newest result, run or turn, and forgotten with the next reply', () => {
    const first = wentOn(pausing(0), { time: 60_000 })
    assert.is(wentOn(first, { time: 120_000 }).pause, 120_000)
    assert.is(wentOn(first, { time: -5 }).pause, 0)
    assert.is(pausing(0, 5).pause, undefined)
    assert.is(wentOn(unmeasured, { time: 1 }), unmeasured)
  })
})

describe('the length of runs', (it) => {
  const runs = (...turns: readonly number[]): Measured =>
    turns.reduce<Measured>(
      (before, each) => withRun(before, { name: '__proto__', spent: { usage: {} as never, costUsd: 0, turns: each } }),
      unmeasured,
    )

  it('is known of two, and the shortest of the newest eight counts', () => {
    assert.equal(
      [runs(), runs(9), runs(9, 40), runs(3, ...Array.from({ length: 8 }, () => 40))].map((measured) =>
        expectedTurns(measured, '__proto__'),
      ),
      [undefined, undefined, 9, 40],
    )
    assert.is(expectedTurns(runs(9, 9), 'other'), undefined)
    assert.is(withRun(unmeasured, { name: 'a' }), unmeasured)
  })
})
