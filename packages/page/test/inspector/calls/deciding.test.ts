import type { Pending } from '../../../../../src/protocol/runs/pending.ts'
import { Deciding, targetOf } from '../../../src/inspector/model/calls/settledCalls.ts'
import { simulatedClock } from '../../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

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

  it('are decided at once by who has moved to them', async () => {
    const clock = simulatedClock()
    const deciding = new Deciding(clock)
    deciding.show(['a', 'b'], 'a')
    await clock.advance(400)
    deciding.show(['a', 'b'], 'b', true)
    assert.is(deciding.may('b'), true)
    // One that has just come was not seen by moving to it.
    deciding.show(['a', 'b', 'c'], 'c', true)
    assert.equal([deciding.may('b'), deciding.may('c')], [true, false])
    await clock.advance(400)
    assert.is(deciding.may('c'), true)
  })

  it('are aimed at the one that stands open, or at none where that is no approval', () => {
    const call = (kind: 'approval' | 'question', key: string) => ({ kind, key }) as Pending
    const pending = [call('question', 'q'), call('approval', 'a'), call('approval', 'b')]
    assert.is(targetOf(pending, null)?.key, 'a')
    assert.is(targetOf(pending, 'b')?.key, 'b')
    assert.is(targetOf(pending, 'q'), undefined)
    assert.is(targetOf(pending, 'gone')?.key, 'a')
    assert.is(targetOf([], 'a'), undefined)
  })
})
