import { dollars, money } from '../../src/charts/amounts.ts'
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
