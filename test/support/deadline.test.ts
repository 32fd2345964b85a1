import { isOver, stopwatch, timeoutFactor, waitFactor } from './deadline.ts'
import { assert, describe } from './suite.ts'

describe('a deadline', (it) => {
  const limit = 1_000
  it('is not over before its time, however much was computed', () => {
    assert.is(isOver({ wall: 1_000, cpu: 4_000, idle: 0 }, limit), false)
  })
  it('is over for who computed that long', () => {
    assert.is(isOver({ wall: 1_001, cpu: 1_001, idle: 0 }, limit), true)
  })
  it('is over for who waited that long while a core had nothing to do', () => {
    assert.is(isOver({ wall: 1_001, cpu: 5, idle: 900 }, limit), true)
  })
  it('is stretched for who waited for a core', () => {
    assert.is(isOver({ wall: 9_000, cpu: 700, idle: 50 }, limit), false)
  })
  it('is stretched ten times at most', () => {
    assert.is(isOver({ wall: 10_001, cpu: 0, idle: 0 }, limit), true)
  })
  it('is measured from when it was set', () => {
    const elapsed = stopwatch()
    let sum = 0
    for (let i = 0; i < 3e6; i++) sum += i
    const { wall, cpu, idle } = elapsed()
    assert.ok(sum > 0 && wall > 0 && cpu > 0 && idle >= 0, `${wall} ${cpu} ${idle}`)
  })
})

describe('the factor of all deadlines', (it) => {
  it('stretches waits of others by one to ten', () => {
    assert.ok(waitFactor() >= timeoutFactor() && waitFactor() <= 10 * timeoutFactor(), String(waitFactor()))
  })
  it('is 1 when the environment says nothing', () => {
    assert.is(timeoutFactor({}), 1)
    assert.is(timeoutFactor({ TEST_TIMEOUT_FACTOR: '' }), 1)
  })
  it('is what the environment says', () => {
    assert.is(timeoutFactor({ TEST_TIMEOUT_FACTOR: '2.5' }), 2.5)
  })
  for (const wrong of ['0', '-1', 'slow', 'Infinity']) {
    it(`is refused when it is ${wrong}`, () => {
      assert.throws(() => timeoutFactor({ TEST_TIMEOUT_FACTOR: wrong }), /TEST_TIMEOUT_FACTOR is ".+": set it/)
    })
  }
})
