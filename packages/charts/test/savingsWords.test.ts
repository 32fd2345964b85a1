import { broughtWords, rangeWords, savedWords, savingsNotes, usdWithout } from '../src/savingsWords.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const spent = { requests: 2, usage: { input: 600, output: 0, cacheRead: 0, cacheWrite: 0 }, costUsd: 1.31 }

describe('savings in words', (it) => {
  it('are tokens with their share, and a range of dollars of what it would have been', () => {
    const saving = { spent, tokens: 400, usd: { low: 1.33, high: 1.43 } }
    assert.is(savedWords(saving), '400 tokens (40 %), $1.33 to $1.43 of $2.64 to $2.74')
    assert.equal(usdWithout({ spent, tokens: 0, usd: { low: 0.69, high: 0.69 } }), { low: 2, high: 2 })
    assert.is(rangeWords({ low: -0.5, high: 0.001 }), '−$0.50 to $0.0010')
    assert.is(rangeWords({ low: 0.101, high: 0.102 }), '$0.10')
  })

  it('say when the brakes cost more than they saved, and why there are no dollars', () => {
    assert.is(savedWords({ spent, tokens: -1, usd: { low: 0, high: 0 } }), '1 token more than without, $0.00 of $1.31')
    assert.match(
      savedWords({ spent, tokens: 9, usd: null, unpriced: 'missing' }),
      /; no dollars: prices are not known$/,
    )
    assert.match(
      savedWords({ spent, tokens: 9, usd: null, unpriced: 'free' }),
      /; no dollars: the model costs nothing$/,
    )
    assert.match(savedWords({ spent, tokens: 9, usd: null, unpriced: 'absurd' }), /; no dollars: .* cannot be right$/)
  })

  it('of one change name its requests', () => {
    const brake = { seq: 1, turnIndex: 0, type: 'prune.applied', requests: 1, tokens: 7, spoiltUsd: null } as const
    assert.is(broughtWords({ ...brake, usd: null }), '7 tokens in 1 request')
    assert.is(broughtWords({ ...brake, usd: { low: 1, high: 2 } }), '7 tokens, $1.00 to $2.00 in 1 request')
  })

  it('have notes about what is assumed, estimated or left out', () => {
    const plain = { window: 9_000, isWindowAssumed: true, isEstimated: false, isPartial: false, usd: null }
    assert.equal(savingsNotes(plain), [])
    assert.is(savingsNotes({ ...plain, usd: { low: 1, high: 1 } }).length, 0)
    assert.equal(
      [
        { fullAt: 3 },
        { fullAt: 3, isWindowAssumed: false },
        { isEstimated: true, isPartial: true },
        { usd: { low: 1, high: 2 } },
      ].map((more) => savingsNotes({ ...plain, ...more }).length),
      [2, 1, 2, 1],
    )
    assert.is(savingsNotes({ ...plain, fullAt: 3 })[0], 'without brakes the window of 9,000 tokens is full at turn 4')
  })
})
