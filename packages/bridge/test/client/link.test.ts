import { closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { linked } from './linkedSockets.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const turns = async (): Promise<void> => {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve))
}
describe('a link', (it) => {
  it('says who it is, and is open once it is welcome', () => {
    for (const [token, key, hello, protocols] of [
      [undefined, undefined, { type: 'hello', sessionId: 's' }, 1],
      ['t', 'k', { type: 'hello', sessionId: 's', sessionKey: 'k', token: 't' }, 2],
    ] as const) {
      const { link, last, take, lets } = linked({ token }, key)
      link.open()
      link.send({ type: 'ping' })
      assert.is(link.status, 'connecting')
      last().happens('open')
      assert.equal(
        last()
          .sent.slice(1)
          .map((text) => JSON.parse(text) as object),
        [hello],
      )
      assert.is(last().protocols.length, protocols)
      lets()
      assert.equal([link.status, link.retryAt], ['open', undefined])
      assert.equal(take(), ['opened', 'open'])
    }
  })

  it('waits longer each time, and tells once why there is no connection', async () => {
    const { link, clock, sockets, take, last } = linked()
    link.open()
    const waits: number[] = []
    for (let round = 1; round <= 6; round += 1) {
      last().happens('error', { message: 'no route.' })
      last().happens('close', { code: 1006 })
      const wait = link.retryAt! - clock.now()
      waits.push(wait)
      await clock.advance(wait - 1)
      assert.is(sockets.length, round)
      await clock.advance(1)
      assert.is(sockets.length, round + 1)
    }
    assert.equal(waits, [100, 200, 400, 800, 1_000, 1_000])
    const [said, ...more] = take()
    assert.match(said!, /BRIDGE_UNREACHABLE: There is no connection to ws:\/\/there: no route\.(?!\.)/)
    assert.equal(more, [])
  })

  it('tells why as far as its socket does', () => {
    for (const [event, given, words] of [
      ['close', { code: 4_500 }, 'it was closed with 4500'],
      ['error', {}, 'it was refused'],
      ['error', { message: '' }, 'it was refused'],
    ] as const) {
      const { link, last, take } = linked()
      link.open()
      last().happens(event, given)
      assert.match(take()[0]!, words)
    }
  })

  it('comes back when its connection is lost, at first at once again where that had lasted', async () => {
    for (const [ms, wait] of [
      [5_000, 100],
      [4_999, 200],
    ] as const) {
      const { link, clock, sockets, take, last, lets } = linked()
      link.open()
      last().happens('close', { code: 1006 })
      await clock.advance(100)
      lets()
      take()
      await clock.advance(ms)
      last().happens('close', { code: 1006 })
      assert.equal([link.status, link.retryAt! - clock.now()], ['reconnecting', wait])
      assert.equal(take(), ['lost', 'reconnecting'])
      await clock.advance(wait)
      assert.equal([sockets.length, link.status, link.retryAt], [3, 'reconnecting', undefined])
      lets()
      assert.equal(take(), ['opened', 'open'])
    }
  })

  it('hears nothing of a socket that it has given up', async () => {
    const { link, clock, sockets, take, last, lets } = linked()
    link.open()
    lets()
    last().happens('close', { code: 1006 })
    await clock.advance(100)
    take()
    const [first, second] = sockets
    first!.happens('open')
    first!.says({ type: 'caughtUp', agentId: 'a', seq: 1 })
    first!.happens('close', { code: closeCodes.unauthorised })
    first!.happens('error')
    assert.equal([take(), first!.sent.length, second!.sent.length], [[], 1, 0])
  })

  it('gives up a connection on which no welcome comes, or no answer to a ping', async () => {
    const { link, clock, sockets, take, last, lets } = linked()
    link.open()
    last().happens('open')
    await clock.advance(9_999)
    assert.is(link.retryAt, undefined)
    await clock.advance(1)
    assert.is(last().closed, 1_000)
    assert.match(take()[0]!, 'no welcome came within 10000 ms')
    await clock.advance(100)
    lets()
    await clock.advance(19_999)
    assert.is(last().sent.length, 1)
    await clock.advance(1)
    assert.is(last().sent.at(-1), '{"type":"ping"}')
    // Whatever comes shows that the server is there.
    await clock.advance(9_999)
    last().says({ type: 'pong' })
    await clock.advance(10_001)
    assert.equal([link.status, last().sent.length], ['open', 3])
    await clock.advance(9_999)
    assert.is(link.status, 'open')
    await clock.advance(1)
    assert.equal([link.status, last().closed], ['reconnecting', 1_000])
    assert.is(sockets.length, 2)
  })

  it('reads on when a frame is not understood or its handler fails, up to its own end', () => {
    const { link, last, take, lets, state } = linked()
    link.open()
    lets()
    take()
    state.onReceived = (type) => {
      if (type === 'caughtUp') throw new Error('mine')
    }
    const [caughtUp, lagging] = ['caughtUp', 'lagging'].map((type) => ({ type, agentId: 'a', seq: 1 }))
    last().says(caughtUp!, { type: 'nothing' }, lagging!)
    const told = take()
    assert.match(told.join('\n'), 'BRIDGE_FRAME: ')
    assert.is(told.at(-1), 'received lagging')
    assert.is(told.filter((one) => one.startsWith('INTERNAL: mine')).length, 1)
    state.onReceived = () => link.close()
    last().says(lagging!, lagging!)
    assert.equal(take(), ['received lagging', 'closed', 'closed BRIDGE_CLOSED'])
  })

  it('leaves a server that closes, and reads no more of it', () => {
    const { link, last, take, lets } = linked()
    link.open()
    lets()
    take()
    last().says({ type: 'closing' }, { type: 'caughtUp', agentId: 'a', seq: 1 })
    assert.equal([take(), link.status, last().closed], [['lost', 'reconnecting'], 'reconnecting', 1_000])
  })

  it('is closed where it is refused, with what the server said', () => {
    for (const said of [undefined, { type: 'error', code: 'BRIDGE_EXPIRED', message: 'Over.' }]) {
      const { link, last, take } = linked({ token: 't' })
      link.open()
      last().happens('open')
      if (said !== undefined) last().says(said)
      last().happens('close', { code: closeCodes.unauthorised })
      assert.is(take().at(-1), `closed ${said?.code ?? 'BRIDGE_UNAUTHORISED'}`)
      assert.is(link.status, 'closed')
    }
  })

  it('tries a second token where it has a source of them, and each time it comes back', async () => {
    let count = 0
    const { link, last, sockets, clock, lets } = linked({ token: () => `t${(count += 1)}` })
    link.open()
    await turns()
    last().happens('close', { code: closeCodes.unauthorised })
    assert.is(link.status, 'connecting')
    await clock.advance(100)
    await turns()
    lets()
    last().happens('close', { code: closeCodes.unauthorised })
    assert.is(link.status, 'reconnecting')
    await clock.advance(200)
    await turns()
    assert.equal([sockets.length, count], [3, 3])
    last().happens('close', { code: closeCodes.unauthorised })
    assert.is(link.status, 'closed')
  })

  it('asks a source of tokens again that fails, or takes longer than ten seconds', async () => {
    const asked: PromiseWithResolvers<string>[] = []
    const source = (): Promise<string> => {
      asked.push(Promise.withResolvers<string>())
      return asked.at(-1)!.promise
    }
    const { link, sockets, clock, take, lets, last } = linked({ token: source })
    link.open()
    await turns()
    asked[0]!.reject(new Error('no login'))
    await turns()
    assert.match(take()[0]!, 'its token failed: no login')
    await clock.advance(100)
    await turns()
    await clock.advance(10_000)
    asked[1]!.resolve('late')
    await turns()
    assert.is(sockets.length, 0)
    await clock.advance(200)
    await turns()
    asked[2]!.resolve('good')
    await turns()
    assert.is(sockets.length, 1)
    lets()
    await clock.advance(10_000)
    assert.is(link.status, 'open')
    take()
    last().happens('close', { code: 1006 })
    await clock.advance(100)
    await turns()
    asked[3]!.reject(new Error('no login'))
    await turns()
    // One that was connected before is told each time.
    assert.match(take().at(-1)!, 'its token failed: no login')
    const closing = linked({ token: source })
    closing.link.open()
    await turns()
    closing.link.close()
    asked.at(-1)!.reject(new Error('late'))
    await turns()
    assert.equal(closing.take(), ['closed', 'closed BRIDGE_CLOSED'])
  })

  it('gives up for good after the time that it has for its first welcome, but for no later one', async () => {
    const never = linked({ connectTimeoutMs: 5_000 })
    never.link.open()
    await never.clock.advance(4_999)
    assert.is(never.link.status, 'connecting')
    await never.clock.advance(1)
    assert.equal([never.take().at(-1), never.clock.pending], ['closed BRIDGE_UNREACHABLE', 0])
    const once = linked({ connectTimeoutMs: 5_000 })
    once.link.open()
    once.lets()
    once.last().happens('close', { code: 1006 })
    await once.clock.advance(6_000)
    assert.is(once.link.status, 'reconnecting')
  })

  it('is closed for good, once, at any time, and nothing waits', async () => {
    const { link, clock, last, lets, take, sockets } = linked()
    link.open()
    lets()
    take()
    last().isBroken = true
    link.send({ type: 'ping' })
    link.close(new RuntimeError('BRIDGE_CLOSED', 'x'))
    link.close()
    link.send({ type: 'ping' })
    last().happens('close', { code: 1000 })
    assert.equal([take(), clock.pending, last().closed], [['closed', 'closed BRIDGE_CLOSED'], 0, 1_000])
    await clock.advance(60_000)
    assert.is(sockets.length, 1)
  })

  it('leaves no timer where it is closed before anybody let it in, also by who hears why', async () => {
    const never = linked({ connectTimeoutMs: 5_000 })
    never.link.open()
    never.link.close()
    assert.is(never.clock.pending, 0)
    const { link, clock, sockets, take, last, state } = linked({ connectTimeoutMs: 5_000 })
    state.onReport = () => link.close()
    link.open()
    last().happens('close', { code: 1006 })
    assert.equal([link.status, clock.pending, take().at(-1)], ['closed', 0, 'closed BRIDGE_CLOSED'])
    await clock.advance(60_000)
    assert.is(sockets.length, 1)
  })

  it('waits for the answer to a ping on the connection that it was sent on, and no other', async () => {
    const { link, clock, sockets, last, lets } = linked()
    const [begin, back] = [20_000, 100]
    link.open()
    lets()
    await clock.advance(begin)
    last().happens('close', { code: 1006 })
    await clock.advance(back)
    // That of the connection before is waited for no more.
    await clock.advance(9_950)
    assert.equal([sockets.length, link.retryAt], [2, undefined])
    lets()
    await clock.advance(begin)
    assert.equal([link.status, last().sent.at(-1)], ['open', '{"type":"ping"}'])
    // And what the socket before still says is no answer.
    await clock.advance(9_999)
    sockets[0]!.says({ type: 'pong' })
    await clock.advance(1)
    assert.is(link.status, 'reconnecting')
  })

  it('is closed for what the server said last, and not for what one said over a connection before', async () => {
    for (const [says, code] of [
      [[], 'BRIDGE_UNAUTHORISED'],
      [[{ type: 'error', code: 'BRIDGE_EXPIRED', message: 'over' }], 'BRIDGE_EXPIRED'],
    ] as const) {
      const { link, clock, take, lets, last } = linked()
      link.open()
      lets()
      last().says({ type: 'error', code: 'BRIDGE_LIMIT', message: 'too much' })
      last().happens('close', { code: 1006 })
      await clock.advance(100)
      last().happens('open')
      for (const frame of says) last().says(frame)
      last().happens('close', { code: closeCodes.unauthorised })
      assert.is(take().at(-1), `closed ${code}`)
    }
  })

  it('is closed where there is no socket for its address', () => {
    const { link, take } = linked({
      webSocket: class {
        constructor() {
          throw new Error('no such scheme')
        }
      } as never,
    })
    link.open()
    assert.equal(take(), ['closed', 'closed INVALID_OPTION'])
  })
})
