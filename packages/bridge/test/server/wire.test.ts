import type { Socket } from 'node:net'
import { deflateRawSync } from 'node:zlib'
import { WebSocket } from 'ws'
import { conversationStore } from '../../../../src/client.ts'
import { connect } from '../../src/client/connect.ts'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { bridgeProtocol } from '../../../wire/src/bridgeProtocol.ts'
import { serveGateway } from '../../../cluster/src/serveGateway.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { serveAgents } from './bridgeHarness.ts'

const kilobytes = 8_000
const turns = 100

/** Reads so many files of 8 kB, one a turn. */
const reader = defineAgent({
  name: 'reader',
  compaction: false,
  tools: [tool('read', () => 'line of a file\n'.repeat(kilobytes / 15), { maxOutputChars: kilobytes })],
  model: policyModel(({ messages }) => {
    const read = messages.filter(({ role }) => role === 'toolResult').length
    return read < turns ? { toolCalls: [{ name: 'read', input: {} }] } : 'done'
  }),
})

/** Sockets whose bytes are counted, as they come over the wire. */
function counting(options: { readonly perMessageDeflate: boolean }) {
  const sockets: Socket[] = []
  class Counted extends WebSocket {
    constructor(address: string | URL, protocols?: string | string[]) {
      super(address, protocols, options)
      this.once('upgrade', ({ socket }) => sockets.push(socket))
    }
  }
  return {
    webSocket: Counted as unknown as typeof globalThis.WebSocket,
    read: () => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
  }
}

describe('what is sent over a WebSocket', (it) => {
  for (const [name, perMessageDeflate, most] of [
    ['at most one and a half times what was said', false, 1.5],
    ['a tenth of that where the client can inflate it', true, 0.15],
  ] as const)
    it(`is, of 100 turns with results of 8 kB, ${name}`, { timeoutMs: 20_000 }, async (context) => {
      const { runtime, server } = await serveAgents(context, [reader])
      const agent = await runtime.spawn(reader, { id: 'a1' })
      const { webSocket, read } = counting({ perMessageDeflate })
      const client = connect(server.url, { webSocket })
      context.cleanup(() => client.close())
      const store = conversationStore(client.agent('a1'))
      const isDone = Promise.withResolvers<void>()
      context.cleanup(
        store.subscribe(() => {
          const { messages, status } = store.getSnapshot()
          if (status === 'idle' && messages.length > turns) isDone.resolve()
        }),
      )
      await client.agent('a1').snapshot()
      await agent.prompt('go').result
      await isDone.promise
      const content = agent.conversation
        .log()
        .reduce((sum, { message }) => sum + JSON.stringify(message.content).length, 0)
      assert.ok(content > turns * kilobytes * 0.9)
      assert.ok(read() <= most * content, `${read()} bytes for ${content} of content`)
    })

  it('is compressed by a gateway, and between it and its workers', { timeoutMs: 15_000 }, async (context) => {
    const secret = 'a secret of workers and gateways, long enough'
    const { runtime, server } = await serveAgents(context, [reader], { gatewaySecret: secret })
    const agent = await runtime.spawn(reader, { id: 'a1' })
    const { url } = server
    const gateway = await serveGateway({
      directory: async () => ({ url }),
      workers: async () => [url],
      store: memoryStore(),
      secret,
      role: 'admin',
    })
    context.cleanup(() => gateway.close())
    const { webSocket, read } = counting({ perMessageDeflate: true })
    const client = connect(gateway.url, { webSocket })
    context.cleanup(() => client.close())
    const done = new Promise<void>((resolve) => {
      client.agent('a1').subscribe(({ type }) => type === 'run.end' && resolve())
    })
    await client.agent('a1').snapshot()
    await agent.prompt('go').result
    await done
    assert.ok(read() < 0.15 * turns * kilobytes, `${read()} bytes`)
  })

  it('is not compressed where it is short', async (context) => {
    const { server } = await serveAgents(context, [reader])
    const socket = new WebSocket(server.url, bridgeProtocol)
    context.cleanup(() => socket.terminate())
    const agreed = new Promise<string>((resolve) => {
      socket.once('upgrade', ({ headers }) => resolve(String(headers['sec-websocket-extensions'])))
    })
    await new Promise((resolve) => socket.once('open', resolve))
    for (const part of ['permessage-deflate', 'server_no_context_takeover', 'client_no_context_takeover'])
      assert.match(await agreed, part)
    const received = new Promise<Buffer>((resolve) => {
      const { _socket: raw } = socket as unknown as { readonly _socket: Socket }
      raw.once('data', resolve)
    })
    socket.send('{"type":"hello"}')
    // The bit of the frame that says so, and its beginning.
    const frame = await received
    assert.is(frame[0]! & 0x40, 0)
    assert.match(frame.toString('utf8'), '"welcome"')
  })

  it('is bounded by the size of a frame as it is when inflated, and a bomb ends its sender alone', async (context) => {
    const { server, connect: connectTo } = await serveAgents(context, [reader], { limits: { frameBytes: 64 * 1024 } })
    const socket = new WebSocket(server.url, bridgeProtocol)
    const closed = new Promise<number>((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('open', resolve))
    const { _socket: raw } = socket as unknown as { readonly _socket: Socket }
    raw.write(compressedFrame(Buffer.alloc(50 * 1024 * 1024, ' ')))
    assert.is(await closed, 1009)
    assert.is((await connectTo().agents()).total, 0)
  })
})

/** A text frame of a client, compressed and masked with zeros. */
function compressedFrame(text: Buffer): Buffer {
  const deflated = deflateRawSync(text)
  const head = Buffer.from([0xc1, 0xff, ...new Uint8Array(8), 0, 0, 0, 0])
  head.writeBigUInt64BE(BigInt(deflated.length), 2)
  return Buffer.concat([head, deflated])
}
