import { Newest } from '../../src/memory/newest.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

describe('a map of the newest', (it) => {
  it('forgets what was not used for longest', () => {
    const newest = new Newest<string, number>(2)
    newest.set('a', 1)
    newest.set('b', 2)
    assert.is(newest.get('a'), 1)
    newest.set('c', 3)
    assert.equal([newest.get('a'), newest.get('b'), newest.get('c'), newest.size], [1, undefined, 3, 2])
    newest.set('c', 4)
    assert.equal([newest.get('a'), newest.get('c'), newest.size], [1, 4, 2])
  })
})
