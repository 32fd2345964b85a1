import { assert, describe } from '../../../test/support/suite.ts'
import { faultsOf } from './eachLives.ts'

describe('a batch whose process was killed', (it) => {
  it('is gone on with: each input has one answer, and no call is made twice', { timeoutMs: 20_000 }, async () => {
    assert.equal(await faultsOf({ mode: 'after', at: 20 }), [])
  })
})
