import { abortReason } from '../../src/actors/timing/abortReason.ts'
import { Cancellation } from '../../src/actors/timing/cancellation.ts'
import { assert, describe } from '../support/suite.ts'

/** Default reason of an aborted signal. */
const usual = AbortSignal.abort().reason as DOMException

function aborted(signal: AbortSignal): DOMException {
  assert.is(signal.aborted, true)
  assert.instance(signal.reason, DOMException)
  return signal.reason as DOMException
}

describe('what a signal is aborted with', (it) => {
  it('is what AbortController gives, whether the signal was asked for before or after', () => {
    const [early, late] = [new Cancellation(), new Cancellation()]
    const { signal } = early
    early.abort()
    late.abort()
    for (const { name, message, code } of [aborted(signal), aborted(late.signal)])
      assert.equal({ name, message, code }, { name: usual.name, message: usual.message, code: usual.code })
  })

  it('is another for each, so that what is noted on one is not on all', () => {
    assert.is.not(abortReason(), abortReason())
  })

  it('leaves the stacks of all other errors as they are', () => {
    const { stackTraceLimit } = Error
    assert.is(abortReason().stack?.includes('\n    at '), false)
    assert.is(Error.stackTraceLimit, stackTraceLimit)
    assert.match(new Error('other').stack!, /\n {4}at /)
  })
})

describe('a cancellation', (it) => {
  it('tells each listener once, whoever was removed not, and throws from then on', () => {
    const cancellation = new Cancellation()
    const heard: string[] = []
    const removed = (): void => void heard.push('removed')
    cancellation.add(() => heard.push('kept'))
    cancellation.add(removed)
    cancellation.remove(removed)
    cancellation.throwIfAborted()
    cancellation.abort()
    cancellation.abort()
    assert.equal(heard, ['kept'])
    assert.throws(() => cancellation.throwIfAborted(), /This operation was aborted/)
  })
})
