import { measure, unmeasured, type Measured } from '../../src/conversation/limits/measured.ts'
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
