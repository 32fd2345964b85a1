import { dollars, duration, limitWords, money, savings } from '../src/amounts.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('an amount of money', (it) => {
  it('has as many digits as it takes to see it', () => {
    assert.equal([0, 0.00001, 0.0018, 0.0099, 0.01, 0.3, 12.345].map(dollars), [
      '$0.00',
      '<$0.0001',
      '$0.0018',
      '$0.0099',
      '$0.01',
      '$0.30',
      '$12.35',
    ])
    assert.equal([0, 0.0018].map(money), ['–', '$0.0018'])
  })
})

describe('what a reshaping saves', (it) => {
  it('is said in a phrase', () => {
    const said = (freed: number, paysAfter: number | null): string => savings({ freed, rewritten: 1, paysAfter })
    assert.is(said(1_240, 3), 'frees 1,240 tokens, pays after 3 requests')
    assert.is(said(1, 1), 'frees 1 token, pays at once')
    assert.is(said(0, null), 'frees nothing')
    assert.is(said(-1_000, null), 'adds 1,000 tokens')
  })
})

describe('a duration', (it) => {
  it('has two units at most, and goes over to the next where it would say 60', () => {
    const times = [-5, 0, 999.6, 59_940, 59_960, 125_000, 3_599_600, 3_840_000, 3_600_000 * 1_000]
    assert.equal(times.map(duration), [
      '0 ms',
      '0 ms',
      '1.0 s',
      '59.9 s',
      '1 min 00 s',
      '2 min 05 s',
      '1 h 00 min',
      '1 h 04 min',
      '1,000 h 00 min',
    ])
  })
})

describe('a limit of a run', (it) => {
  it('is said in words that people read', () => {
    const limits = [
      { limit: 'turns', allowed: 60 },
      { limit: 'turns', allowed: 1 },
      { limit: 'tokens', allowed: 200_000 },
      { limit: 'costUsd', allowed: 5 },
      { limit: 'ms', allowed: 90_000 },
    ] as const
    assert.equal(limits.map(limitWords), [
      'limit of 60 turns',
      'limit of 1 turn',
      'limit of 200,000 tokens',
      'limit of $5.00',
      'limit of 1 min 30 s',
    ])
  })
})
