import { Deciding } from '../../src/inspector/model/settledCalls.ts'
import { simulatedClock } from '../../src/testing/simulatedClock.ts'
import { assert, describe } from '../support/suite.ts'

describe('calls that keys decide', (it) => {
  it('are those that a person has had the time to see', async () => {
    const clock = simulatedClock()
    const deciding = new Deciding(clock)
    const may = () => ['a', 'b', 'c'].filter((key) => deciding.may(key)).join('')
    deciding.show(['a', 'b'], 'a')
    assert.is(may(), '')
    await clock.advance(300)
    // The same once more, as while an agent streams, begins nothing anew.
    deciding.show(['a', 'b'], 'a')
    await clock.advance(100)
    assert.is(may(), 'ab')
    deciding.show(['a', 'b', 'c'], 'a')
    assert.is(may(), 'ab')
    await clock.advance(400)
    assert.is(may(), 'abc')
  })

  it('are none just after another has taken the place of the first', async () => {
    const clock = simulatedClock()
    const deciding = new Deciding(clock)
    deciding.show(['a', 'b'], 'a')
    await clock.advance(400)
    deciding.show(['b'], 'b')
    assert.is(deciding.may('b'), false)
    await clock.advance(400)
    assert.is(deciding.may('b'), true)
    deciding.show([], undefined)
    deciding.close()
    assert.is(deciding.may('b'), false)
  })

  it('are none for which something is typed and not sent', async () => {
    const clock = simulatedClock()
    const deciding = new Deciding(clock)
    deciding.show(['a', 'b'], 'a')
    await clock.advance(400)
    deciding.draft('a', true)
    assert.equal([deciding.may('a'), deciding.may('b')], [false, true])
    deciding.draft('a', false)
    assert.is(deciding.may('a'), true)
  })
})
