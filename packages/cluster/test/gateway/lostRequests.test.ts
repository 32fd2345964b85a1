import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect as dialTcp, createServer as createTcpServer, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { HttpAgent } from '@ag-ui/client'
import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, type UIMessage } from 'ai'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { agUi } from '../../../../src/agUi.ts'
import { aiSdkChat } from '../../../../src/aiSdk.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { serveGateway } from '../../src/serveGateway.ts'
import type { GatewayOptions } from '../../src/gateway/gatewayOptions.ts'
import { endTogether } from '../../../../test/support/endTogether.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { inputOf, say } from '../../../ag-ui/test/agUiHarness.ts'
import { hasty, secret, startFleet } from './fleet.ts'

type Context = Pick<CaseContext, 'cleanup'>

const patient = { timeoutMs: 20_000 }
const bridgeAt = (port: number): string => `ws://127.0.0.1:${port}/bridge`

/** A worker that is an HTTP server and nothing more; what it was asked but for its health, and how often for that. */
async function bareWorker(
  { cleanup }: Context,
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  health: (response: ServerResponse) => void = (response) => void response.end('ok'),
) {
  const seen = { requests: [] as string[], looks: 0 }
  const server = createServer((request, response) => {
    if (request.url === '/healthz') {
      seen.looks += 1
      return health(response)
    }
    void text(request).then((body) => {
      seen.requests.push(`${request.method} ${body}`)
      answer(response, request)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  cleanup(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: bridgeAt((server.address() as AddressInfo).port), seen }
}

/** Where nobody listens any more. */
async function gone(): Promise<string> {
  const server = createTcpServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return bridgeAt(port)
}

async function gatewayTo({ cleanup }: Context, workers: GatewayOptions['workers'], more: Partial<GatewayOptions> = {}) {
  const options = { directory: () => undefined, secret, endpoints: ['/mcp', '/ag-ui', '/api/chat'] }
  const gateway = await serveGateway({ ...options, ...(workers === undefined ? {} : { workers }), ...more })
  cleanup(() => gateway.close())
  return (method: string, body?: unknown, path = '/mcp'): Promise<Response> =>
    fetch(`http://127.0.0.1:${gateway.port}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
}

const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { task: 'Send it.' } } }
const cut = (response: ServerResponse): void => void response.destroy()
const answered = (response: ServerResponse): void => void response.end('done')

const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0')
/** As Linux lists it. */
const keepAlive = '02'

/** Which timer runs for the connection from one local port to another; other systems do not tell. */
function timerOf(from: number, to: number): string {
  if (process.platform !== 'linux') return keepAlive
  const [, timer] = new RegExp(`:${hex(from)} \\w+:${hex(to)} \\w+ \\S+ (\\w+):`).exec(
    readFileSync('/proc/net/tcp', 'utf8'),
  )!
  return timer!
}

describe('a request of another protocol whose worker is lost before it answers', (it) => {
  it('is asked of no other worker where it may have been carried out, and the client is told so', async (context) => {
    const workers = [await bareWorker(context, cut), await bareWorker(context, cut)]
    const ask = await gatewayTo(context, () => workers.map(({ url }) => url))
    const chat = { id: 'c1', messages: [{ id: 'm1', role: 'user', parts: [] }] }
    const others = [
      ['DELETE', undefined, '/mcp'],
      ['POST', { ...inputOf(), forwardedProps: { command: 'abort' } }, '/ag-ui'],
      ['POST', { ...inputOf(), runId: '' }, '/ag-ui'],
      ['POST', { ...chat, trigger: 'regenerate-message' }, '/api/chat'],
      ['POST', { ...chat, messages: [{ id: 'm2', role: 'assistant', parts: [] }] }, '/api/chat'],
      ['POST', { id: 'c1', messages: [{ role: 'user' }] }, '/api/chat'],
    ] as const
    for (const [index, [method, body, path]] of [['POST', call, '/mcp'] as const, ...others].entries()) {
      const answer = await ask(method, body, path)
      assert.equal([answer.status, ((await answer.json()) as { code: string }).code], [502, 'REQUEST_INTERRUPTED'])
      const { length } = workers.flatMap(({ seen }) => seen.requests)
      assert.is(length, index + 1, `${method} ${path}`)
    }
  })

  it('is given up at its worker when its client leaves, before the answer begins and after', async (context) => {
    for (const begins of [false, true]) {
      const [isAsked, isLeft] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const { url } = await bareWorker(context, (response) => {
        response.on('close', () => isLeft.resolve())
        if (begins) response.write('first')
        isAsked.resolve()
      })
      const gateway = await serveGateway({
        directory: () => undefined,
        secret,
        endpoints: ['/mcp'],
        workers: () => [url],
      })
      context.cleanup(() => gateway.close())
      const leaving = new AbortController()
      const asking = fetch(`http://127.0.0.1:${gateway.port}/mcp`, { signal: leaving.signal })
      asking.catch(() => {})
      await isAsked.promise
      if (begins) await asking
      leaving.abort()
      await isLeft.promise
    }
  })

  it('is asked of the next one where the first took no connection', async (context) => {
    const [first, next] = [await gone(), await bareWorker(context, answered)]
    let looks = 0
    const ask = await gatewayTo(context, () => [(looks += 1) === 1 ? first : next.url])
    const answer = await ask('POST', call)
    assert.equal([answer.status, await answer.text()], [200, 'done'])
    assert.equal(next.seen.requests, [`POST ${JSON.stringify(call)}`])
  })

  it('is asked again where it only reads', async (context) => {
    let requests = 0
    const worker = await bareWorker(context, (response) => ((requests += 1) === 1 ? cut : answered)(response))
    const ask = await gatewayTo(context, undefined, {
      directory: () => ({ url: worker.url }),
      workers: () => [worker.url],
    })
    const answer = await ask('GET', undefined, '/api/chat/c1')
    assert.equal([answer.status, await answer.text(), requests], [200, 'done', 2])
  })

  it('is given up after three workers that take no connection', async (context) => {
    const urls = await Promise.all([gone(), gone(), gone(), gone()])
    const ask = await gatewayTo(context, () => urls)
    const answer = await ask('POST', call)
    assert.equal([answer.status, ((await answer.json()) as { code: string }).code], [503, 'AGENT_UNREACHABLE'])
  })

  it('is carried out once where it has an id: a run of AG-UI, a message of useChat', patient, async (context) => {
    const asked: string[] = []
    const echo = defineAgent({
      name: 'echo',
      model: policyModel(({ messages }) => {
        asked.push(JSON.stringify(messages))
        return 'heard'
      }),
    })
    const fleet = await startFleet(context, [echo], 0)
    // Loses the first answer of each protocol, once the worker has begun it.
    let toLose = 0
    let port = 0
    const proxy = createTcpServer((client) => {
      const worker = dialTcp(port, '127.0.0.1')
      client.pipe(worker)
      worker.once('data', (first: Buffer) => {
        if (toLose > 0) {
          toLose -= 1
          return void client.destroy()
        }
        client.write(first)
        worker.pipe(client)
      })
      endTogether(client, worker)
    })
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    context.cleanup(() => void proxy.close())
    const advertise = bridgeAt((proxy.address() as AddressInfo).port)
    const { server } = await fleet.startWorker({ endpoints: [agUi(), aiSdkChat()], advertise })
    port = server.port
    const gateway = await fleet.startGateway({ endpoints: ['/ag-ui', '/api/chat'] })
    const origin = `http://127.0.0.1:${gateway.port}`

    toLose = 1
    const events = await say(new HttpAgent({ url: `${origin}/ag-ui`, threadId: 'thread' }), 'hello')
    assert.is(events.at(-1)?.type, 'RUN_FINISHED')
    assert.equal([toLose, asked.length], [0, 1])

    toLose = 1
    const transport = new DefaultChatTransport<UIMessage>({ api: `${origin}/api/chat` })
    const chat = new Chat<UIMessage>({ id: 'chat', transport })
    await chat.sendMessage({ text: 'hello' })
    assert.match(JSON.stringify(chat.lastMessage), 'heard')
    assert.equal([toLose, asked.length], [0, 2])
  })
})

describe('a worker that was lost and answers again', (it) => {
  it('is left alone no longer, when it is lost the next time, than one that was never lost', async (context) => {
    let isCut = true
    let now = Date.now()
    const worker = await bareWorker(context, (response) => (isCut ? cut : answered)(response))
    const ask = await gatewayTo(context, () => [worker.url], { clock: { ...systemClock, now: () => now } })
    const statusAfter = async (ms: number): Promise<number> => {
      now += ms
      return (await ask('POST', call)).status
    }
    for (let times = 0; times < 6; times += 1) assert.is(await statusAfter(10_000), 502)
    assert.is(await statusAfter(150), 503, 'after so many times it is left alone for seconds')
    isCut = false
    assert.is(await statusAfter(10_000), 200)
    isCut = true
    assert.is(await statusAfter(0), 502)
    isCut = false
    assert.is(await statusAfter(150), 200)
  })
})

describe('a worker that takes long to answer a request', (it) => {
  it('is looked for by the system while its answer goes on: a machine may vanish without a word', async (context) => {
    const timers: string[] = []
    const worker = await bareWorker(context, (response, { socket }) => {
      response.write('begun, ')
      timers.push(timerOf(socket.remotePort!, socket.localPort!))
      response.end('done')
    })
    const ask = await gatewayTo(context, () => [worker.url])
    assert.is(await (await ask('POST', call)).text(), 'begun, done')
    assert.equal(timers, [keepAlive])
  })

  it('is waited for as long as it says that it is there, and held for well', patient, async (context) => {
    const late = Promise.withResolvers<ServerResponse>()
    const looks = Promise.withResolvers<void>()
    const workers = await Promise.all(
      [0, 1].map(() =>
        bareWorker(
          context,
          (response) => late.resolve(response),
          (response) => {
            response.end('ok')
            // More than a minute of the gateway's.
            if (workers.some(({ seen }) => seen.looks === 7)) looks.resolve()
          },
        ),
      ),
    )
    const ask = await gatewayTo(context, () => workers.map(({ url }) => url), { clock: hasty(20) })
    const answer = ask('POST', call)
    const response = await late.promise
    await looks.promise
    response.end('done')
    assert.is(await (await answer).text(), 'done')
    assert.is(workers.flatMap(({ seen }) => seen.requests).length, 1)
  })

  it('is given up when it does not say that it is there, and nobody else is asked', patient, async (context) => {
    const silent = (): void => {}
    const workers = await Promise.all([0, 1].map(() => bareWorker(context, silent, silent)))
    const ask = await gatewayTo(context, () => workers.map(({ url }) => url), { clock: hasty(50) })
    const answer = await ask('POST', call)
    assert.is(((await answer.json()) as { code: string }).code, 'REQUEST_INTERRUPTED')
    assert.is(workers.flatMap(({ seen }) => seen.requests).length, 1)
  })
})
