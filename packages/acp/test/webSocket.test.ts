import { once } from 'node:events'
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { policyModel } from '../../models/src/policyModel.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { acp } from '../../../src/acp.ts'
import type { TextSocket } from '../../bridge/src/server/textSocket.ts'
import { socketStream } from '../src/acp.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { errorOf, openEditor, openHouse } from './acpHarness.ts'

const token = 'a-token-of-some-length'
const greeter = defineAgent({ name: 'greeter', model: policyModel(() => 'hello there') })

async function serveAcp(context: CaseContext, options: Parameters<typeof serveAgents>[2] = {}) {
  const serving = await serveAgents(context, [greeter], {
    endpoints: [acp()],
    tokens: { [token]: 'admin' },
    ...options,
  })
  const url = `ws://127.0.0.1:${serving.server.port}/acp`
  const headers = (given: string): Record<string, string> => ({ authorization: `Bearer ${given}` })
  return {
    ...serving,
    url,
    connect: () => openEditor(context, createWebSocketStream(url, { WebSocket, headers: headers(token) })),
    async raw() {
      const socket = new WebSocket(url, { headers: headers(token) })
      context.cleanup(() => socket.terminate())
      await once(socket, 'open')
      return socket
    },
    headers,
  }
}

const answerTo = async (socket: WebSocket, text: string): Promise<{ id: unknown; error?: { code: number } }> => {
  const answer = once(socket, 'message')
  socket.send(text)
  const [data] = (await answer) as [Buffer]
  return JSON.parse(data.toString()) as { id: unknown; error?: { code: number } }
}

describe('ACP over a WebSocket', (it) => {
  it('speaks to the agents of the server, and leaves them running when the socket closes', async (context) => {
    const { connect, runtime } = await serveAcp(context)
    const editor = await connect()
    const sessionId = await editor.open()
    assert.is((await editor.say(sessionId, 'x')).stopReason, 'end_turn')
    assert.is(editor.text(), 'hello there')
    editor.connection.close()
    await editor.connection.closed
    assert.is(runtime.agent(sessionId)?.state, 'idle')
    const again = await connect()
    await again.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
    assert.is(again.text(), 'hello there')
  })

  it('lets nobody in with a wrong token', async (context) => {
    const { url, headers } = await serveAcp(context)
    for (const given of [headers('another-token-of-length'), {}]) {
      const socket = new WebSocket(url, { headers: given })
      const [error] = (await once(socket, 'error')) as [Error]
      assert.match(error.message, /401/)
    }
  })

  it('answers what is no message with an error, and goes on', async (context) => {
    const socket = await (await serveAcp(context)).raw()
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    for (const [text, code, id] of [
      ['{', -32700, null],
      ['', -32700, null],
      ['[]', -32600, null],
      ['7', -32600, null],
      ['null', -32600, null],
      [deep, -32600, null],
      ['{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}', -32600, 1],
      ['{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}', -32602, 2],
    ] as const) {
      const answer = await answerTo(socket, text)
      assert.is(answer.error?.code, code, text.slice(0, 80))
      assert.is(answer.id, id)
    }
    const hello = await answerTo(
      socket,
      '{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":1}}',
    )
    assert.is(hello.error, undefined)
    const unknown = await answerTo(socket, '{"jsonrpc":"2.0","id":4,"method":"session/fly","params":{}}')
    assert.is(unknown.error?.code, -32601)
    const wrong = await answerTo(socket, '{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"sessionId":5}}')
    assert.is(wrong.error?.code, -32602)
  })

  it('refuses a message that is nested too deeply, and goes on', async (context) => {
    const socket = await (await serveAcp(context)).raw()
    const answer = await answerTo(socket, `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)
    assert.is(answer.error?.code, -32600)
    const hello = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } }
    assert.is((await answerTo(socket, JSON.stringify(hello))).id, 1)
  })

  it('refuses a plain request', async (context) => {
    const { server } = await serveAcp(context)
    const response = await fetch(`http://127.0.0.1:${server.port}/acp`, {
      headers: { authorization: `Bearer ${token}` },
    })
    assert.is(response.status, 426)
  })

  it('closes with the server', async (context) => {
    const { connect, server } = await serveAcp(context)
    const editor = await connect()
    const sessionId = await editor.open()
    await server.close()
    await editor.connection.closed
    assert.ok((await errorOf(editor.say(sessionId, 'x'))).message)
  })
})

describe('a client of ACP that does not read', (it) => {
  it('is given up, and its agent goes on', async (context) => {
    const closed = Promise.withResolvers<[number, string]>()
    const sent: { id?: number; result?: { sessionId?: string } }[] = []
    let hear: (text: string) => void = () => {}
    let leave: () => void = () => {}
    let isStuck = false
    const socket: TextSocket = {
      get bufferedAmount() {
        return isStuck ? 1_000 : 0
      },
      send: (text, done) => {
        sent.push(JSON.parse(text) as (typeof sent)[number])
        if (!isStuck) done?.()
      },
      close: (...why) => {
        closed.resolve(why)
        leave()
      },
      onText: (listener) => (hear = listener),
      onClose: (listener) => (leave = listener),
    }
    const call = { name: 'say', description: 'Say.', input: z.object({}), run: () => 'word '.repeat(1_000) }
    let calls = 0
    const model = policyModel(() => ((calls += 1) > 20 ? 'done' : { toolCalls: [{ name: 'say', input: {} }] }))
    const talker = defineAgent({ name: 'talker', model, tools: [defineTool(call)] })
    const { access, runtime } = await openHouse(context, [talker], {
      limits: { highWaterBytes: 100, hardLimitBytes: 50_000 },
    })
    acp().connect!(socket, access())
    const ask = async (id: number, method: string, params: object): Promise<(typeof sent)[number] | undefined> => {
      hear(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      for (let look = 0; look < 100 && !sent.some((message) => message.id === id); look += 1)
        await new Promise((resolve) => setImmediate(resolve))
      return sent.find((message) => message.id === id)
    }
    await ask(1, 'initialize', { protocolVersion: 1 })
    const sessionId = (await ask(2, 'session/new', { cwd: '/', mcpServers: [] }))?.result?.sessionId ?? ''
    isStuck = true
    const agent = runtime.agent(sessionId)!
    const ended = new Promise((resolve) =>
      agent.subscribe((event) => event.type === 'run.end' && resolve(event.stopReason)),
    )
    void ask(3, 'session/prompt', { sessionId, prompt: [{ type: 'text', text: 'x' }] })
    assert.equal(await closed.promise, [1013, 'the client does not read'])
    assert.is(await ended, 'stop')
  })
})

describe('a socket as a stream of messages', (it) => {
  it('holds a write until its bytes have left, once too many wait', async () => {
    const waiting: (() => void)[] = []
    const socket = {
      bufferedAmount: 0,
      send: (_: string, done?: () => void) => void (done !== undefined && waiting.push(done)),
      close: () => {},
      onText: () => {},
      onClose: () => {},
    }
    const writer = socketStream(socket, { highWaterBytes: 10, depth: 64 }).writable.getWriter()
    await writer.write({ jsonrpc: '2.0', method: 'a' })
    socket.bufferedAmount = 11
    let isWritten = false
    const write = writer.write({ jsonrpc: '2.0', method: 'b' }).then(() => (isWritten = true))
    await new Promise((resolve) => setImmediate(resolve))
    assert.is(isWritten, false)
    waiting[1]?.()
    await write
    assert.is(isWritten, true)
  })
})
