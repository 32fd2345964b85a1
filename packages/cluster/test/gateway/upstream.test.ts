import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws'
import { closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import { Upstream } from '../../src/gateway/upstream.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { welcome } from './fakeWorker.ts'

/** Resolves once it is so; the deadline of the case ends it otherwise. */
const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await wait(1)
}

/** A connection to a worker, and that worker's side of it. */
async function connected({ cleanup }: Pick<CaseContext, 'cleanup'>, options: ServerOptions = {}) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', ...options })
  await once(server, 'listening')
  const arrival = once(server, 'connection') as Promise<[WebSocket, IncomingMessage]>
  const heard: string[] = []
  const clock = simulatedClock()
  const frames: string[] = []
  const closed: (string | undefined)[] = []
  const upstream = new Upstream(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/bridge`, 'who', {
    clock,
    frame: ({ type }) => void frames.push(type),
    closed: (_, why) => void closed.push(why),
  })
  cleanup(async () => {
    upstream.close()
    await clock.advance(2_000)
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  const [socket, request] = await arrival
  const pings = { count: 0 }
  socket.on('message', (data: Buffer) => void heard.push(data.toString()))
  socket.on('ping', () => (pings.count += 1))
  const state = { closeCode: 0 }
  socket.on('close', (code) => (state.closeCode = code))
  await until(() => heard.length === 1)
  return {
    upstream,
    clock,
    socket,
    request,
    heard,
    frames,
    closed,
    pings,
    state,
    say: (frame: object | string) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
  }
}

describe('the way of one client to one worker', (it) => {
  it('says who the client is, and everything else once it is let in, in order', async (context) => {
    const { upstream, heard, say, request, frames } = await connected(context)
    assert.is(request.headers.authorization, 'Bearer who')
    upstream.send({ n: 1 })
    upstream.send({ n: 2 })
    say({ type: 'agents', agents: [], gone: [] })
    await until(() => frames.length === 1)
    assert.equal(heard, ['{"type":"hello"}'])
    say(welcome)
    assert.is((await upstream.welcome).type, 'welcome')
    upstream.send({ n: 3 })
    await until(() => heard.length === 4)
    assert.equal(heard.slice(1), ['{"n":1}', '{"n":2}', '{"n":3}'])
    say([{ type: 'pong' }, { type: 'agents', agents: [], gone: [] }] as never)
    await until(() => frames.length >= 2)
  })

  it('is closed with why it was not let in', async (context) => {
    const { upstream, say, socket, closed } = await connected(context)
    const refused = upstream.welcome.catch((thrown: unknown) => (thrown as Error).message)
    say({ type: 'error', code: 'BRIDGE_UNAUTHORISED', message: 'You are nobody.' })
    socket.close(4_001)
    assert.is(await refused, 'You are nobody.')
    await until(() => closed.length > 0)
    assert.equal(closed, ['You are nobody.'])
  })

  it('gives what goes wrong later to the client, and is not closed by it', async (context) => {
    const { say, frames, closed } = await connected(context)
    say(welcome)
    say({ type: 'error', code: 'BRIDGE_FRAME', message: 'What?' })
    await until(() => frames.length === 1)
    assert.equal([frames, closed], [['error'], []])
  })

  const closes: readonly (readonly [code: number, reason: string, why: string | undefined])[] = [
    [closeCodes.flooded, 'x', undefined],
    [closeCodes.silent, 'x', undefined],
    [1_011, 'x', undefined],
    [closeCodes.goingAway, 'bye', `it closed with ${closeCodes.goingAway} (bye)`],
    [1_000, '', 'it closed with 1000'],
  ]
  for (const [code, reason, why] of closes)
    it(`is closed with ${code}: ${why === undefined ? 'nothing is wrong with the worker' : why}`, async (context) => {
      const { say, socket, closed, clock } = await connected(context)
      say(welcome)
      socket.close(code, reason)
      await until(() => closed.length > 0)
      assert.equal([closed, clock.pending], [[why], 0])
    })

  for (const [what, text] of [
    ['no JSON', 'garbage'],
    ['no frame', '{"type":5}'],
  ] as const)
    it(`is given up with a worker that says ${what}`, async (context) => {
      const { say, closed } = await connected(context)
      say(text)
      await until(() => closed.length > 0)
      assert.equal(closed, ['it sent what is no frame'])
    })

  it('is given up with a worker that says what is no text', async (context) => {
    const { socket, closed } = await connected(context)
    socket.send(Buffer.from(JSON.stringify(welcome)))
    await until(() => closed.length > 0)
    assert.equal(closed, ['it sent what is no frame'])
  })

  it('asks every two seconds whether the worker is there, and gives up one that says nothing', async (context) => {
    const { clock, pings, closed, say } = await connected(context, { autoPong: false })
    say(welcome)
    await clock.advance(1_999)
    assert.is(pings.count, 0)
    await clock.advance(1)
    await until(() => pings.count === 1)
    await clock.advance(2_000)
    await until(() => closed.length > 0)
    assert.equal([closed, pings.count], [['it does not answer'], 1])
  })

  it('has its time anew once it goes on reading, as an answer may lie there', async (context) => {
    const { upstream, clock, pings, closed, say } = await connected(context, { autoPong: false })
    say(welcome)
    await upstream.welcome
    upstream.pause()
    for (let asked = 1; asked <= 3; asked += 1) {
      await clock.advance(2_000)
      await until(() => pings.count === asked)
    }
    upstream.resume()
    await clock.advance(2_000)
    await until(() => pings.count === 4)
    assert.equal(closed, [])
    await clock.advance(2_000)
    await until(() => closed.length > 0)
    assert.equal(closed, ['it does not answer'])
  })

  it('is cut off from a worker that does not answer that its client leaves', async (context) => {
    const { upstream, clock, socket, say, closed } = await connected(context)
    say(welcome)
    await upstream.welcome
    socket.pause()
    upstream.close()
    await clock.advance(1_999)
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal([closed.length, clock.pending], [0, 1])
    await clock.advance(1)
    await until(() => closed.length > 0)
    assert.is(clock.pending, 0)
  })

  for (const how of ['answers', 'says something'] as const)
    it(`keeps a worker that ${how}`, async (context) => {
      const { clock, pings, closed, say, frames, socket } = await connected(context, { autoPong: how === 'answers' })
      say(welcome)
      for (let round = 1; round <= 3; round += 1) {
        await clock.advance(2_000)
        await until(() => pings.count === round)
        if (how === 'answers') {
          // Its answer to this comes after that it is there.
          socket.ping()
          await once(socket, 'pong')
        } else {
          say({ type: 'agents', agents: [], gone: [] })
          await until(() => frames.length === round)
        }
      }
      assert.equal(closed, [])
    })

  it('reads nothing while it is paused, and does not take that for silence', async (context) => {
    const { upstream, clock, say, frames, closed, pings, heard } = await connected(context, { autoPong: false })
    // Before it is let in, it must hear that.
    upstream.pause()
    upstream.send({ n: 1 })
    say(welcome)
    await upstream.welcome
    await until(() => heard.length === 2)
    say({ type: 'agents', agents: [], gone: [] })
    for (let round = 1; round <= 3; round += 1) {
      await clock.advance(2_000)
      await until(() => pings.count === round)
    }
    assert.equal([frames, closed], [[], []])
    upstream.resume()
    await until(() => frames.length === 1)
    upstream.pause()
    say({ type: 'agents', agents: [], gone: [] })
    upstream.send({ n: 2 })
    await until(() => heard.length === 3)
    assert.is(frames.length, 1)
  })

  it('is left with a close, and cut where the worker does not answer that', async (context) => {
    const { upstream, state, clock, closed } = await connected(context)
    upstream.close()
    await until(() => state.closeCode !== 0)
    assert.is(state.closeCode, 1_000)
    await until(() => closed.length > 0)
    assert.is(clock.pending, 0)
    const silent = await connected(context)
    silent.socket.pause()
    silent.upstream.close()
    await silent.clock.advance(1_999)
    assert.equal(silent.closed, [])
    await silent.clock.advance(1)
    await until(() => silent.closed.length > 0)
  })
})
