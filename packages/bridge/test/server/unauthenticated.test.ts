import { WebSocket } from 'ws'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { tokenProtocol } from '../../src/client/sessionId.ts'
import type { Endpoint } from '../../src/server/endpoint.ts'
import { UnauthenticatedSockets, type Connection } from '../../src/server/connections.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { dial, serveAgents, untilStatus } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })
const token = 'a-token-of-the-operator'
const tokens: Record<string, 'admin'> = { [token]: 'admin' }
const bearer = { authorization: `Bearer ${token}` }

const serveFew = (context: CaseContext, limits: object) =>
  serveAgents(context, [echo], { tokens, limits: { drainMs: 50, ...limits }, runtime: { clock: simulatedClock() } })

describe('sockets whose token is not known', (it) => {
  const stranger = (): Connection => ({ tick() {}, ping() {}, leave() {}, terminate() {} })

  it('make room for the next one, the one of that address first that waited longest', () => {
    const strangers = new UnauthenticatedSockets({ strangers: 4, strangersPerAddress: 2 })
    const [a1, a2, b1, a3, c1, d1, e1] = Array.from({ length: 7 }, stranger)
    assert.is(strangers.add(a1!, 'a'), undefined)
    assert.is(strangers.add(a2!, 'a'), undefined)
    assert.is(strangers.add(b1!, 'b'), undefined)
    assert.is(strangers.add(a3!, 'a'), a1)
    assert.is(strangers.add(c1!, 'c'), undefined)
    assert.is(strangers.size, 4)
    assert.is(strangers.add(d1!, 'd'), a2)
    assert.ok(strangers.delete(b1!))
    assert.not.ok(strangers.delete(a2!))
    assert.is(strangers.add(e1!, 'e'), undefined)
    assert.is(strangers.size, 4)
  })

  it('keep nobody out who brings a right token with the request', { timeoutMs: 10_000 }, async (context) => {
    const serving = await serveFew(context, { connections: 3, strangers: 2, strangersPerAddress: 2 })
    const silent = await Promise.all(Array.from({ length: 8 }, () => serving.dial()))
    assert.is(serving.server.connections, 0)
    await Promise.all(silent.slice(0, 6).map(({ closed }) => closed))
    const byHeader = await serving.dial({ headers: bearer, hello: {} })
    await byHeader.until(({ type }) => type === 'welcome')
    const byProtocol = serving.connect({ token })
    await byProtocol.ready
    assert.is(serving.server.connections, 2)
    // Those two still wait: nobody who is known took their place.
    assert.equal(
      silent.slice(6).map(({ socket }) => socket.readyState),
      [WebSocket.OPEN, WebSocket.OPEN],
    )
    const late = silent[7]!
    late.send({ type: 'hello', token })
    await late.until(({ type }) => type === 'welcome')
    assert.is(serving.server.connections, 3)
  })

  it('get in by hello where there is room for clients, and are sent away for now where there is none', async (context) => {
    const serving = await serveFew(context, { connections: 1 })
    const first = await serving.dial({ hello: { token } })
    await first.until(({ type }) => type === 'welcome')
    const second = await serving.dial({ hello: { token } })
    assert.is((await second.closed).code, 1013)
    await assert.rejects(dial(serving.server.url, bearer), /503/)
    assert.is(serving.server.connections, 1)
    first.socket.close()
    await serving.connect({ token }).ready
  })

  it('are closed when they do not say hello in time', async (context) => {
    const clock = simulatedClock()
    const limits = { helloMs: 500, drainMs: 50 }
    const serving = await serveAgents(context, [echo], { tokens, limits, runtime: { clock } })
    const [unknown, known] = [await serving.dial(), await serving.dial({ headers: bearer })]
    await clock.advance(501)
    assert.equal(await Promise.all([unknown.closed, known.closed]), [
      { code: 4001, reason: 'no hello in time' },
      { code: 4001, reason: 'no hello in time' },
    ])
  })

  it('are refused where their token is wrong, as ever', async (context) => {
    const serving = await serveFew(context, {})
    const client = serving.connect({ token: 'a-token-of-nobody-at-all' })
    await untilStatus(client, 'closed')
    const bare = await serving.dial({ headers: { authorization: 'Bearer a-token-of-nobody-at-all' }, hello: {} })
    assert.is((await bare.closed).code, 4001)
  })
})

describe('a token that comes as a subprotocol', (it) => {
  it('lets a page in at an endpoint too, and is not said back', async (context) => {
    const endpoints: Endpoint[] = [
      { path: '/own', connect: (socket, access) => socket.send(String(access.may('talk'))) },
    ]
    const serving = await serveAgents(context, [echo], { tokens, endpoints })
    const socket = new globalThis.WebSocket(serving.server.url.replace('/bridge', '/own'), [
      tokenProtocol(token),
      'own.v1',
    ])
    context.cleanup(() => socket.close())
    const said = await new Promise((resolve) => socket.addEventListener('message', ({ data }) => resolve(data)))
    assert.equal([said, socket.protocol], ['true', 'own.v1'])
  })
})

describe('a token that the application changes', (it) => {
  it('counts from the next hello on, and those who came with it leave', async (context) => {
    const clock = simulatedClock()
    const changing: Record<string, 'admin' | 'observe'> = { [token]: 'admin' }
    const limits = { drainMs: 50, pingMs: 5_000 }
    const endpoints: Endpoint[] = [{ path: '/own', connect: () => {} }]
    const serving = await serveAgents(context, [echo], { tokens: changing, limits, endpoints, runtime: { clock } })
    const stays = await serving.dial({ hello: { token } })
    await stays.until(({ type }) => type === 'welcome')
    changing['another-token-0123456789'] = 'observe'
    const added = await serving.dial({ hello: { token: 'another-token-0123456789' } })
    await added.until(({ type }) => type === 'welcome')
    const at = new WebSocket(serving.server.url.replace('/bridge', '/own'), {
      headers: { authorization: 'Bearer another-token-0123456789' },
    })
    const left = new Promise<number>((resolve) => at.on('close', resolve))
    await new Promise((resolve) => at.on('open', resolve))
    changing['short'] = 'admin'
    assert.is((await (await serving.dial({ hello: { token: 'short' } })).closed).code, 4001)
    changing['another-token-0123456789'] = 'admin'
    await clock.advance(5_000)
    assert.equal(await added.closed, { code: 1001, reason: 'the token was changed' })
    assert.is(await left, 1001)
    assert.is(stays.socket.readyState, WebSocket.OPEN)
    delete changing['another-token-0123456789']
    const gone = await serving.dial({ hello: { token: 'another-token-0123456789' } })
    assert.is((await gone.closed).code, 4001)
  })
})
