import type { LogRecord } from '../../../../src/protocol/records.ts'
import { LogFollower } from '../../src/restate/logFollower.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { recordsBetween } from '../../../evaluation/src/testing/contractDemands.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { quiet } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

describe('a follower of a log', (it) => {
  it('waits once, however many tell it to look at the same time, and tells each record once', async () => {
    const store = memoryStore()
    const lease = await store.open('a')
    const add = (records: readonly LogRecord[]) => store.append('a', records, lease.epoch)
    await add(recordsBetween(1, 2))
    const clock = simulatedClock()
    const seen: number[] = []
    const parts = { agentId: 'a', store, clock, pollMs: 100, after: 0, onCaughtUp() {}, onFailure() {} }
    const follower = new LogFollower({ ...parts, onEvent: ({ seq }) => seen.push(seq) })
    for (let time = 0; time < 3; time += 1) await Promise.all([follower.poke(), follower.poke(), follower.poke()])
    await quiet()
    assert.is(clock.pending, 1)
    await add(recordsBetween(3, 3))
    await clock.advance(100)
    await quiet()
    assert.equal([seen, clock.pending], [[1, 2, 3], 1])
    follower.close()
    assert.is(clock.pending, 0)
  })
})
