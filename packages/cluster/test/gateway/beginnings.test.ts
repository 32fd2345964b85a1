import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { nextTurn } from '../../../../test/support/runCase.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Beginnings } from '../../src/gateway/beginnings.ts'

const a = { agentId: 'a', who: 'ada' }

/** A stop of agent `a`, and true once it may go on. */
function stopped(beginnings: Beginnings) {
  const left = new AbortController()
  const stop = { isOn: false, leave: () => left.abort() }
  void beginnings.before(a, left.signal).then(() => (stop.isOn = true))
  return stop
}

describe('a stop behind a gateway', (it) => {
  const made = () => {
    const clock = simulatedClock()
    return { clock, beginnings: new Beginnings(clock) }
  }

  it('waits for everything that was asked of its agent before, and for nothing else', async () => {
    const { clock, beginnings } = made()
    const [one, other] = [beginnings.enter(a), beginnings.enter(a)]
    beginnings.enter({ ...a, agentId: 'b' })
    const stop = stopped(beginnings)
    beginnings.enter(a)
    one()
    one()
    await nextTurn()
    assert.is(stop.isOn, false)
    other()
    await nextTurn()
    assert.equal([stop.isOn, clock.pending], [true, 0])
    assert.is(beginnings.size, 2)
  })

  it('does not wait for what another client asks of the same agent', async () => {
    const { beginnings } = made()
    for (const who of ['eve', undefined]) beginnings.enter({ ...a, who })
    const stop = stopped(beginnings)
    await nextTurn()
    assert.is(stop.isOn, true)
  })

  it('goes on at once where nothing was asked, and what has begun is forgotten', async () => {
    const { beginnings } = made()
    beginnings.enter(a)()
    const stop = stopped(beginnings)
    await nextTurn()
    assert.equal([stop.isOn, beginnings.size], [true, 0])
  })

  it('waits no longer than an agent is looked for, and not once its client has left', async () => {
    const { clock, beginnings } = made()
    beginnings.enter(a)
    const [stop, left] = [stopped(beginnings), stopped(beginnings)]
    left.leave()
    await nextTurn()
    assert.equal([stop.isOn, left.isOn], [false, true])
    await clock.advance(9_999)
    assert.is(stop.isOn, false)
    await clock.advance(1)
    await nextTurn()
    assert.equal([stop.isOn, clock.pending], [true, 0])
  })
})
