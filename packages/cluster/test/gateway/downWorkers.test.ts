import { DownWorkers } from '../../src/gateway/downWorkers.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

describe('a worker that cannot be reached', (it) => {
  it('is left alone by all clients, longer each time but not for ever, until it is there again', async () => {
    const clock = simulatedClock()
    const down = new DownWorkers(clock)
    assert.is(down.has('ws://a'), false)
    for (const rest of [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]) {
      down.failed('ws://a')
      await clock.advance(rest - 1)
      assert.equal([down.has('ws://a'), down.has('ws://b')], [true, false], `after ${rest} ms`)
      await clock.advance(1)
      assert.is(down.has('ws://a'), false, `after ${rest} ms`)
    }
    down.failed('ws://a')
    down.reached('ws://a')
    assert.is(down.has('ws://a'), false)
  })
})
