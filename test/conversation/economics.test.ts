import { economicsOf, reshapingFactor, usualPrices, type Reshaping } from '../../src/conversation/limits/economics.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import { assert, describe } from '../support/suite.ts'

const usedBy = (cacheRead: number, output: number) => ({ ...noUsage, cacheRead, output })

/** Cost of a number of requests with and without it, request by request. */
function costs(reshaping: Reshaping, requests: number): { without: number; withIt: number } {
  const { before, after, unchanged, used = noUsage } = reshaping
  const { input, output, cacheRead, cacheWrite } = usualPrices
  let withIt = used.input * input + used.output * output + used.cacheRead * cacheRead + used.cacheWrite * cacheWrite
  for (let n = 0; n < requests; n++)
    withIt += n === 0 ? unchanged * cacheRead + (after - unchanged) * cacheWrite : after * cacheRead
  return { without: before * cacheRead * requests, withIt }
}

describe('the economics of a reshaping', (it) => {
  it('count what comes off, less the notes, and what the cache cannot serve', () => {
    const { freed, rewritten } = economicsOf({ before: 10_000, after: 6_100, unchanged: 6_000 })
    assert.equal({ freed, rewritten }, { freed: 3_900, rewritten: 100 })
  })

  it('pay after as many requests as the guide says', () => {
    // A prompt of 20,000 tokens, a call of 80, a note of 60.
    const used = usedBy(20_000, 80)
    const abandon = (span: number) =>
      economicsOf({ before: 20_000, after: 20_060 - span, unchanged: 20_000 - span, used }).paysAfter
    assert.is(abandon(4_000), 7)
    assert.is(abandon(300), 103)
  })

  it('pay in the first request in which the sum is lower with it than without', () => {
    for (const reshaping of [
      { before: 10_000, after: 6_100, unchanged: 6_000 },
      { before: 10_000, after: 6_100, unchanged: 0 },
      { before: 10_000, after: 9_000, unchanged: 500, used: usedBy(9_500, 70) },
      { before: 100, after: 99, unchanged: 98, used: { ...noUsage, input: 7_777, cacheWrite: 13 } },
      { before: 5, after: 0, unchanged: 0 },
    ] satisfies Reshaping[]) {
      const pays = economicsOf(reshaping).paysAfter!
      const [last, first] = [costs(reshaping, pays - 1), costs(reshaping, pays)]
      assert.ok(first.withIt < first.without, `${pays} requests pay`)
      assert.ok(pays === 1 || last.withIt >= last.without, `${pays - 1} requests do not`)
    }
  })

  it('never pay when nothing comes off', () => {
    assert.equal(economicsOf({ before: 100, after: 140, unchanged: 50 }), {
      freed: -40,
      rewritten: 90,
      paysAfter: null,
    })
    assert.is(economicsOf({ before: 100, after: 100, unchanged: 100 }).paysAfter, null)
  })

  it('follow the prices of the model: without a dearer write only asking costs', () => {
    const sizes = { before: 10_000, after: 5_000, unchanged: 0 }
    const flat = { input: 3, output: 15 }
    assert.is(economicsOf({ ...sizes, prices: flat }).paysAfter, 1)
    assert.is(economicsOf({ ...sizes, prices: flat, used: usedBy(10_000, 1_000) }).paysAfter, 4)
    assert.is(economicsOf({ ...sizes, prices: { ...flat, cacheRead: 0.3, cacheWrite: 3.75 } }).paysAfter, 12)
    assert.is(economicsOf({ ...sizes, prices: null }).paysAfter, 12)
  })

  it('count what the cache does not hold as paid in full, so that a reshaping is cheap where it is never read', () => {
    const sizes = { before: 10_000, after: 5_000, unchanged: 0 }
    assert.equal(economicsOf({ ...sizes, cachedShare: 1 }), economicsOf(sizes))
    const pays = [1, 0.9, 0.5, 0].map((cachedShare) => economicsOf({ ...sizes, cachedShare }).paysAfter)
    assert.equal(pays, [12, 6, 2, 1])
    const read = { input: 10, output: 50, cacheRead: 1 }
    assert.is(economicsOf({ ...sizes, prices: read, cachedShare: 0 }).paysAfter, 1)
  })

  it('fall back on the usual prices where reading from the cache is free: everything would be, or nothing', () => {
    const sizes = { before: 10_000, after: 5_000, unchanged: 0 }
    for (const prices of [
      { input: 0, output: 0 },
      { input: 1, output: 1, cacheRead: 0 },
    ])
      assert.equal(economicsOf({ ...sizes, prices }), economicsOf(sizes))
  })
})

describe('how rarely a conversation is reshaped', (it) => {
  it('is as ever while the cache holds, and the less the less it is read', () => {
    assert.is(reshapingFactor(1), 1)
    const factors = [1, 0.9, 0.5, 0.1, 0].map((share) => reshapingFactor(share))
    assert.equal(
      factors,
      factors.toSorted((a, b) => b - a),
    )
    assert.ok(reshapingFactor(0) > 0.1 && reshapingFactor(0) < 0.2)
  })
})
