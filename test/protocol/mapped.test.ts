import { mapped } from '../../src/protocol/mapped.ts'
import { assert, describe } from '../support/suite.ts'

describe('a list made of another', (it) => {
  it('has what map makes, in its order', () => {
    assert.equal(
      mapped(['a', 'b'], (item, index) => [item, index]),
      [
        ['a', 0],
        ['b', 1],
      ],
    )
    assert.equal(
      mapped([], () => assert.unreachable()),
      [],
    )
  })
})
