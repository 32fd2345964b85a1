import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, request as httpRequest } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { nextTurn } from '../../../../test/support/runCase.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import type { Endpoint } from '../../src/server/endpoint.ts'
import { approving, serveAgents, untilApproval } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await nextTurn()
}

describe('a log that cannot be read any more', (it) => {
  it('is told to who reads it, who is to come back, and to nobody else', async (context) => {
    let isBroken = false
    const inner = memoryStore()
    const store: Store = {
      ...inner,
      async *read(agentId, fromSeq) {
        if (isBroken) throw new RuntimeError('STORE_READ_FAILED', 'The disk is gone.')
        yield* inner.read(agentId, fromSeq)
      },
    }
    const serving = await serveAgents(context, [echo], { runtime: { store } })
    const agent = await serving.runtime.spawn(echo, { id: 'a1' })
    await agent.prompt('go').result
    const [reader, other] = [await serving.dial({ hello: {} }), await serving.dial({ hello: {} })]
    await other.until(({ type }) => type === 'welcome')
    isBroken = true
    reader.send({ type: 'agent.subscribe', id: 's', agentId: 'a1' })
    assert.is((await reader.closed).code, 1011)
    const error = reader.frames.find((frame) => frame.type === 'error')
    assert.equal([error?.code, error?.id], ['STORE_READ_FAILED', undefined])
    isBroken = false
    assert.is((await other.ask({ type: 'agent.subscribe', agentId: 'a1' })).type, 'ok')
  })
})

describe('an answer over HTTP', (it) => {
  const large = 8 * 1024 * 1024
  /** A server whose endpoint does what the case says, and whose time stands still. */
  async function served(context: CaseContext, answer: NonNullable<Endpoint['answer']>, hardLimitBytes = large * 4) {
    const clock = simulatedClock()
    const serving = await serveAgents(context, [echo], {
      endpoints: [{ path: '/own', answer }],
      runtime: { clock },
      limits: { pingMs: 1_000, hardLimitBytes, drainMs: 50 },
    })
    return { ...serving, clock }
  }

  it('that fails once it has begun is broken off, and before that is an error', async (context) => {
    for (const hasBegun of [true, false]) {
      const { server } = await served(context, (_, response) => {
        if (hasBegun) response.writeHead(200).write('half')
        throw new Error('oh no')
      })
      const asked = fetch(`http://127.0.0.1:${server.port}/own`).then(async (one) => [one.status, await one.text()])
      if (hasBegun) await assert.rejects(asked)
      else assert.equal(await asked, [500, 'oh no\n'])
    }
  })

  /** Names of answers, how each is written, and true for one that is looked at only when it has ended. */
  const writers: readonly (readonly [string, (response: ServerResponse) => void | Promise<void>, boolean?])[] = [
    [
      'one that goes on',
      (response) => {
        for (let at = 0; at < large; at += 65_536) response.write(Buffer.alloc(65_536))
      },
    ],
    ['one that is given to its end at once', (response) => void response.end(Buffer.alloc(large))],
    ['a text that is given to its end at once', (response) => void response.end('ä'.repeat(large / 2))],
    [
      'the large end of one',
      (response) => {
        response.write('begun')
        response.end(Buffer.alloc(large))
      },
    ],
    [
      'the end of one',
      async (response) => {
        for (let given = 1, taken = 0; taken === given - 1; given += 1) {
          response.write(Buffer.alloc(65_536), () => (taken += 1))
          for (let turn = 0; turn < 50; turn += 1) await nextTurn()
        }
        response.end()
      },
      true,
    ],
  ]
  for (const [name, hardLimitBytes, silent] of [
    ['two pings in a row', large * 4, 2],
    ['one, where more waits than may', 1_024, 1],
  ] as const)
    for (const [how, write, ends] of writers)
      it(`that is not read between ${name} is cut off, and not before: ${how}`, async (context) => {
        const state = { isOver: false, isReady: () => true }
        let sent = (): number => 0
        const own: NonNullable<Endpoint['answer']> = (_, response) => {
          const { socket } = response
          sent = () => socket!.bytesWritten - socket!.writableLength
          response.on('close', () => (state.isOver = true))
          if (ends) state.isReady = () => response.writableEnded
          return write(response)
        }
        const { server, clock } = await served(context, own, hardLimitBytes)
        const socket = connectSocket(server.port, '127.0.0.1')
        context.cleanup(() => socket.destroy())
        socket.on('error', () => {})
        socket.write('GET /own HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
        await until(() => server.connections === 1 && state.isReady())
        let [unread, before] = [-1, -1]
        while (!state.isOver && unread < 5) {
          for (let turn = 0; turn < 20; turn += 1) await nextTurn()
          unread = sent() === before ? unread + 1 : 0
          before = sent()
          await clock.advance(1_000)
        }
        assert.is(unread, silent)
      })

  for (const [how, given, headers] of [
    ['bytes', [Buffer.alloc(large, 'ab')], { 'content-length': String(large) }],
    ['text in an encoding', ['6162'.repeat(large / 2), 'hex'], { 'content-length': String(large) }],
    ['text, whose head was written', ['ab'.repeat(large / 2)], { 'transfer-encoding': 'chunked' }],
  ] as const)
    it(`that is slowly read comes whole, once, whatever is given to it after its end: ${how}`, async (context) => {
      let ended = 0
      const { server, clock } = await served(context, (_, response) => {
        if (how.includes('head')) response.writeHead(200)
        const end = response.end.bind(response) as (...all: readonly unknown[]) => unknown
        end(...given, () => (ended += 1))
        response.write('more')
        response.end('more')
      })
      const request = httpRequest({ port: server.port, host: '127.0.0.1', path: '/own', agent: false }).end()
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      for (const [name, value] of Object.entries(headers)) assert.is(response.headers[name], value)
      const read: Buffer[] = []
      for await (const chunk of response) {
        read.push(chunk as Buffer)
        if (read.length % 32 === 0) await clock.advance(1_000)
      }
      assert.equal([Buffer.concat(read).equals(Buffer.alloc(large, 'ab')), ended], [true, 1])
    })

  it('ends with the token that it was asked with, and with the server', async (context) => {
    const tokens: Record<string, 'admin'> = { 'some-token-0123456789': 'admin' }
    const clock = simulatedClock()
    let left = 0
    const own: Endpoint = {
      path: '/own',
      answer(_, response, __, answering) {
        response.writeHead(200).flushHeaders()
        answering.onLeave(() => {
          left += 1
          response.end()
        })
      },
    }
    const { server } = await serveAgents(context, [echo], {
      endpoints: [own],
      tokens,
      runtime: { clock },
      limits: { pingMs: 1_000 },
    })
    const ask = async () => {
      const request = httpRequest({
        port: server.port,
        host: '127.0.0.1',
        path: '/own',
        agent: false,
        headers: { authorization: 'Bearer some-token-0123456789' },
      })
      request.end()
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      response.resume()
      response.on('error', () => {})
      return new Promise<boolean>((resolve) => response.on('close', () => resolve(response.complete)))
    }
    const first = ask()
    await until(() => server.connections === 1)
    await clock.advance(5_000)
    assert.is(server.connections, 1)
    delete tokens['some-token-0123456789']
    await clock.advance(1_000)
    assert.is(await first, false)
    tokens['some-token-0123456789'] = 'admin'
    const second = ask()
    await until(() => server.connections === 1)
    const closing = server.close()
    assert.is(await second, true)
    await closing
    assert.is(left, 1)
  })
})

describe('an incognito agent', (it) => {
  it('is shared, forked and listed for nobody, but as its own client sees it', async (context) => {
    const { worker } = approving()
    const tokens = {
      'a-token-of-ann-012345': { role: 'admin', owner: 'ann' },
      'a-token-of-ben-012345': { role: 'admin', owner: 'ben' },
    } as const
    const serving = await serveAgents(context, [worker], { tokens })
    const [ann, ben] = ['ann', 'ben'].map((name) => serving.connect({ token: `a-token-of-${name}-012345` }))
    const hidden = await ann!.spawn('worker', { id: 'hidden', incognito: true })
    const asked = new Promise<void>((resolve) =>
      hidden.subscribe(({ type }) => void (type === 'approval.requested' && resolve())),
    )
    void hidden.prompt('go')
    await asked
    await untilApproval(serving, worker, 'shown')
    const waiting = async (client: typeof ann) =>
      (await client!.waiting()).waiting.map(({ agentId }) => agentId).toSorted()
    assert.equal(await waiting(ben), ['shown'])
    await assert.rejects(hidden.share(), withCode('AGENT_INCOGNITO'))
    await assert.rejects(hidden.fork('n1'), withCode('AGENT_INCOGNITO'))
    const foreign = ben!.agent('hidden')
    for (const ask of [
      () => foreign.share(),
      () => foreign.fork('n1'),
      () => foreign.snapshot(),
      () => foreign.conversation('log'),
      () => foreign.past(),
      () => foreign.abort(),
      () => foreign.stop(),
    ])
      await assert.rejects(ask(), withCode('AGENT_NOT_FOUND'))
    assert.is(hidden.id, 'hidden')
  })
})

describe('a link that lets look', (it) => {
  it('is good for a second to thirty days', async (context) => {
    const tokens = { 'some-token-0123456789': 'admin' } as const
    const serving = await serveAgents(context, [echo], { tokens })
    await serving.runtime.spawn(echo, { id: 'a1' })
    const bare = await serving.dial({ hello: { token: 'some-token-0123456789' } })
    const month = 30 * 24 * 60 * 60 * 1_000
    for (const ms of [1_000, month])
      assert.is((await bare.ask({ type: 'agent.share', agentId: 'a1', ms })).type, 'ok', `${ms}`)
    for (const ms of [999, month + 1, 0, 1_000.5])
      assert.is((await bare.ask({ type: 'agent.share', agentId: 'a1', ms })).type, 'error', `${ms}`)
  })
})
