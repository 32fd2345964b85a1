import { once } from 'node:events'
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { WebSocket } from 'ws'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { bridgeProtocol, closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import { gate, quiet } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { acp } from '../../../acp/src/acp.ts'
import { agUi } from '../../../ag-ui/src/agUi.ts'
import { aiSdkChat } from '../../../ai-sdk/src/aiSdkChat.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { mcpServer } from '../../../mcp/src/server/mcpServer.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import type { Grant } from '../../src/server/roles.ts'

const token = 'token-of-somebody-who-may'
const json = { 'content-type': 'application/json', authorization: `Bearer ${token}` }

/** A server with every door, and the agent `a`, whose model answers once it is let go. */
async function openHouse({ cleanup }: CaseContext, grant: Grant = { role: 'admin', owner: 'ann' }) {
  const [clock, store, asked, held] = [simulatedClock(), memoryStore(), gate(), gate()]
  const known = new Set([token])
  const model = policyModel(async () => {
    asked.resolve()
    await held.promise
    return 'done'
  })
  const slow = defineAgent({ name: 'slow', model })
  const runtime = await createRuntime({ store, clock, idleUnloadMs: 1_000 })
  cleanup(() => runtime.close().catch(() => {}))
  const endpoints = [agUi(), aiSdkChat(), acp(), mcpServer(runtime, [slow]).endpoint()]
  const server = await runtime.serve({
    definitions: [slow],
    endpoints,
    authenticate: async (_, given) => (known.has(given ?? '') ? grant : null),
    limits: { drainMs: 50, connections: 4 },
  })
  const agent = await runtime.spawn(slow, { id: 'a' })
  await clock.advance(5_000)
  return { clock, store, runtime, server, agent, asked, held, known, timers: clock.pending, port: server.port }
}
type House = Awaited<ReturnType<typeof openHouse>>

/** Waits for something that needs no timer. */
async function until(what: string, fits: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 5_000; turn += 1) {
    if (await fits()) return
    await quiet()
  }
  assert.unreachable(`never: ${what}`)
}

/** Opens a socket, says these messages, each once the one before it is answered, and gives how to leave. */
async function socketOf({ port }: House, path: string, said: readonly object[], protocols: string[] = []) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, {
    headers: { authorization: json.authorization },
  })
  await once(socket, 'open')
  for (const message of said) {
    socket.send(JSON.stringify(message))
    if (message !== said.at(-1)) await once(socket, 'message')
  }
  return () => socket.terminate()
}

async function answerTo({ port }: House, path: string, body?: object) {
  const leaving = new AbortController()
  const { signal } = leaving
  const url = `http://127.0.0.1:${port}${path}`
  const answer = await fetch(url, {
    headers: json,
    signal,
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  assert.is(answer.status, 200)
  return () => leaving.abort()
}

async function toolOf({ port }: House, mode: 'legacy' | 'modern') {
  const versionNegotiation = { mode: mode === 'legacy' ? mode : { pin: '2026-07-28' } } as const
  const client = new McpClient({ name: 'test', version: '1.0.0' }, { versionNegotiation })
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: json.authorization } } }),
  )
  client.callTool({ name: 'slow', arguments: { task: 'go', session: 'a' } }).catch(() => {})
  return () => client.close()
}

const say = [{ id: 'm1', role: 'user', content: 'go' }]
const run = { threadId: 'a', runId: 'r1', messages: say, tools: [], context: [], protocolVersion: '1.0' }
const chat = { id: 'a', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }] }
const begun = (house: House): Promise<void> => {
  house.agent.prompt('go')
  return house.asked.promise
}
const rpc = (id: number, method: string, params: object): object => ({ jsonrpc: '2.0', id, method, params })
const hello = { type: 'hello' }
const place = { sessionId: 'a', cwd: '/', mcpServers: [] }

/** Ways to watch the agent while it answers; each gives how to leave. */
const ways: Readonly<Record<string, (house: House) => Promise<() => unknown>>> = {
  'the bridge, after a prompt': (house) =>
    socketOf(
      house,
      '/bridge',
      [hello, { type: 'agent.prompt', id: '1', agentId: 'a', content: 'go' }],
      [bridgeProtocol],
    ),
  'the bridge, subscribed': async (house) => {
    await begun(house)
    const wanted = { type: 'agent.subscribe', id: '1', agentId: 'a', descendants: true }
    return await socketOf(house, '/bridge', [hello, wanted, { type: 'ping' }], [bridgeProtocol])
  },
  'the bridge, watching the roster': async (house) => {
    await begun(house)
    return await socketOf(
      house,
      '/bridge',
      [hello, { type: 'agent.watch', id: '1' }, { type: 'ping' }],
      [bridgeProtocol],
    )
  },
  'the bridge, without a hello': async (house) => {
    await begun(house)
    return await socketOf(house, '/bridge', [], [bridgeProtocol])
  },
  'AG-UI over HTTP': (house) => answerTo(house, '/ag-ui', run),
  'AG-UI over a socket': (house) => socketOf(house, '/ag-ui', [run]),
  'useChat over HTTP': (house) => answerTo(house, '/api/chat', chat),
  'useChat over HTTP, coming back': async (house) => {
    const leave = await answerTo(house, '/api/chat', chat)
    const leaveToo = await answerTo(house, '/api/chat/a/stream')
    return () => [leave(), leaveToo()]
  },
  'useChat over a socket': (house) => socketOf(house, '/api/chat', [{ type: 'send', requestId: 'q', ...chat }]),
  ACP: (house) =>
    socketOf(house, '/acp', [
      rpc(1, 'initialize', { protocolVersion: 1 }),
      rpc(2, 'session/load', place),
      rpc(3, 'session/prompt', { sessionId: 'a', prompt: [{ type: 'text', text: 'go' }] }),
    ]),
  'a tool of MCP, legacy': (house) => toolOf(house, 'legacy'),
  'a tool of MCP, modern': (house) => toolOf(house, 'modern'),
}

/** Requests that are refused: method, path, and what they say. */
const refused: readonly (readonly [
  path: string,
  status: number,
  body?: object | string | undefined,
  method?: string,
])[] = [
  ['/ag-ui', 400, { ...run, messages: [] }],
  ['/ag-ui', 400, 'no JSON'],
  ['/ag-ui', 409, { ...run, resume: [{ interruptId: 'none', status: 'resolved', payload: {} }] }],
  ['/ag-ui', 400, { ...run, forwardedProps: { command: 'other' } }],
  ['/api/chat', 400, 'no JSON'],
  ['/api/chat', 409, { id: 'a', messages: [{ id: 'x', role: 'assistant', parts: [] }] }],
  ['/api/chat', 400, { ...chat, trigger: 'regenerate-message' }],
  ['/api/chat', 400, { ...chat, messages: [{ id: '', role: 'user', parts: [] }] }],
  ['/api/chat/a/stream', 204],
  ['/api/chat/a/stream', 204, undefined, 'DELETE'],
  ['/api/chat/a', 200],
  ['/api/chat/a/more/less', 404],
  ['/mcp', 400, 'no JSON'],
]

/** Checks that nothing of a client is there any more: no connection, no timer, and no listener that holds its agent. */
async function checkNothingIsLeft({ clock, store, server, timers, held, agent }: House): Promise<void> {
  await until('it has left', () => server.connections === 0)
  held.resolve()
  await until('the agent is idle', () => agent.state === 'idle')
  await clock.advance(5_000)
  await until('the agent is unloaded', async () => (await store.holder!('a')) === undefined)
  assert.ok(clock.pending <= timers, `${clock.pending} timers, and ${timers} before`)
}

describe('a client that leaves in the middle of an answer leaves nothing behind', (it) => {
  for (const [way, come] of Object.entries(ways))
    it(`over ${way}`, { timeoutMs: 10_000 }, async (context) => {
      const house = await openHouse(context)
      const leave = await come(house)
      // A server that closes waits for its clients, by the clock of the case.
      context.cleanup(async () => void (await leave()))
      await house.asked.promise
      await quiet()
      await leave()
      await checkNothingIsLeft(house)
    })
})

describe('a server that closes lets go at once of its client, and its agent goes on', (it) => {
  for (const [way, come] of Object.entries(ways))
    it(`over ${way}`, { timeoutMs: 10_000 }, async (context) => {
      const house = await openHouse(context)
      const leave = await come(house)
      context.cleanup(async () => void (await leave()))
      await house.asked.promise
      await quiet()
      // No time passes: nobody is waited for.
      await house.server.close()
      await checkNothingIsLeft(house)
      const ends: unknown[] = []
      for await (const record of house.store.read('a')) if (record.type === 'run.end') ends.push(record.stopReason)
      assert.equal(ends, ['stop'])
    })
})

describe('a request that is refused, or finds nothing under way, leaves nothing behind', (it) => {
  for (const [index, [path, status, body, method = body === undefined ? 'GET' : 'POST']] of refused.entries())
    it(`${method} ${path}, ${status} (${index + 1})`, async (context) => {
      const house = await openHouse(context)
      const text = typeof body === 'object' ? JSON.stringify(body) : body
      const url = `http://127.0.0.1:${house.port}${path}`
      const answer = await fetch(url, { method, headers: json, ...(text === undefined ? {} : { body: text }) })
      await answer.text()
      assert.is(answer.status, status)
      await checkNothingIsLeft(house)
    })
})

describe('whoever is no longer let in', (it) => {
  for (const [way, come] of Object.entries(ways).filter(([name]) => /HTTP|MCP/.test(name)))
    it(`is cut off in the middle of an answer: ${way}`, { timeoutMs: 10_000 }, async (context) => {
      const house = await openHouse(context)
      const leave = await come(house)
      context.cleanup(async () => void (await leave()))
      await house.asked.promise
      await house.clock.advance(45_000)
      assert.ok(house.server.connections > 0)
      house.known.clear()
      await house.clock.advance(45_000)
      await checkNothingIsLeft(house)
    })
})

describe('who may only look', (it) => {
  const doors: Readonly<Record<string, (house: House) => Promise<() => unknown>>> = {
    'the bridge': (house) => socketOf(house, '/bridge', [hello, { type: 'ping' }], [bridgeProtocol]),
    'a socket of AG-UI': (house) => socketOf(house, '/ag-ui', []),
    'a chart over HTTP': (house) => answerTo(house, '/agents/a/chart.json'),
  }
  for (const [door, come] of Object.entries(doors))
    it(`has its room again at ${door} once it has left`, async (context) => {
      const house = await openHouse(context, { may: ['see.all'], owner: 'ann' })
      // Three quarters of four.
      for (let n = 0; n < 4; n += 1) {
        const leave = await come(house)
        context.cleanup(() => void leave())
        await leave()
        await until('it has left', () => house.server.connections === 0)
      }
    })

  it('is turned away at every door once there is no room for it', async (context) => {
    const house = await openHouse(context, { may: ['see.all'], owner: 'ann' })
    for (let n = 0; n < 3; n += 1) {
      const leave = await doors['the bridge']!(house)
      context.cleanup(() => void leave())
    }
    await until('all are in', () => house.server.connections === 3)
    for (const [path, body] of [
      ['/agents/a/chart.json'],
      ['/ag-ui', run],
      ['/api/chat', chat],
      ['/mcp', {}],
    ] as const) {
      const url = `http://127.0.0.1:${house.port}${path}`
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      assert.is((await fetch(url, { headers: json, ...init })).status, 503, path)
    }
    for (const path of ['/ag-ui', '/api/chat', '/acp']) await assert.rejects(socketOf(house, path, []), /503/)
    const { authorization } = json
    const socket = new WebSocket(`ws://127.0.0.1:${house.port}/bridge`, bridgeProtocol, { headers: { authorization } })
    await once(socket, 'open')
    socket.send(JSON.stringify(hello))
    const [code] = (await once(socket, 'close')) as [number]
    assert.is(code, closeCodes.stuck)
    await until('those that were turned away are gone', () => house.server.connections === 3)
  })
})
