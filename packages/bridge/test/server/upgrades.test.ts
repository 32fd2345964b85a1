import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { bridgeProtocol, closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { Admission } from '../../src/server/admission.ts'
import { Bridge } from '../../src/server/bridge.ts'
import { Endpoints, type Endpoint } from '../../src/server/endpoint.ts'
import { HttpRoutes } from '../../src/server/httpRoutes.ts'
import { limitsOf } from '../../src/server/limits.ts'
import { Upgrades } from '../../src/server/upgrades.ts'

/** A socket of either kind that notes what is done with it. */
class Wire extends EventEmitter {
  destroyed = false
  readyState = 1
  bufferedAmount = 0
  said = ''
  terminated = 0
  closedWith: number | undefined

  end(text: string): void {
    this.said += text
    this.emit('finish')
  }

  destroy(): void {
    this.destroyed = true
  }

  close(code: number): void {
    this.closedWith = code
  }

  terminate(): void {
    this.terminated += 1
  }

  send(): void {}
  ping(): void {}
}

const [writer, reader] = ['token-of-one-who-does-it-all', 'token-of-one-who-only-looks']
const tokens = { [writer]: 'admin', [reader]: { may: ['see.messages'] } } as const

/** A server without a network: what it upgrades is handed over at once. */
function served(
  options: { readonly base?: string; readonly limits?: object; readonly authenticate?: () => Promise<object> } = {},
) {
  const clock = simulatedClock()
  const runtime = { agents: () => [], agent: () => undefined, onAgent: () => () => {} }
  const limits = limitsOf({ connections: 4, strangers: 2, strangersPerAddress: 2, ...options.limits })
  const store = memoryStore()
  const authenticate = options.authenticate as never
  const who = authenticate === undefined ? { tokens } : { tokens: undefined, authenticate }
  const bridge = new Bridge(runtime as never, { store, clock, limits, definitions: new Map(), ...who })
  const admission = new Admission(bridge, undefined)
  const echo: Endpoint = {
    path: '/echo',
    connect: () => {},
    answer: (_, response, __, answering) => answering.onLeave(() => response.emit('left')),
  }
  const paths = { base: options.base ?? '/', bridge: '/bridge', endpoints: new Endpoints([echo]) }
  const opened: Wire[] = []
  class WebSocketServer {
    handleUpgrade(_: unknown, __: unknown, ___: unknown, open: (socket: Wire) => void): void {
      const socket = new Wire()
      opened.push(socket)
      open(socket)
    }
    close(): void {}
  }
  const upgrades = new Upgrades(bridge, admission, paths, { WebSocketServer } as never)
  const routes = new HttpRoutes(bridge, admission, paths, undefined)
  const requestOf = (url: string, token: string | undefined, more: object = {}): IncomingMessage => {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    return { url, headers: { host: 'x', ...authorization, ...more }, socket: { remoteAddress: 'here' } } as never
  }
  /** Status of the answer; 101: a socket was opened. */
  const ask = async (url: string, token: string | undefined, more: object = {}, wire = new Wire()): Promise<number> => {
    const before = opened.length
    upgrades.handle(requestOf(url, token, { upgrade: 'websocket', ...more }), wire as never, Buffer.alloc(0))
    await new Promise((resolve) => setImmediate(resolve))
    return opened.length > before ? 101 : Number(/^HTTP\/1.1 (\d+)/.exec(wire.said)?.[1] ?? 0)
  }
  return { bridge, clock, opened, ask, routes, requestOf }
}

const bridged = { 'sec-websocket-protocol': bridgeProtocol }

describe('a socket that is opened', (it) => {
  it('at an endpoint takes a right token, and room, of which readers have only a part', async () => {
    const { ask, opened, bridge } = served()
    assert.is(await ask('/elsewhere', writer), 404)
    assert.equal([await ask('/echo', undefined), await ask('/echo', 'another-wrong-token')], [401, 401])
    for (let count = 1; count <= 3; count += 1) assert.is(await ask('/echo', reader), 101)
    assert.equal([await ask('/echo', reader), bridge.connections.size], [503, 3])
    assert.equal([await ask('/echo', writer), await ask('/echo', writer)], [101, 503])
    opened[0]!.emit('close')
    assert.equal([bridge.connections.size, await ask('/echo', reader)], [3, 101])
  })

  it('is none for a client that has left while the application was asked who it is', async () => {
    const { promise, resolve } = Promise.withResolvers<object>()
    const { ask, opened, bridge } = served({ authenticate: () => promise })
    const wire = new Wire()
    const asking = ask('/echo', writer, {}, wire)
    wire.destroy()
    resolve({ role: 'admin' })
    assert.is(await asking, 0)
    assert.equal([opened.length, bridge.connections.size, wire.said], [0, 0, ''])
  })

  it('at the bridge speaks its protocol, and takes no room before it has said hello', async () => {
    const { ask, bridge } = served()
    assert.equal([await ask('/bridge', writer), await ask('/bridge', undefined)], [400, 400])
    for (let count = 1; count <= 4; count += 1) assert.is(await ask('/bridge', writer, bridged), 101)
    assert.equal([await ask('/bridge', writer, bridged), await ask('/bridge', undefined, bridged)], [503, 101])
    assert.equal([bridge.connections.size, bridge.unauthenticated.size], [5, 1])
  })

  it('and says no hello goes when it is time, or when another one comes, and is then forgotten', async () => {
    const { ask, bridge, opened, clock } = served()
    const sizes = (): readonly number[] => [bridge.connections.size, bridge.unauthenticated.size]
    for (let count = 1; count <= 3; count += 1) assert.is(await ask('/bridge', undefined, bridged), 101)
    assert.equal(
      [sizes(), opened.map(({ terminated }) => terminated)],
      [
        [2, 2],
        [1, 0, 0],
      ],
    )
    opened[1]!.emit('close')
    assert.equal(sizes(), [1, 1])
    opened[0]!.emit('close')
    await clock.advance(bridge.limits.helloMs)
    assert.equal(
      opened.map(({ closedWith }) => closedWith),
      [undefined, undefined, closeCodes.unauthorised],
    )
    opened[2]!.emit('close')
    assert.equal([sizes(), clock.pending], [[0, 0], 0])
  })
})

/** A response whose client the case plays. */
function responding() {
  const gone = { count: 0 }
  const socket = { bytesWritten: 0, writableLength: 0 }
  const response = Object.assign(new EventEmitter(), {
    destroyed: false,
    headersSent: false,
    writableLength: 0,
    writableNeedDrain: false,
    writableEnded: false,
    socket: socket,
    status: 0,
    headers: new Map<string, unknown>(),
    hasHeader: (name: string): boolean => response.headers.has(name),
    getHeader: (name: string): unknown => response.headers.get(name),
    setHeader(name: string, value: unknown) {
      response.headers.set(name, value)
      return response
    },
    writeHead(status: number) {
      response.status = status
      return response
    },
    write: () => true,
    end: () => response,
    destroy: () => void (gone.count += 1),
  })
  return { response, socket, gone }
}

describe('an answer that is given', (it) => {
  const asked = async (serving = served(), method = 'GET') => {
    const answer = responding()
    const request = Object.assign(serving.requestOf('/echo', writer), { method })
    serving.routes.handle(request, answer.response as never)
    await new Promise((resolve) => setImmediate(resolve))
    return { ...answer, ...serving, connection: [...serving.bridge.connections].at(-1) }
  }

  it('is cut off once its client has read nothing of it between three pings, or two if much waits', async () => {
    // Pings after which it is cut off; what waits, and what is read between two pings.
    for (const [what, pings, waits, read] of [
      ['nothing is read', 3, { writableNeedDrain: true }, 0],
      ['much waits', 2, { writableNeedDrain: true, writableLength: Infinity }, 0],
      ['the last piece waits', 3, { writableEnded: true, writableLength: 1 }, 0],
      ['all has left', undefined, { writableEnded: true }, 0],
      ['it is read, if slowly', undefined, { writableNeedDrain: true, writableLength: Infinity }, 1],
      ['nothing waits', undefined, {}, 0],
      ['its socket is gone', undefined, { writableNeedDrain: true, socket: null }, 0],
    ] as const) {
      const { response, socket, gone, connection } = await asked()
      Object.assign(response, waits)
      let count = 0
      while (gone.count === 0 && count < 6) {
        socket.bytesWritten += read
        connection!.ping()
        count += 1
      }
      assert.is(gone.count === 0 ? undefined : count, pings, what)
    }
  })

  it('is told that the server closes, and counts until its client has left', async () => {
    const { response, connection, bridge } = await asked()
    let left = 0
    response.on('left', () => (left += 1))
    connection!.leave()
    assert.equal([left, bridge.connections.size], [1, 1])
    response.emit('close')
    assert.is(bridge.connections.size, 0)
  })

  it('is none where there is no room, once the server is closed, or for who has left', async () => {
    const serving = served({ limits: { connections: 1 } })
    assert.is((await asked(serving)).bridge.connections.size, 1)
    const full = await asked(serving)
    assert.equal([full.response.status, full.bridge.connections.size], [503, 1])
    const closed = served()
    closed.bridge.closeDoors()
    for (const method of ['GET', 'OPTIONS']) {
      const late = await asked(closed, method)
      assert.equal([late.response.status, late.bridge.connections.size], [503, 0], method)
    }
    const { routes, requestOf, bridge } = served()
    const { response } = responding()
    response.destroyed = true
    routes.handle(requestOf('/echo', undefined), response as never)
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal([response.status, response.headers.size, bridge.connections.size], [0, 0, 0])
  })

  it('is cut off when its token no longer allows it', async () => {
    let role: object | null = { role: 'admin' }
    const { gone, connection, clock } = await asked(served({ authenticate: async () => role as object }))
    connection!.ping()
    assert.is(gone.count, 0)
    role = null
    for (let count = 0; count < 4; count += 1) {
      await clock.advance(600_000)
      connection!.ping()
    }
    assert.ok(gone.count > 0)
  })

  it('is none beside the page where no page is served', () => {
    const { routes, requestOf } = served({ base: '/agents/' })
    for (const path of ['/agents', '/agents/', '/elsewhere'])
      assert.is(routes.handle(requestOf(path, writer), responding().response as never), false, path)
  })
})
