import { closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { toErrorInfo } from '../../../../src/protocol/errors.ts'
import type { Permit } from '../../src/server/authenticator.ts'
import type { Bridge } from '../../src/server/bridge.ts'
import { Feed } from '../../src/server/feed.ts'
import { Room } from '../../src/server/room.ts'
import { BridgeSession } from '../../src/server/bridgeSession.ts'
import type { Relay } from '../../src/server/front.ts'
import { limitsOf } from '../../src/server/limits.ts'
import type { ServerSocket } from '../../src/server/serverSocket.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

/** A socket whose client answers a close only when it is told to. */
class Socket implements ServerSocket {
  readyState = 1
  bufferedAmount = 0
  closed: number | undefined
  isTerminated = false
  pings = 0
  readonly #listeners = new Map<string, ((...given: never[]) => void)[]>()

  readonly sent: object[] = []

  send(text: string, done: () => void): void {
    this.sent.push(...[JSON.parse(text) as object].flat())
    done()
  }

  ping(): void {
    this.pings += 1
  }

  close(code: number): void {
    this.readyState = 2
    this.closed = code
  }

  terminate(): void {
    this.isTerminated = true
    this.leave()
  }

  on(event: string, listener: (...given: never[]) => void): void {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener])
  }

  tell(event: string, ...given: unknown[]): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(...(given as never[]))
  }

  says(frame: object): void {
    this.tell('message', JSON.stringify(frame), false)
  }

  /** Its end is there. */
  leave(): void {
    if (this.readyState === 3) return
    this.readyState = 3
    this.tell('close')
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Options {
  readonly expiresAt?: number
  readonly relay?: Promise<Relay>
  readonly waitingCommands?: number
  /** Resolves once the application has decided. */
  readonly decision?: Promise<void>
  readonly owner?: string
}

/** A session of a server, or of a gateway where there is a relay. */
function begun({ expiresAt, relay, waitingCommands = 256, decision, owner = 'somebody' }: Options = {}) {
  const simulated = simulatedClock()
  const [waits, released, feeds] = [[] as number[], [] as string[], new Map<string, Feed>()]
  let watching = 0
  const clock: Clock = {
    now: () => simulated.now(),
    after(ms, callback) {
      waits.push(ms)
      return simulated.after(ms, callback)
    },
  }
  const bridge = {
    clock,
    limits: limitsOf({ waitingCommands, framesPerSecond: 10_000 }),
    connections: new Set(),
    room: new Room(limitsOf().connections, simulated),
    unauthenticated: new Set(),
    results: { enter: () => ({}), leave: () => {}, checkOwner: () => {} },
    newId: () => 's',
    outward: (thrown: unknown) => toErrorInfo(thrown, 'INTERNAL'),
    definitions: new Map(),
    roster: { watch: () => void (watching += 1), unwatch: () => void (watching -= 1) },
    runtime: { agent: () => undefined },
    feedOf: async (agentId: string) => {
      const feed = feeds.get(agentId) ?? new Feed({ agentId, path: [], lastSeq: 0 })
      feeds.set(agentId, feed)
      return feed
    },
    releaseFeed: (agentId: string) => void released.push(agentId),
    logOf: () => ({ read: async function* () {} }),
    ...(relay === undefined ? {} : { front: { enter: () => relay } }),
  } as unknown as Bridge
  const permit: Permit = {
    grant: { role: 'admin' },
    owner,
    ...(expiresAt === undefined ? {} : { expiresAt: simulated.now() + expiresAt }),
    isGranted: () => true,
  }
  const socket = new Socket()
  const session = new BridgeSession(socket, bridge, {
    permit: () => decision?.then(() => permit) ?? permit,
    token: 'token',
    logRefusal: () => {},
  })
  return { socket, session, clock: simulated, waits, feeds, released, watching: () => watching }
}

/** `waiting`: commands that no worker has answered. */
function relayOf(waiting = () => 0) {
  const state = { closes: 0, taken: 0 }
  const relay: Relay = {
    definitions: [],
    descriptions: undefined,
    get waiting() {
      return waiting()
    },
    running: async () => new Set(),
    workers: async () => [],
    takes: () => (state.taken += 1) > 0,
    close: () => (state.closes += 1),
  }
  return { relay, state }
}

const command = (id: number) => ({ type: 'agent.abort', id: `c${id}`, agentId: 'a' })

describe('a client that leaves', (it) => {
  it('while it is let in leaves no way to workers behind; after that, once', async () => {
    for (const isEarly of [true, false]) {
      const entered = Promise.withResolvers<Relay>()
      const { relay, state } = relayOf()
      const { socket, session } = begun({ relay: entered.promise })
      socket.says({ type: 'hello' })
      await turn()
      if (isEarly) socket.leave()
      entered.resolve(relay)
      await turn()
      assert.equal([session.isAuthenticated, state.closes], [!isEarly, isEarly ? 1 : 0])
      socket.leave()
      await turn()
      assert.is(state.closes, 1)
    }
  })

  it('while the application decides who it is does not come in', async () => {
    for (const leaves of [true, false]) {
      const decision = Promise.withResolvers<void>()
      const { socket, session } = begun({ decision: decision.promise })
      socket.says({ type: 'hello' })
      assert.is(session.isAuthenticating, true)
      if (leaves) socket.leave()
      decision.resolve()
      await turn()
      assert.is(session.isAuthenticated, !leaves)
    }
  })

  it('is cut off when it does not answer a close, and left alone when it does', async () => {
    for (const answers of [false, true])
      for (const begins of [
        (_: Socket, session: BridgeSession) => session.close(closeCodes.goingAway, 'bye'),
        (socket: Socket) => socket.tell('error'),
      ]) {
        const { socket, session, clock } = begun()
        socket.says({ type: 'hello' })
        begins(socket, session)
        session.close(closeCodes.goingAway, 'again')
        session.ping()
        assert.is(socket.pings, 0, 'nothing is asked of who is to leave')
        await clock.advance(1_999)
        assert.is(socket.isTerminated, false)
        if (answers) socket.leave()
        await clock.advance(1)
        assert.equal([socket.isTerminated, clock.pending], [!answers, 0])
      }
  })
})

describe('commands that wait', (it) => {
  it('are bounded, also where they wait for a worker behind a gateway', async () => {
    const waiting = { count: 0 }
    const { relay, state } = relayOf(() => waiting.count)
    const { socket } = begun({ relay: Promise.resolve(relay), waitingCommands: 5 })
    socket.says({ type: 'hello' })
    await turn()
    for (; waiting.count < 5; waiting.count += 1) socket.says(command(waiting.count))
    socket.says(command(5))
    assert.equal([socket.closed, state.taken], [undefined, 6])
    waiting.count = 6
    socket.says(command(6))
    assert.equal([socket.closed, state.taken], [closeCodes.flooded, 6])
  })

  it('are bounded while it is decided who the client is', async () => {
    const { socket } = begun({ relay: new Promise(() => {}), waitingCommands: 5 })
    socket.says({ type: 'hello' })
    for (let id = 0; id < 6; id += 1) socket.says(command(id))
    assert.is(socket.closed, undefined)
    socket.says(command(6))
    assert.is(socket.closed, closeCodes.flooded)
  })
})

describe('a link', (it) => {
  const day = 24 * 60 * 60 * 1_000

  it('ends when it expires, also after more days than a timer holds, and never before', async () => {
    for (const days of [1, 24, 25, 30]) {
      const { socket, clock, waits } = begun({ expiresAt: days * day })
      socket.says({ type: 'hello' })
      await clock.advance(days * day - 1)
      assert.is(socket.closed, undefined, `${days} days`)
      await clock.advance(1)
      assert.is(socket.closed, closeCodes.unauthorised, `${days} days`)
      assert.ok(waits.every((ms) => ms < 2 ** 31))
    }
  })

  it('waits for nothing any more once its client has left', async () => {
    const { socket, clock } = begun({ expiresAt: 30 * day })
    socket.says({ type: 'hello' })
    assert.is(clock.pending, 1)
    socket.leave()
    assert.is(clock.pending, 0)
  })
})

describe('frames for a client', (it) => {
  const typesOf = ({ sent }: Socket): string[] => sent.map((frame) => (frame as { readonly type: string }).type)

  it('are sent before a close, and at the latest with the next ping', async () => {
    const left = begun()
    left.socket.says({ type: 'hello' })
    left.socket.says({ type: 'ping' })
    left.session.leave()
    assert.equal(typesOf(left.socket), ['welcome', 'pong', 'closing'])
    assert.is(left.socket.closed, closeCodes.goingAway)
    const pinged = begun()
    pinged.socket.says({ type: 'hello' })
    assert.equal(typesOf(pinged.socket), [])
    pinged.session.ping()
    assert.equal(typesOf(pinged.socket), ['welcome'])
    const gone = begun()
    gone.socket.says({ type: 'hello' })
    gone.socket.leave()
    gone.session.leave()
    await turn()
    assert.equal(typesOf(gone.socket), [])
  })

  it('are of as many agents as it is told, fewer for a link, and of none once it has left', async () => {
    for (const [owner, most] of [
      ['somebody', 1_000],
      ['share.one', 100],
    ] as const) {
      const { socket, feeds, released, watching } = begun({ owner, waitingCommands: 10_000 })
      socket.says({ type: 'hello' })
      await turn()
      const [welcome] = socket.sent as { readonly limits?: { readonly maxSubscriptions: number } }[]
      assert.is(welcome?.limits?.maxSubscriptions, most)
      for (let n = 0; n <= most; n += 1) socket.says({ type: 'agent.subscribe', id: `s${n}`, agentId: `a${n}` })
      socket.says({ type: 'agent.watch', id: 'w' })
      const isAnswered = (): boolean => socket.sent.some((frame) => 'id' in frame && frame.id === 'w')
      while (!isAnswered()) await turn()
      const refused = socket.sent.filter((frame) => 'code' in frame)
      assert.equal(
        refused.map((frame) => [Reflect.get(frame, 'id'), Reflect.get(frame, 'code')]),
        [[`s${most}`, 'BRIDGE_LIMIT']],
      )
      assert.equal(released, [`a${most}`])
      assert.is(watching(), 1)
      const listening = (): number => [...feeds.values()].filter(({ hasListeners }) => hasListeners).length
      assert.is(listening(), most)
      socket.leave()
      assert.equal([listening(), watching(), released.length], [0, 0, most + 1])
    }
  })

  it('begin where the log ends, and no later', async () => {
    const { socket } = begun()
    socket.says({ type: 'hello' })
    for (const fromSeq of [1, 2, 3]) socket.says({ type: 'agent.subscribe', id: `s${fromSeq}`, agentId: 'a', fromSeq })
    while (!socket.sent.some((frame) => Reflect.get(frame, 'id') === 's3')) await turn()
    const refused = socket.sent.flatMap((frame) => ('code' in frame ? [Reflect.get(frame, 'id') as unknown] : []))
    assert.equal(refused, ['s2', 's3'])
  })

  it('are none of what is found only once it has left', async () => {
    const { socket, feeds, released, watching } = begun()
    socket.says({ type: 'hello' })
    socket.says({ type: 'agent.subscribe', id: '1', agentId: 'a' })
    socket.says({ type: 'agent.watch', id: '2' })
    socket.readyState = 2
    for (let n = 0; n < 5; n += 1) await turn()
    assert.equal([feeds.get('a')?.hasListeners, released, watching()], [false, ['a'], 0])
  })
})
