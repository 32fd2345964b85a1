import { dollars, money, savings } from '../../src/charts/amounts.ts'
import { assert, describe } from '../support/suite.ts'

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
