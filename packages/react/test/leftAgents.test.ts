import { simulatedClock } from '../../../src/testing.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import type { Client } from '../../bridge/src/client/client.ts'
import { AgentStores } from '../src/agentStores.ts'

const silent = {
  agent: (id: string) => ({ id, subscribe: () => () => {}, snapshot: () => new Promise(() => {}) }),
} as unknown as Client

describe('the agents that a page left', (it) => {
  for (const times of [1, 2, 3])
    it(`are dropped in the order in which they were left last: after ${times} visits`, async () => {
      const clock = simulatedClock()
      const stores = new AgentStores(silent, { clock })
      const visit = async (id: string) => {
        const shown = stores.agent(id)
        shown.store.subscribe(() => {})()
        await clock.advance(100)
        return shown
      }
      const kept = Array.from({ length: 32 }, (_, index) => `a${index}`)
      for (const id of kept) await visit(id)
      let again = await visit('a0')
      for (let visits = 1; visits < times; visits += 1) again = await visit('a0')
      const second = stores.agent('a2')
      await visit('b')
      assert.is(stores.agent('a0'), again, 'it was left after all others')
      assert.is(stores.agent('a2'), second, 'there is room for it')
    })

  it('are dropped beyond the last 32 of them, but for those that are shown again', async () => {
    const clock = simulatedClock()
    const stores = new AgentStores(silent, { clock })
    const visit = async (id: string) => {
      const shown = stores.agent(id)
      shown.store.subscribe(() => {})()
      await clock.advance(100)
      return shown
    }
    const kept = [await visit('shown'), await visit('left')]
    for (let count = 2; count < 32; count += 1) await visit(`a${count}`)
    stores.agent('shown').store.subscribe(() => {})
    await visit('b1')
    await visit('b2')
    assert.is(stores.agent('shown'), kept[0])
    assert.is.not(stores.agent('left'), kept[1])
  })
})
