import { HttpAgent } from '@ag-ui/client'
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, type UIMessage } from 'ai'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { WebSocket } from 'ws'
import { acp } from '../../../../src/acp.ts'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { agUi } from '../../../../src/agUi.ts'
import { aiSdkChat } from '../../../../src/aiSdk.ts'
import { mcpServer } from '../../../mcp/src/server/mcpServer.ts'
import type { BridgeServer } from '../../../bridge/src/server/serveOptions.ts'
import { tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { openEditor } from '../../../acp/test/acpHarness.ts'
import { say } from '../../../ag-ui/test/agUiHarness.ts'
import { call } from '../../../mcp/test/server/mcpHarness.ts'
import { startFleet, type Fleet } from './fleet.ts'

const token = 'the-token-of-an-admin'
const authorization = `Bearer ${token}`
const patient = { timeoutMs: 15_000 }
const echo = defineAgent({
  name: 'echo',
  description: 'answers',
  model: policyModel(({ messages }) => `${messages.length} so far`),
})

async function open(
  context: CaseContext,
): Promise<{ fleet: Fleet; gateway: BridgeServer; place: (path: string) => string }> {
  const fleet = await startFleet(context, [echo], 0)
  for (let count = 0; count < 2; count += 1) await fleet.startWorker({ endpoints: [agUi(), aiSdkChat(), acp()] })
  const gateway = await fleet.startGateway({
    tokens: { [token]: 'admin' },
    endpoints: ['/ag-ui', '/api/chat', '/acp', '/mcp'],
  })
  return { fleet, gateway, place: (path) => `http://127.0.0.1:${gateway.port}${path}` }
}

/** Has an agent on each worker. */
async function spread({ workers }: Fleet): Promise<void> {
  for (const [index, { runtime }] of workers.entries()) await runtime.open(`a${index}`, echo)
}

describe('other protocols through a gateway', (it) => {
  it('reach by AG-UI the worker that has the thread, or begin one', patient, async (context) => {
    const { fleet, place } = await open(context)
    await spread(fleet)
    for (const threadId of ['a0', 'a1', 'new-one']) {
      const agent = new HttpAgent({ url: place('/ag-ui'), threadId, headers: { authorization } })
      for (const expected of ['1 so far', '3 so far']) {
        const events = await say(agent, 'hello')
        assert.is(events.at(-1)?.type, 'RUN_FINISHED')
        assert.match(JSON.stringify(events), expected)
      }
    }
    assert.equal((await fetch(place('/ag-ui'), { method: 'POST', body: '{}' })).status, 401)
  })

  it('reach by useChat the worker that has the chat, its messages and its stream', patient, async (context) => {
    const { fleet, place } = await open(context)
    await spread(fleet)
    const transport = new DefaultChatTransport<UIMessage>({ api: place('/api/chat'), headers: { authorization } })
    for (const id of ['a0', 'a1']) {
      const chat = new Chat<UIMessage>({ id, transport })
      await chat.sendMessage({ text: 'hello' })
      assert.match(JSON.stringify(chat.lastMessage), '1 so far')
      const past = await fetch(place(`/api/chat/${id}`), { headers: { authorization } })
      assert.is(((await past.json()) as unknown[]).length, 2)
    }
  })

  it('reach by ACP sessions of several workers over one socket', patient, async (context) => {
    const { fleet, gateway } = await open(context)
    await spread(fleet)
    const url = `ws://127.0.0.1:${gateway.port}/acp`
    const editor = await openEditor(context, createWebSocketStream(url, { WebSocket, headers: { authorization } }))
    const sessionId = await editor.open()
    assert.is((await editor.say(sessionId, 'x')).stopReason, 'end_turn')
    for (const id of ['a0', 'a1']) {
      await editor.agent.request('session/load', { sessionId: id, cwd: '/', mcpServers: [] })
      assert.is((await editor.say(id, 'x')).stopReason, 'end_turn')
    }
    assert.equal(
      fleet.workers.map(({ runtime }, index) => runtime.agent(`a${index}`)?.lastSeq),
      fleet.workers.map(() => fleet.workers[0]!.runtime.agent('a0')!.lastSeq),
    )
  })

  it('stay in an MCP session with the worker that began it', patient, async (context) => {
    const fleet = await startFleet(context, [echo], 0)
    for (let count = 0; count < 3; count += 1) {
      const worker = await fleet.startWorker()
      await worker.server.close()
      const mcp = mcpServer(worker.runtime, [echo])
      Object.assign(worker, { server: await worker.runtime.serve({ ...fleet.serving, endpoints: [mcp.endpoint()] }) })
    }
    const gateway = await fleet.startGateway({ tokens: { [token]: 'admin' }, endpoints: ['/mcp'] })
    for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
      const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
      context.cleanup(() => client.close().catch(() => {}))
      const url = new URL(`http://127.0.0.1:${gateway.port}/mcp`)
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization } } }))
      assert.is((await call(client, 'echo', { task: 'hello' })).text, '1 so far')
    }
  })

  it(
    'get charts from the worker, what results name from the store, and the page from the gateway',
    patient,
    async (context) => {
      const reader = defineAgent({
        name: 'reader',
        tools: [tool('fetch', () => 'long '.repeat(1_000))],
        artifacts: { overChars: 1_000 },
        model: policyModel(({ messages }) =>
          messages.length === 1 ? { toolCalls: [{ name: 'fetch', input: {} }] } : 'done',
        ),
      })
      const fleet = await startFleet(context, [reader])
      const gateway = await fleet.startGateway({ tokens: { [token]: 'admin' } })
      const agent = await fleet.workers[1]!.runtime.open('a1', reader)
      await agent.prompt('go').result
      const get = (path: string, headers: Record<string, string> = { authorization }): Promise<Response> =>
        fetch(`http://127.0.0.1:${gateway.port}${path}`, { headers })
      const chart = await get('/agents/a1/chart.svg')
      assert.equal([chart.status, chart.headers.get('content-type')], [200, 'image/svg+xml'])
      assert.match(await chart.text(), '<svg')
      assert.is((await get('/agents/a1/chart.svg', {})).status, 401)
      assert.is((await get('/agents/nobody/chart.svg')).status, 404)
      let id = ''
      for await (const record of fleet.store().read('a1'))
        if (record.type === 'tool.end') id = record.message.artifacts![0]!.id
      assert.is((await (await get(`/agents/a1/artifacts/${id}`)).text()).length, 5_000)
      assert.is((await get('/healthz', {})).status, 200)
    },
  )
})
