import { AgentStores } from '../src/agentStores.ts'
import type { Client } from '../../bridge/src/client/client.ts'
import { simulatedClock } from '../../../src/testing.ts'
import { assert, describe } from '../../../test/support/suite.ts'

/** A client whose agents say nothing. */
const silent = {
  agent: (id: string) => ({ id, subscribe: () => () => {}, snapshot: () => new Promise(() => {}) }),
} as unknown as Client

describe('the agents of a page', (it) => {
  it('are kept while they are shown, and some of those that were left', async () => {
    const clock = simulatedClock()
    const stores = new AgentStores(silent, { clock })
    const shown = stores.agent('shown')
    shown.store.subscribe(() => {})
    const again = stores.agent('again')
    again.store.subscribe(() => {})()
    await clock.advance(100)
    again.store.subscribe(() => {})
    const visited = Array.from({ length: 100 }, (_, index) => `a${index}`)
    const known = new Map(visited.map((id) => [id, stores.agent(id)]))
    for (const id of visited) {
      const leave = stores.agent(id).store.subscribe(() => {})
      assert.is(stores.agent(id), known.get(id))
      leave()
      await clock.advance(100)
    }
    assert.is(stores.agent('shown'), shown)
    assert.is(stores.agent('again'), again)
    assert.is(stores.agent('a99'), known.get('a99'))
    assert.is.not(stores.agent('a0'), known.get('a0'))
  })
})
