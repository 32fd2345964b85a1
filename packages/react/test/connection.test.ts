import type { Client } from '../../bridge/src/client/client.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { simulatedClock } from '../../../src/testing.ts'
import { quiet } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { AgentStores } from '../src/agentStores.ts'

/** A client of which the case says how it stands. */
function standing() {
  const [status, errors] = [new Set<(status: string) => void>(), new Set<(error: object) => void>()]
  const ready = Promise.withResolvers<void>()
  ready.promise.catch(() => {})
  let onAgents: ((change: object) => void) | undefined
  const client = {
    status: 'connecting',
    retryAt: undefined as number | undefined,
    role: undefined as string | undefined,
    definitions: [] as string[],
    ready: ready.promise,
    onStatus(listener: (status: string) => void) {
      status.add(listener)
      return () => status.delete(listener)
    },
    onError(listener: (error: object) => void) {
      errors.add(listener)
      return () => errors.delete(listener)
    },
    watch(listener: (change: object) => void) {
      onAgents = listener
      return () => (onAgents = undefined)
    },
  }
  const clock = simulatedClock()
  const stores = new AgentStores(client as unknown as Client, { clock })
  let told = 0
  const leave = stores.connection.subscribe(() => (told += 1))
  const be = (more: Partial<typeof client>): void => {
    Object.assign(client, more)
    for (const listener of status) listener(client.status)
  }
  const fail = (code: string): void => {
    for (const listener of errors) listener({ code, message: 'x' })
  }
  return {
    client,
    clock,
    stores,
    leave,
    be,
    fail,
    ready,
    told: () => told,
    status,
    errors,
    agents: (change: object) => onAgents?.(change),
  }
}

describe('the connection of a page', (it) => {
  it('is as its client stands, with what is known of it and nothing else', () => {
    const { stores, be } = standing()
    const facts = () => stores.connection.getSnapshot()
    assert.equal(facts(), { status: 'connecting', definitions: [] })
    be({ status: 'reconnecting', retryAt: 5 })
    assert.equal(facts(), { status: 'reconnecting', definitions: [], retryAt: 5 })
    be({ status: 'open', retryAt: undefined, role: 'admin', definitions: ['a'] })
    assert.equal(facts(), { status: 'open', definitions: ['a'], role: 'admin' })
    assert.ok(Object.isFrozen(facts()))
  })

  it('has its last error until it is open again', () => {
    const { stores, be, fail } = standing()
    const code = () => stores.connection.getSnapshot().error?.code
    fail('BRIDGE_FULL')
    assert.is(code(), 'BRIDGE_FULL')
    fail('BRIDGE_FORBIDDEN')
    be({ status: 'reconnecting' })
    assert.is(code(), 'BRIDGE_FORBIDDEN')
    be({ status: 'open' })
    assert.is(code(), undefined)
  })

  it('says why there never was one', async () => {
    const { stores, ready } = standing()
    ready.reject(new RuntimeError('BRIDGE_UNAUTHORISED', 'no'))
    await quiet()
    assert.is(stores.connection.getSnapshot().error?.code, 'BRIDGE_UNAUTHORISED')
  })

  it('is listened to no more once nobody shows it, whatever still comes', async () => {
    const { clock, leave, status, errors, told, ready, stores } = standing()
    leave()
    await clock.advance(100)
    assert.equal([status.size, errors.size], [0, 0])
    const before = told()
    const facts = stores.connection.getSnapshot()
    ready.reject(new RuntimeError('BRIDGE_UNAUTHORISED', 'no'))
    await quiet()
    assert.equal([told(), stores.connection.getSnapshot() === facts], [before, true])
    // It is listened to again, once.
    stores.connection.subscribe(() => {})
    assert.equal([status.size, errors.size], [1, 1])
  })

  it('has the agents that run, each as it is now, without those that are gone', () => {
    const { stores, agents } = standing()
    stores.roster.subscribe(() => {})
    const ids = () => stores.roster.getSnapshot().map(({ agentId, state }) => `${agentId} ${state}`)
    agents({
      agents: [
        { agentId: 'a', state: 'idle' },
        { agentId: 'b', state: 'idle' },
      ],
      gone: [],
    })
    agents({ agents: [{ agentId: 'b', state: 'executing' }], gone: ['a'] })
    assert.equal(ids(), ['b executing'])
    // One that is gone and there again is there.
    agents({ agents: [{ agentId: 'b', state: 'idle' }], gone: ['b'] })
    assert.equal(ids(), ['b idle'])
  })
})
