import { backoffDelay } from '../../../../src/protocol/backoffDelay.ts'
import { connect } from '../../src/client/connect.ts'
import type { ClientStatus } from '../../src/client/reconnectingLink.ts'
import { DeltaCutter } from '../../src/client/feedListener.ts'
import type { WebSocketConstructor } from '../../src/client/connectOptions.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { quiet, withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

type Listener = (event: object) => void

/** A server's end of sockets that are made here: it says what the test says. */
class Sockets {
  readonly all: { readonly sent: Record<string, unknown>[]; say(frame: unknown): void; drop(code: number): void }[] = []

  get last() {
    return this.all.at(-1)!
  }

  get Socket(): WebSocketConstructor {
    const { all } = this
    return class {
      readonly #listeners = new Map<string, Listener>()

      constructor() {
        const tell = (type: string, event: object): void => this.#listeners.get(type)?.(event)
        all.push({
          sent: this.sent,
          say: (frame) => tell('message', { data: typeof frame === 'string' ? frame : JSON.stringify(frame) }),
          drop: (code) => tell('close', { code }),
        })
        queueMicrotask(() => tell('open', {}))
      }

      readonly sent: Record<string, unknown>[] = []

      addEventListener(type: string, listener: Listener): void {
        this.#listeners.set(type, listener)
      }

      send(text: string): void {
        this.sent.push(JSON.parse(text) as Record<string, unknown>)
      }

      close(): void {}
    }
  }
}

const limits = { maxFrameBytes: 1_000_000, framesPerSecond: 100, maxSubscriptions: 10 }
const welcome = { type: 'welcome', sessionId: 's', role: 'drive', definitions: ['coder'], limits }

async function start({ cleanup }: CaseContext, options: { token?: string } = {}) {
  const clock = simulatedClock()
  const sockets = new Sockets()
  const retry = { baseMs: 100, maxMs: 1_000 }
  const client = connect('ws://server.example/bridge', {
    webSocket: sockets.Socket,
    clock,
    random: () => 1,
    retry,
    ...options,
  })
  cleanup(() => client.close())
  const statuses: ClientStatus[] = [client.status]
  client.onStatus((status) => statuses.push(status))
  await quiet()
  return { client, clock, sockets, statuses }
}

describe('a connection', (it) => {
  it('says hello with its token and its session, the same each time', async (context) => {
    const { client, clock, sockets, statuses } = await start(context, { token: 'secret' })
    await quiet()
    const [hello] = sockets.last.sent
    assert.is(hello?.['token'], 'secret')
    assert.match(String(hello?.['sessionId']), /^[0-9a-f]{32}\.[0-9a-f]{32}$/)
    assert.is(client.role, undefined)
    sockets.last.say(welcome)
    await client.ready
    assert.is(client.role, 'drive')
    assert.equal(client.definitions, ['coder'])
    sockets.last.drop(1006)
    await clock.advance(100)
    await quiet()
    assert.equal(sockets.last.sent, [hello])
    sockets.last.say(welcome)
    assert.equal(statuses, ['connecting', 'open', 'reconnecting', 'open'])
  })

  it('waits longer each time, until it has lasted', async (context) => {
    const { clock, sockets } = await start(context)
    for (const [n, ms] of [100, 200, 400, 800, 1_000, 1_000].entries()) {
      sockets.last.drop(1006)
      await clock.advance(ms - 1)
      assert.is(sockets.all.length, n + 1)
      await clock.advance(1)
      assert.is(sockets.all.length, n + 2)
    }
    sockets.last.say(welcome)
    await clock.advance(4_999)
    sockets.last.drop(1006)
    await clock.advance(999)
    assert.is(sockets.all.length, 7, 'a server may let clients in and drop them')
    await clock.advance(1)
    sockets.last.say(welcome)
    await clock.advance(5_000)
    sockets.last.drop(1006)
    await clock.advance(100)
    assert.is(sockets.all.length, 9)
  })

  it('is made again when the server says that it closes, and after 1001', async (context) => {
    const { client, clock, sockets } = await start(context)
    sockets.last.say(welcome)
    sockets.last.say({ type: 'closing' })
    assert.is(client.status, 'reconnecting')
    await clock.advance(100)
    sockets.last.say(welcome)
    sockets.last.drop(1001)
    assert.is(client.status, 'reconnecting')
  })

  it('that leaves records out has them sent again, and nobody hears them out of order', async (context) => {
    const { client, sockets } = await start(context)
    sockets.last.say(welcome)
    const heard: number[] = []
    client.agent('a').subscribe(({ seq }) => heard.push(seq), { fromSeq: 1 })
    const say = (seq: number): void => {
      const event = { type: 'turn.start', v: 3, seq, time: 1, agentId: 'a', path: [], runId: 'r', turnIndex: 0 }
      sockets.last.say({ type: 'event', agentId: 'a', seq, event })
    }
    for (const seq of [1, 2, 4, 5]) say(seq)
    assert.equal(heard, [1, 2])
    const asked = sockets.last.sent.filter(({ type }) => type === 'agent.subscribe')
    assert.equal(
      asked.map(({ fromSeq }) => fromSeq),
      [1, 3],
    )
    for (const seq of [3, 4, 5, 6]) say(seq)
    assert.equal(heard, [1, 2, 3, 4, 5, 6])
  })

  it('is over for good after 4001', async (context) => {
    const { client, clock, sockets } = await start(context)
    sockets.last.drop(4001)
    assert.is(client.status, 'closed')
    await assert.rejects(client.ready, withCode('BRIDGE_UNAUTHORISED'))
    assert.is(clock.pending, 0)
    assert.is(sockets.all.length, 1)
  })

  it('is given up when no welcome comes, and when no pong does', async (context) => {
    const { client, clock, sockets } = await start(context)
    await clock.advance(10_100)
    assert.is(sockets.all.length, 2)
    sockets.last.say(welcome)
    await clock.advance(20_000)
    assert.equal(sockets.last.sent.at(-1), { type: 'ping' })
    sockets.last.say({ type: 'pong' })
    await clock.advance(20_000)
    assert.is(client.status, 'open')
    await clock.advance(9_999)
    assert.is(client.status, 'open')
    await clock.advance(1)
    assert.is(client.status, 'reconnecting')
  })

  it('is not made with a token that came after it was given up', async ({ cleanup }) => {
    const clock = simulatedClock()
    const sockets = new Sockets()
    const asked: PromiseWithResolvers<string>[] = []
    const client = connect('ws://server.example/bridge', {
      webSocket: sockets.Socket,
      clock,
      random: () => 1,
      retry: { baseMs: 100, maxMs: 100 },
      token: () => {
        asked.push(Promise.withResolvers<string>())
        return asked.at(-1)!.promise
      },
    })
    cleanup(() => client.close())
    await quiet()
    await clock.advance(10_000)
    await clock.advance(100)
    await quiet()
    assert.equal([asked.length, sockets.all.length], [2, 0])
    asked[0]!.resolve('late')
    await quiet()
    assert.is(sockets.all.length, 0)
    asked[1]!.resolve('in time')
    await quiet()
    assert.is(sockets.all.length, 1)
    sockets.last.say(welcome)
    await client.ready
    asked[0]!.reject(new Error('too late'))
    client.close()
    await quiet()
    assert.is(sockets.all.length, 1)
  })

  it('is not disturbed by frames that are not understood', async (context) => {
    const { client, sockets } = await start(context)
    const errors: string[] = []
    client.onError(({ code }) => errors.push(code))
    const faulty = client.onError(() => {
      throw new Error('a bad listener')
    })
    sockets.last.say(welcome)
    const listing = client.agents()
    await quiet()
    const { id } = sockets.last.sent.at(-1)!
    for (const frame of ['not json', '7', { type: 'novelty' }, { type: 'ok' }, { type: 'event', agentId: 3 }, '[[]]'])
      sockets.last.say(frame)
    sockets.last.say([{ type: 'nonsense' }, { type: 'ok', id, result: { agents: [], total: 0 } }])
    assert.equal(await listing, { agents: [], total: 0 })
    assert.equal(
      errors,
      Array.from({ length: 7 }, () => 'BRIDGE_FRAME'),
    )
    // Answers that nobody waits for, of agents nobody knows.
    sockets.last.say({ type: 'ok', id: 'c99', result: null })
    sockets.last.say({ type: 'error', id: 'c99', code: 'INTERNAL', message: 'x' })
    sockets.last.say({ type: 'event', agentId: 'zz', seq: 1, event: null })
    sockets.last.say({ type: 'delta', agentId: 'zz', runId: 'l', turnIndex: 0, kind: 'text', offset: 0, text: 'x' })
    sockets.last.say({ type: 'caughtUp', agentId: 'zz', seq: 1 })
    assert.is(errors.length, 7)
    faulty()
    assert.is(client.status, 'open')
  })

  it('says so when an answer is not understood', async (context) => {
    const { client, sockets } = await start(context)
    sockets.last.say(welcome)
    const listing = client.agents()
    const run = client.agent('a1').prompt('x')
    await quiet()
    for (const { id } of sockets.last.sent.filter(({ type }) => type !== 'hello')) {
      sockets.last.say({ type: 'ok', id, result: 'what' })
    }
    await assert.rejects(listing, withCode('BRIDGE_FRAME'))
    assert.is((await run.result).error?.code, 'BRIDGE_FRAME')
  })

  it('keeps an error of a newer server readable', async (context) => {
    const { client, sockets } = await start(context)
    sockets.last.say(welcome)
    const listing = client.agents()
    await quiet()
    const { id } = sockets.last.sent.at(-1)!
    sockets.last.say({ type: 'error', id, code: 'BRAND_NEW', message: 'Something new.' })
    await assert.rejects(listing, withCode('BRIDGE_FRAME', 'BRAND_NEW: Something new.'))
  })

  it('sends again what was not answered, in order, before what comes later', async (context) => {
    const { client, clock, sockets } = await start(context)
    const agent = client.agent('a1')
    void agent.abort()
    void agent.decide('c1', 'approve')
    sockets.last.say(welcome)
    await quiet()
    const typesOf = (sent: readonly Record<string, unknown>[]): unknown[] => sent.map(({ type, id }) => [type, id])
    const wanted = [
      ['hello', undefined],
      ['agent.abort', 'c1'],
      ['agent.decide', 'c2'],
    ]
    assert.equal(typesOf(sockets.last.sent), wanted)
    sockets.last.say({ type: 'ok', id: 'c1', result: { requestId: 's/c1' } })
    sockets.last.drop(1006)
    void agent.abort()
    await clock.advance(100)
    await quiet()
    sockets.last.say(welcome)
    assert.equal(typesOf(sockets.last.sent), [
      ['hello', undefined],
      ['agent.decide', 'c2'],
      ['agent.abort', 'c3'],
    ])
  })

  it('ends everything when it is closed, and takes nothing more', async (context) => {
    const { client, clock, sockets } = await start(context)
    sockets.last.say(welcome)
    const agent = client.agent('a1')
    const run = agent.prompt('x')
    const stepping = agent.events().next()
    const listing = client.agents()
    client.close()
    client.close()
    assert.is(client.status, 'closed')
    assert.is((await run.result).stopReason, 'error')
    assert.equal(await stepping, { done: true, value: undefined })
    await assert.rejects(listing, /client is closed/)
    await assert.rejects(agent.abort(), /client is closed/)
    assert.is((await agent.prompt('y').result).error?.message.includes('client is closed'), true)
    assert.is(clock.pending, 0)
  })

  it('is closed by a signal', async (context) => {
    const controller = new AbortController()
    const { signal } = controller
    const sockets = new Sockets()
    const options = { webSocket: sockets.Socket, clock: simulatedClock(), signal }
    const client = connect('ws://server.example', options)
    context.cleanup(() => client.close())
    controller.abort()
    assert.is(client.status, 'closed')
    assert.is(connect('ws://server.example', options).status, 'closed')
    assert.is(sockets.all.length, 1)
  })

  it('takes no wrong options', () => {
    assert.throws(() => connect('ftp://server.example'), withCode('INVALID_OPTION', 'ws://'))
    assert.throws(() => connect('ws://'), withCode('INVALID_OPTION'))
    assert.throws(() => connect('ws://x', { retry: { baseMs: -1 } }), withCode('INVALID_OPTION', 'retry.baseMs'))
    assert.throws(() => connect('ws://x', { nonsense: 1 } as object), withCode('INVALID_OPTION', 'nonsense'))
  })
})

describe('the wait before the next connection', (it) => {
  it('doubles up to the most, and half of it is jitter', () => {
    const retry = { baseMs: 100, maxMs: 1_000 }
    assert.equal(
      [0, 1, 2, 3, 4, 2_000].map((attempt) => backoffDelay(attempt, retry, 1)),
      [100, 200, 400, 800, 1_000, 1_000],
    )
    assert.is(backoffDelay(2, retry, 0), 200)
  })
})

describe('deltas', (it) => {
  const delta = (offset: number, text: string, rest: object = {}) =>
    ({ type: 'delta', agentId: 'a', runId: 'l', turnIndex: 0, kind: 'text', offset, text, ...rest }) as const

  it('are cut where they were heard before', () => {
    const cutter = new DeltaCutter()
    assert.equal(cutter.cut(delta(0, 'one ')), { offset: 0, text: 'one ' })
    assert.is(cutter.cut(delta(0, 'one ')), undefined)
    assert.equal(cutter.cut(delta(0, 'one two ')), { offset: 4, text: 'two ' })
    assert.equal(cutter.cut(delta(6, 'o three')), { offset: 8, text: 'three' })
    assert.equal(cutter.cut(delta(20, 'later')), { offset: 20, text: 'later' })
    assert.equal(cutter.cut(delta(0, 'hm', { kind: 'thinking' })), { offset: 0, text: 'hm' })
  })

  it('begin anew in another turn, and in another attempt', () => {
    const cutter = new DeltaCutter()
    cutter.cut(delta(0, 'one '))
    assert.equal(cutter.cut(delta(0, 'one ', { turnIndex: 1 })), { offset: 0, text: 'one ' })
    cutter.observe({ type: 'reply.reset' } as never)
    assert.equal(cutter.cut(delta(0, 'two', { turnIndex: 1 })), { offset: 0, text: 'two' })
  })
})
