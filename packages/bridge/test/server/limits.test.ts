import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { simulatedClock, type SimulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { gate, quiet, withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { dial, Heard, serveAgents, untilStatus } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', maxQueue: 10_000, model: policyModel(() => 'yes') })

/** Moves time on, slowly, until something is done. */
async function passTime(clock: SimulatedClock, work: Promise<unknown>): Promise<void> {
  const done = new AbortController()
  void work.then(() => done.abort())
  while (!done.signal.aborted) {
    for (let turn = 0; turn < 50; turn += 1) await quiet()
    await clock.advance(100)
  }
}

describe('the limits of a server', (it) => {
  it('close a client that says no hello in time', async (context) => {
    const clock = simulatedClock()
    const serving = await serveAgents(context, [echo], { runtime: { clock }, limits: { helloMs: 500, drainMs: 50 } })
    const [silent, quick] = [await serving.dial(), await serving.dial({ hello: {} })]
    await quick.until(({ type }) => type === 'welcome')
    await clock.advance(499)
    assert.is(serving.server.connections, 2)
    await clock.advance(2)
    assert.equal(await silent.closed, { code: 4001, reason: 'no hello in time' })
    assert.is(quick.socket.readyState, 1)
  })

  it('close a client that does not answer pings, and no other', async (context) => {
    const clock = simulatedClock()
    const limits = { pingMs: 5_000, drainMs: 50 }
    const serving = await serveAgents(context, [echo], { runtime: { clock }, limits })
    const [dead, alive] = [await serving.dial({ hello: {} }), await serving.dial({ hello: {} })]
    // Nobody answers for it.
    dead.socket.pong = () => {}
    Reflect.set(dead.socket, '_autoPong', false)
    const pinged = new Promise((resolve) => alive.socket.once('ping', resolve))
    await dead.until(({ type }) => type === 'welcome')
    await alive.until(({ type }) => type === 'welcome')
    await clock.advance(5_000)
    await pinged
    await alive.ask({ type: 'agent.list' })
    await clock.advance(5_000)
    assert.is((await dead.closed).code, 4008)
    assert.is(alive.socket.readyState, 1)
  })

  it('cut off a client that floods it', async (context) => {
    const clock = simulatedClock()
    const limits = { framesPerSecond: 50, drainMs: 50 }
    const serving = await serveAgents(context, [echo], { runtime: { clock }, limits })
    const bare = await serving.dial({ hello: {} })
    for (let n = 0; n < 49; n += 1) bare.send({ type: 'ping', id: `${n}` })
    await bare.until((frame) => frame.type === 'pong' && frame.id === '48')
    await clock.advance(1_000)
    for (let n = 0; n < 51; n += 1) bare.send({ type: 'ping' })
    assert.equal(await bare.closed, { code: 4002, reason: 'too many frames' })
  })

  it('cut off a client with too many commands at once', async (context) => {
    const open = gate()
    const limits = { waitingCommands: 3, drainMs: 50 }
    const store = { ...(await serveAgents(context, [])).store }
    const read = store.read.bind(store)
    store.read = async function* (agentId, fromSeq) {
      await open.promise
      yield* read(agentId, fromSeq)
    }
    const serving = await serveAgents(context, [echo], { limits, runtime: { store } })
    const bare = await serving.dial({ hello: {} })
    for (let n = 0; n < 5; n += 1) bare.send({ type: 'agent.snapshot', id: `${n}`, agentId: 'a1' })
    assert.is((await bare.closed).code, 4002)
    open.resolve()
  })

  it('close a client that sends too large a frame', async (context) => {
    const serving = await serveAgents(context, [echo], { limits: { frameBytes: 2_000, drainMs: 50 } })
    const bare = await serving.dial({ hello: {} })
    bare.send({ type: 'ping', id: 'x'.repeat(3_000) })
    assert.is((await bare.closed).code, 1009)
    const client = serving.connect()
    const agent = await client.spawn('echo', { id: 'a1' })
    const { error } = await agent.prompt('x'.repeat(3_000)).result
    assert.is(error?.code, 'BRIDGE_LIMIT')
    await assert.rejects(agent.steer('é'.repeat(1_000)), withCode('BRIDGE_LIMIT', '2000 bytes'))
    assert.is((await agent.prompt('short').result).text, 'yes')
    assert.is(client.status, 'open')
  })

  it('refuse more connections than allowed', async (context) => {
    const serving = await serveAgents(context, [echo], { limits: { connections: 2, drainMs: 50 } })
    const [first] = [await serving.dial({ hello: {} }), await serving.dial({ hello: {} })]
    assert.is(serving.server.connections, 2)
    await assert.rejects(dial(serving.server.url), /503/)
    // One that waits its turn gets in once another has left.
    const client = serving.connect()
    first.socket.close()
    await client.ready
  })

  it('refuse more subscriptions than allowed', async (context) => {
    const serving = await serveAgents(context, [echo], { limits: { subscriptions: 1, drainMs: 50 } })
    await serving.runtime.spawn(echo, { id: 'a1' })
    await serving.runtime.spawn(echo, { id: 'a2' })
    const bare = await serving.dial({ hello: {} })
    assert.is((await bare.ask({ type: 'agent.subscribe', agentId: 'a1' })).type, 'ok')
    assert.is((await bare.ask({ type: 'agent.subscribe', agentId: 'a1' })).type, 'ok')
    const refused = await bare.ask({ type: 'agent.subscribe', agentId: 'a2' })
    assert.is(refused.type === 'error' && refused.code, 'BRIDGE_LIMIT')
    await bare.ask({ type: 'agent.unsubscribe', agentId: 'a1' })
    assert.is((await bare.ask({ type: 'agent.subscribe', agentId: 'a2' })).type, 'ok')
  })

  it('are kept to by the client, however much is asked at once', { timeoutMs: 20_000 }, async (context) => {
    const clock = simulatedClock()
    const limits = { framesPerSecond: 100, drainMs: 50 }
    const serving = await serveAgents(context, [echo], { runtime: { clock }, limits })
    const client = serving.connect({ clock })
    const agent = await client.spawn('echo', { id: 'a1' })
    const statuses: string[] = []
    client.onStatus((status) => statuses.push(status))
    const runs = Array.from({ length: 200 }, (_, n) => agent.prompt(`${n}`))
    const results = Promise.all(runs.map(({ result }) => result))
    await passTime(clock, results)
    assert.equal(statuses, [])
  })

  it('hold for a thousand idle sockets', { timeoutMs: 20_000 }, async (context) => {
    const clock = simulatedClock()
    const serving = await serveAgents(context, [echo], {
      runtime: { clock },
      limits: { connections: 400, drainMs: 50 },
    })
    const opened = await Promise.allSettled(Array.from({ length: 500 }, () => serving.dial()))
    const bares = opened.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    assert.is(bares.length, 400)
    await clock.advance(5_000)
    const codes = await Promise.all(bares.map(async ({ closed }) => (await closed).code))
    assert.ok(codes.every((code) => code === 4001))
    const client = serving.connect({ clock })
    await client.ready
  })
})

describe('a server that is closed', (it) => {
  it('tells its clients, and agents go on', async (context) => {
    const open = gate()
    const slow = defineAgent({ name: 'slow', model: policyModel(async () => (await open.promise, 'late')) })
    const serving = await serveAgents(context, [slow])
    const bare = await serving.dial({ hello: {} })
    await bare.until(({ type }) => type === 'welcome')
    const client = serving.connect()
    const agent = await client.spawn('slow', { id: 'a1' })
    const run = agent.prompt('go')
    await agent.snapshot()
    const local = new Heard()
    serving.runtime.agent('a1')!.subscribe(local.listen)
    const closing = serving.server.close()
    assert.is(serving.server.close(), closing)
    assert.equal(await bare.closed, { code: 1001, reason: 'the server shuts down' })
    assert.is(bare.frames.at(-1)?.type, 'closing')
    await untilStatus(client, 'reconnecting')
    await closing
    open.resolve()
    await local.until(({ type }) => type === 'run.end')
    // Another one takes its place, and the client has missed nothing.
    await serving.runtime.serve({ port: serving.server.port, definitions: [slow] })
    assert.is((await run.result).text, 'late')
  })

  it('does not wait for a client that does not leave', async (context) => {
    const clock = simulatedClock()
    const serving = await serveAgents(context, [echo], { runtime: { clock }, limits: { drainMs: 1_000 } })
    const bare = await serving.dial({ hello: {} })
    await bare.until(({ type }) => type === 'welcome')
    bare.socket.pause()
    const closing = serving.server.close()
    await clock.advance(1_000)
    await closing
    assert.is(serving.server.connections, 0)
    assert.is(clock.pending, 0)
  })
})
