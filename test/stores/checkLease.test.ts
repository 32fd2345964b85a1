import { checkLease } from '../../packages/stores/src/rules/appendChecks.ts'
import { withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

describe('the lease of a writer', (it) => {
  it('is good while it is the newest and out, and else the writer is told why it is not', () => {
    for (const [what, held, newest, named, code] of [
      ['its own', 2, 2, 2, undefined],
      ['whichever is out', 2, 2, undefined, undefined],
      ['taken over', 3, 3, 2, 'STORE_LEASE_LOST'],
      ['taken over, and let go of by the other', undefined, 3, 2, 'STORE_LEASE_LOST'],
      ['let go of by itself', undefined, 2, 2, 'STORE_NOT_OPEN'],
      ['none', undefined, 2, undefined, 'STORE_NOT_OPEN'],
      ['none ever', undefined, 0, undefined, 'STORE_NOT_OPEN'],
    ] as const) {
      const check = (): void => checkLease('a', { held, newest }, named)
      if (code === undefined) check()
      else assert.throws(check, withCode(code), what)
    }
  })
})
