import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import type { Viewer } from '../../src/server/agentDirectory.ts'
import { Bridge } from '../../src/server/bridge.ts'
import type { Connection } from '../../src/server/connections.ts'
import { limitsOf } from '../../src/server/limits.ts'

const record = (seq: number, type: string, more: object) => ({ v: 3, seq, time: 0, type, ...more })
const created = (agentId: string, path: readonly string[] = []) =>
  record(1, 'agent.created', { agentId, definition: 'worker', path })

/** A server in which nothing runs but what the case says. */
async function served(store: Store = memoryStore()) {
  const clock = simulatedClock()
  const agents = new Map<string, object>()
  const listeners = new Set<(agent: never) => void>()
  const runtime = {
    agents: () => [...agents.values()],
    agent: (id: string) => agents.get(id),
    onAgent: (listener: (agent: never) => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const limits = limitsOf({ connections: 2 })
  const bridge = new Bridge(runtime as never, { store, clock, limits, tokens: undefined, definitions: new Map() })
  await store.open('a')
  await store.append('a', [created('a')] as never)
  const viewer = (over: Partial<Viewer> = {}): Viewer => ({
    reach: () => true,
    check: () => {},
    checkAdmitted: () => {},
    find: () => undefined,
    isHidden: () => false,
    ...over,
  })
  /** Timers once a poll has found that nobody listens. */
  const timersLeft = async (): Promise<number> => {
    await clock.advance(1_000)
    return clock.pending
  }
  const begins = (agent: object): void => {
    for (const listener of listeners) listener(agent as never)
  }
  return { bridge, clock, store, agents, listeners, viewer, timersLeft, begins }
}

const hear = (): void => {}

describe('the feed of an agent', (it) => {
  it('stays for as long as somebody listens, and is another one after that', async () => {
    const { bridge, viewer, timersLeft } = await served()
    const feed = await bridge.feedOf('a', viewer())
    const leave = [feed.listen(hear, { descendants: false }), feed.listen(() => hear(), { descendants: false })]
    assert.is(await bridge.feedOf('a', viewer()), feed)
    leave[0]!()
    bridge.releaseFeed('a')
    assert.equal([feed.isClosed, await timersLeft()], [false, 1])
    leave[1]!()
    bridge.releaseFeed('a')
    bridge.releaseFeed('a')
    assert.equal([feed.isClosed, await timersLeft()], [true, 0])
    assert.is.not(await bridge.feedOf('a', viewer()), feed)
  })

  it('is none for who does not reach its agent, or does not know of it, and none is left behind by asking', async () => {
    const { bridge, viewer, timersLeft, agents } = await served()
    const check = (): never => {
      throw new RuntimeError('BRIDGE_FORBIDDEN', 'out of reach')
    }
    await assert.rejects(bridge.feedOf('a', viewer({ check })), withCode('BRIDGE_FORBIDDEN'))
    await assert.rejects(bridge.feedOf('nobody', viewer()), withCode('AGENT_NOT_FOUND'))
    assert.is(await timersLeft(), 0)
    // Somebody else's incognito agent, to which that client listens.
    const agent = { path: [], lastSeq: 0, growingReply: undefined, subscribe: () => hear, durable: () => undefined }
    agents.set('secret', agent)
    const owner = viewer({ find: (id) => agents.get(id) as never })
    ;(await bridge.feedOf('secret', owner)).listen(hear, { descendants: false })
    await assert.rejects(bridge.feedOf('secret', viewer({ isHidden: () => true })), withCode('AGENT_NOT_FOUND'))
    await assert.rejects(bridge.feedOf('secret', { ...owner, check }), withCode('BRIDGE_FORBIDDEN'))
  })

  it('that cannot catch up with its log is given up', async () => {
    const store = memoryStore()
    const { read } = store
    let reads = 0
    store.read = (agentId, from, most) => {
      if (from === 2 && (reads += 1) > 0) throw new RuntimeError('STORE_READ_FAILED', 'no')
      return read.call(store, agentId, from, most)
    }
    const { bridge, viewer, timersLeft } = await served(store)
    await assert.rejects(bridge.feedOf('a', viewer(), 5), withCode('STORE_READ_FAILED'))
    assert.equal([reads, await timersLeft()], [1, 0])
  })

  it('is an open one, also where its last listener leaves while it catches up', async () => {
    const store = memoryStore()
    const { read } = store
    const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    store.read = async function* (agentId, from, most) {
      if (from === 2) {
        reached.resolve()
        await goOn.promise
      }
      yield* read.call(store, agentId, from, most)
    }
    const { bridge, viewer } = await served(store)
    const leave = (await bridge.feedOf('a', viewer())).listen(hear, { descendants: false })
    const asking = bridge.feedOf('a', viewer(), 5)
    await reached.promise
    leave()
    bridge.releaseFeed('a')
    goOn.resolve()
    assert.is((await asking).isClosed, false)
  })
})

describe('a server', (it) => {
  it('hears of agents until it is closed, and then has no feed and no timer', async () => {
    const { bridge, listeners, viewer, clock } = await served()
    const feed = await bridge.feedOf('a', viewer())
    feed.listen(hear, { descendants: false })
    assert.is(listeners.size, 1)
    bridge.close()
    assert.equal([listeners.size, feed.isClosed, bridge.isClosed, clock.pending], [0, true, true, 0])
  })

  it('reads again what was decided, once the agent that decided it has run again', async () => {
    const { bridge, store, begins, agents } = await served()
    await store.open('a.1')
    const start = (seq: number, requestId: string) =>
      record(seq, 'run.start', { runId: requestId, turnIndex: 0, requestId, cause: 'resume' })
    await store.append('a.1', [created('a.1', ['a']), start(2, 'first')] as never)
    const ancestor = { id: 'a', pending: () => [] } as never
    const was = (requestId: string): Promise<boolean> => bridge.decisions.wasDecided(ancestor, 'a.1/c', requestId)
    assert.equal([await was('first'), await was('second')], [true, false])
    await store.append('a.1', [start(3, 'second')] as never)
    begins({ id: 'a.1' })
    assert.is(await was('second'), true)
    // Nothing of what is not below it, and of no own call.
    const other = { id: 'b', pending: () => [] } as never
    assert.is(await bridge.decisions.wasDecided(other, 'a.1/c', 'first'), false)
    const own = { id: 'a.1', pending: () => [] } as never
    assert.is(await bridge.decisions.wasDecided(own, 'a.1/c', 'first'), false)
    for (const path of [['a'], ['b']]) {
      agents.set('run.1', { path, wasAsked: async () => true })
      assert.is(await bridge.decisions.wasDecided(ancestor, 'run.1/c', 'x'), path[0] === 'a')
    }
    const waiting = { id: 'a', pending: () => [{ key: 'a.1/c' }] } as never
    assert.is(await bridge.decisions.wasDecided(waiting, 'a.1/c', 'first'), false)
  })

  it('has room for as many connections as it may, and those that have not said hello take none', async () => {
    const { bridge } = await served()
    const permit = { grant: { role: 'admin' }, owner: undefined, isGranted: () => true } as const
    const one = (): Connection => ({ tick: hear, ping: hear, leave: hear, terminate: hear })
    const [silent, first, second] = [one(), one(), one()]
    let isEmpty = 0
    bridge.onEmpty(() => void (isEmpty += 1))
    for (const each of [silent, first, second]) bridge.connections.add(each)
    bridge.unauthenticated.add(silent, 'x')
    assert.is(bridge.hasRoom(permit, 'x'), false)
    bridge.disconnected(second)
    assert.is(bridge.hasRoom(permit, 'x'), true)
    bridge.disconnected(first)
    assert.is(isEmpty, 0)
    bridge.disconnected(silent)
    assert.is(isEmpty, 1)
  })
})
