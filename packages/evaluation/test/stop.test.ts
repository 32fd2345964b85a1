import { Stop } from '../src/stop.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('the end of an evaluation', (it) => {
  it('has the reason that came first, for whoever waits and for the report', () => {
    const outer = new AbortController()
    const stop = new Stop(outer.signal)
    assert.equal([stop.signal.aborted, stop.reason], [false, undefined])
    stop.now({ why: 'budget', message: 'all is spent' })
    stop.now({ why: 'auth' })
    outer.abort()
    assert.equal(stop.reason, { why: 'budget', message: 'all is spent' })
    assert.is((stop.signal.reason as Error).message, 'all is spent')
  })

  it('is that of a signal, also of one that was aborted before, until it is released', () => {
    const early = new Stop(AbortSignal.abort())
    assert.equal([early.signal.aborted, early.reason], [true, { why: 'aborted' }])
    early.now({ why: 'changed' })
    assert.equal(early.reason, { why: 'aborted' })
    const outer = new AbortController()
    const released = new Stop(outer.signal)
    released.release()
    outer.abort()
    assert.equal([released.signal.aborted, released.reason], [false, undefined])
  })
})
