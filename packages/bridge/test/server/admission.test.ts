import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { layoutOf, mostKnown } from '../../../charts/src/layoutCache.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import type { Endpoint } from '../../src/server/endpoint.ts'
import { serve } from '../../src/server/serve.ts'
import type { PageFile } from '../../src/page/pageFiles.ts'
import { ServedPage } from '../../src/page/servePage.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { calls, gate, tool, withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { serveAgents } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(({ messages }) => `${messages.length}`) })

/** Sends a request by hand, over a socket that never ends its own half; gives the status line. */
async function say({ cleanup }: Pick<CaseContext, 'cleanup'>, port: number, lines: readonly string[]) {
  const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  cleanup(() => socket.destroy())
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const [data] = (await once(socket, 'data')) as [Buffer]
  const [status = ''] = data.toString().split('\r\n', 1)
  return { socket, status: status.replace('HTTP/1.1 ', ''), text: data.toString() }
}

const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='

/** A file that ran in this process before may have had the same chart laid out: others take its place. */
async function forgetLayouts(): Promise<void> {
  for (let n = 0; n < mostKnown; n += 1) {
    const drawing = {
      title: `${n}`,
      nodes: [{ id: `${n}`, kind: 'atomic', label: '', details: [] } as const],
      arrows: [],
    }
    await layoutOf(drawing, 'down', { layOut: async (graph) => ({ ...graph, width: 1, height: 1 }) })
  }
}

const withoutHost = (port: number): string => `Host: 127.0.0.1:${port}`

describe('a server', (it) => {
  it('is not held open by somebody who was turned away and stays', async (context) => {
    const { server } = await serveAgents(context, [echo])
    const { port } = server
    const foreign = ['GET /bridge HTTP/1.1', withoutHost(port), ...upgrade, key, 'Origin: http://evil.example']
    assert.is((await say(context, port, foreign)).status, '403 Forbidden')
    assert.is(
      (await say(context, port, ['GET /nowhere HTTP/1.1', withoutHost(port), ...upgrade])).status,
      '404 Not Found',
    )
    await server.close()
  })

  it('answers a request that offers another protocol as if it did not', async (context) => {
    const { server } = await serveAgents(context, [echo])
    const lines = [
      'GET /healthz HTTP/1.1',
      withoutHost(server.port),
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
    ]
    // Node before 22.21 leaves no choice.
    const hasChoice = 'shouldUpgradeCallback' in createServer()
    assert.is((await say(context, server.port, lines)).status, hasChoice ? '200 OK' : '404 Not Found')
  })

  it('without tokens answers nothing of agents under a name that a foreign page may have had point here', async (context) => {
    const asked: Endpoint = { path: '/asked', answer: (_, response) => void response.end('secret') }
    const serving = await serveAgents(context, [echo], { endpoints: [asked] })
    await serving.runtime.spawn(echo, { id: 'a1' })
    const statusAt = async (port: number, path: string, host: string): Promise<string> =>
      (await say(context, port, [`GET ${path} HTTP/1.1`, `Host: ${host}`])).status
    for (const path of ['/agents/a1/chart.mmd', '/asked', '/healthz']) {
      assert.is(await statusAt(serving.server.port, path, 'evil.example:80'), '403 Forbidden')
      assert.is(await statusAt(serving.server.port, path, `localhost:${serving.server.port}`), '200 OK')
      assert.is(await statusAt(serving.server.port, path, '[::1]'), '200 OK')
    }
    for (const path of ['/', '/assets/page.js', '/bridge'])
      assert.is(await statusAt(serving.server.port, path, 'evil.example'), '403 Forbidden')
    const named = await serveAgents(context, [echo], { endpoints: [asked], origins: ['https://app.example'] })
    assert.is(await statusAt(named.server.port, '/asked', 'app.example'), '200 OK')
    assert.is(await statusAt(named.server.port, '/asked', 'evil.example'), '403 Forbidden')
    const tokens = { 'some-token-0123456789': 'observe' } as const
    const guarded = await serveAgents(context, [echo], { endpoints: [asked], tokens })
    assert.is(await statusAt(guarded.server.port, '/asked', 'any.example'), '401 Unauthorized')
    assert.is(await statusAt(guarded.server.port, '/healthz', 'any.example'), '200 OK')
  })

  it('that cannot listen leaves nothing behind in its runtime', async (context) => {
    const { server } = await serveAgents(context, [echo])
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    let listeners = 0
    const counted = {
      agents: () => runtime.agents(),
      agent: (id: string) => runtime.agent(id),
      spawn: runtime.spawn.bind(runtime),
      resume: runtime.resume.bind(runtime),
      onAgent() {
        listeners += 1
        return () => void (listeners -= 1)
      },
    }
    const parts = { store: memoryStore(), clock: simulatedClock() }
    await assert.rejects(serve(counted, parts, { port: server.port }), withCode('BRIDGE_LISTEN_FAILED'))
    assert.is(listeners, 0)
  })

  it(
    'lays out a chart once for all who ask, and not to the end for who has gone',
    { timeoutMs: 20_000 },
    async (context) => {
      const serving = await serveAgents(context, [echo])
      await serving.runtime.spawn(echo, { id: 'a1' })
      await forgetLayouts()
      let all = 0
      const began = gate()
      const onWorker = (): void => {
        all += 1
        began.resolve()
      }
      process.on('worker', onWorker)
      context.cleanup(() => void process.off('worker', onWorker))
      const leaving = new AbortController()
      const ask = async (signal?: AbortSignal): Promise<number> => {
        const address = `http://127.0.0.1:${serving.server.port}/agents/a1/chart.svg?detail=full`
        const response = await fetch(address, signal === undefined ? {} : { signal })
        await response.text()
        return response.status
      }
      const gone = ask(leaving.signal)
      await began.promise
      leaving.abort()
      await assert.rejects(gone)
      assert.equal(await Promise.all([ask(), ask(), ask()]), [200, 200, 200])
      assert.is(all, 2)
    },
  )

  it('tells what may be asked where a method is refused, and gives charts for reading only', async (context) => {
    const serving = await serveAgents(context, [echo])
    await serving.runtime.spawn(echo, { id: 'a1' })
    const at = `http://127.0.0.1:${serving.server.port}`
    for (const path of ['/agents/a1/chart.mmd', '/']) {
      const response = await fetch(`${at}${path}`, { method: 'DELETE' })
      await response.text()
      assert.equal([response.status, response.headers.get('allow')?.startsWith('GET, HEAD')], [405, true])
    }
    assert.is((await fetch(`${at}/agents/..%2Fa1/chart.mmd`)).status, 400)
    const head = await fetch(`${at}/agents/a1/chart.mmd`, { method: 'HEAD' })
    assert.equal([head.status, await head.text()], [200, ''])
  })
})

describe('an endpoint of the application', (it) => {
  it('whose code throws at a WebSocket closes that one, and harms nobody', async (context) => {
    const endpoints: Endpoint[] = [
      {
        path: '/throws',
        connect() {
          throw new Error('oh no')
        },
      },
      {
        path: '/later',
        connect: (socket) =>
          socket.onText(() => {
            throw new Error('oh no')
          }),
      },
    ]
    const { server } = await serveAgents(context, [echo], { endpoints })
    for (const path of ['/throws', '/later']) {
      const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`)
      context.cleanup(() => socket.terminate())
      socket.on('open', () => socket.send('hello'))
      const [code] = (await once(socket, 'close')) as [number]
      assert.is(code, 1011)
    }
  })

  it('may have a path that begins like that of the bridge, and a subprotocol of its own', async (context) => {
    const endpoints: Endpoint[] = [{ path: '/bridge-two', connect: () => {} }]
    const { server } = await serveAgents(context, [echo], { endpoints })
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/bridge-two`, 'own.v1')
    context.cleanup(() => socket.terminate())
    await once(socket, 'open')
    assert.is(socket.protocol, 'own.v1')
  })

  it('is not asked for somebody who has gone before the application let the request through', async (context) => {
    const arrived = gate<() => void>()
    let answered = 0
    const endpoint: Endpoint = { path: '/asked', answer: () => void (answered += 1) }
    const http = createServer((request, response) => {
      response.on('close', () => arrived.resolve(() => void server.handle(request, response)))
    })
    http.listen(0, '127.0.0.1')
    await once(http, 'listening')
    context.cleanup(() => http.close())
    const { server } = await serveAgents(context, [echo], { server: http, endpoints: [endpoint] })
    const { port } = http.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    socket.end('GET /asked HTTP/1.1\r\nHost: localhost\r\n\r\n')
    socket.on('connect', () => setImmediate(() => socket.destroy()))
    const handle = await arrived.promise
    handle()
    assert.equal([answered, server.connections], [0, 0])
  })
})

describe('the inspector page', (it) => {
  it('is read again when it could not be read', async () => {
    let readings = 0
    const read = async (): Promise<ReadonlyMap<string, PageFile>> => {
      readings += 1
      if (readings === 1) throw new Error('a file was replaced meanwhile')
      return new Map()
    }
    const page = new ServedPage({ read })
    const http = createServer((request, response) => {
      page.answer(request, response, '/').catch(() => response.writeHead(500).end())
    })
    http.listen(0, '127.0.0.1')
    await once(http, 'listening')
    const { port } = http.address() as AddressInfo
    const statuses: number[] = []
    for (let n = 0; n < 2; n += 1) {
      const response = await fetch(`http://127.0.0.1:${port}/`)
      await response.text()
      statuses.push(response.status)
    }
    http.close()
    http.closeAllConnections()
    assert.equal(statuses, [500, 503])
  })
})

describe('a token of some agents only', (it) => {
  it('leaves nothing behind at those it does not reach', async (context) => {
    const clock = simulatedClock()
    const tokens = { 'only-token-01234567890': { role: 'observe', agents: ['mine'] } } as const
    const serving = await serveAgents(context, [echo], { tokens, runtime: { clock, idleUnloadMs: 1_000 } })
    const other = await serving.runtime.spawn(echo, { id: 'other' })
    const bare = await serving.dial({ hello: { token: 'only-token-01234567890' } })
    const answer = await bare.ask({ type: 'agent.subscribe', id: '1', agentId: 'other' })
    assert.is(answer.type === 'error' && answer.code, 'BRIDGE_FORBIDDEN')
    await clock.advance(2_000)
    assert.is(other.isLoaded, false)
  })
})

describe('a client that has left', (it) => {
  it('holds no agent that it listened to', async (context) => {
    const clock = simulatedClock()
    const serving = await serveAgents(context, [echo], { runtime: { clock, idleUnloadMs: 1_000 } })
    const agent = await serving.runtime.spawn(echo, { id: 'a1' })
    const bare = await serving.dial({ hello: {} })
    await bare.ask({ type: 'agent.subscribe', agentId: 'a1', descendants: true })
    await clock.advance(2_000)
    assert.is(agent.isLoaded, true)
    const left = new Promise((resolve) => bare.socket.on('close', resolve))
    bare.socket.close()
    await left
    while (serving.server.connections > 0) await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(2_000)
    assert.is(agent.isLoaded, false)
  })
})

describe('who watches', (it) => {
  it('hears that a call of a sub-agent waits no more', async (context) => {
    const open = gate()
    const held = tool('held', async () => (await open.promise, 'ok'), { needsApproval: true })
    const worker = defineAgent({
      name: 'worker',
      description: 'works',
      tools: [held],
      model: scriptedModel([calls('w', 'held'), 'done']),
    })
    const boss = defineAgent({
      name: 'boss',
      agents: [worker],
      model: scriptedModel([{ toolCalls: [{ name: 'worker', input: { task: 'x' } }] }, 'fine']),
    })
    const serving = await serveAgents(context, [boss])
    context.cleanup(() => open.resolve())
    const agent = await serving.runtime.spawn(boss, { id: 'b1' })
    const waiting = gate()
    const decided = gate()
    let wasWaiting = false
    serving.connect().watch(({ agents }) => {
      const count = agents.find(({ agentId }) => agentId === 'b1')?.pendingApprovals.length
      if (count === 1) {
        wasWaiting = true
        waiting.resolve()
      }
      if (count === 0 && wasWaiting) decided.resolve()
    })
    void agent.prompt('go')
    await waiting.promise
    agent.decide(agent.approvals()[0]!.key, 'approve')
    await decided.promise
  })
})

describe('a snapshot', (it) => {
  it('has calls that wait without the secrets that the application named', async (context) => {
    const held = tool('held', () => 'ok', { needsApproval: true })
    const asks = defineAgent({
      name: 'asks',
      tools: [held],
      model: scriptedModel([calls('a', ['held', { key: 'sk-secret-1' }])]),
    })
    const serving = await serveAgents(context, [asks], { runtime: { redact: { secrets: { KEY: 'sk-secret-1' } } } })
    const agent = await serving.runtime.spawn(asks, { id: 'a1' })
    const asked = gate()
    agent.subscribe(({ type }) => type === 'approval.requested' && asked.resolve())
    void agent.prompt('go')
    await asked.promise
    const { approvals } = await serving.connect().agent('a1').snapshot()
    assert.is(approvals.length, 1)
    assert.not.match(JSON.stringify(approvals), /sk-secret/)
  })
})
