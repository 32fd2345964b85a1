import { messageOf } from '../../../../src/protocol/errors.ts'
import { once } from 'node:events'
import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { quiet } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { openHouse, silentModel } from '../../../acp/test/acpHarness.ts'
import { agUi } from '../../../ag-ui/src/agUi.ts'
import { openRun } from '../../../ag-ui/src/openRun.ts'
import type { Rules } from '../../../ag-ui/src/threads.ts'
import { overHttp as runsOverHttp } from '../../../ag-ui/src/overHttp.ts'
import { aiSdkChat } from '../../../ai-sdk/src/aiSdkChat.ts'
import { Chats } from '../../../ai-sdk/src/openChat.ts'
import { overHttp as chatsOverHttp } from '../../../ai-sdk/src/overHttp.ts'
import { mcpServer } from '../../../mcp/src/server/mcpServer.ts'
import type { AgentAccess } from '../../src/server/agentAccess.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { bodyOf } from '../../src/server/requestBody.ts'

const message = { id: 'm', role: 'user' } as const
const run = { threadId: 'a', runId: 'r', messages: [{ ...message, content: 'go' }], tools: [], context: [] }
const chat = { id: 'a', messages: [{ ...message, parts: [{ type: 'text', text: 'go' }] }] }
const connection = { onLeave: () => {} }

interface Held {
  readonly access: AgentAccess
  /** Called when the request is about to be opened; resolves once its client has left. */
  left(): Promise<void>
}

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Doors that open something for a request, each with how it answers and what listens or is held after that. */
const doors: Readonly<Record<string, (held: Held) => { readonly body: object; answer: Answer; holds(): unknown }>> = {
  'AG-UI'({ access, left }) {
    let opened: Awaited<ReturnType<typeof openRun>> | undefined
    const rules: Rules = { threads: new WeakMap(), definition: undefined }
    const open: Parameters<typeof runsOverHttp>[0]['open'] = async (input) => {
      opened = await openRun(access, input, rules)
      await left()
      return opened
    }
    return {
      body: run,
      answer: (request, response) =>
        runsOverHttp({ request, response, access, open, connection, rules, abortOnLeave: false }, request.url ?? ''),
      holds: () => [opened!.observers.size, opened!.takeBacklog()],
    }
  },
  useChat({ access, left }) {
    const chats = new Chats(undefined)
    const [open, held] = [chats.open.bind(chats), { count: 0, views: 0 }]
    chats.open = async (...given) => {
      const opened = await open(...given)
      assert.ok('thread' in opened)
      const { thread } = opened
      const [release, add] = [thread.release.bind(thread), thread.add.bind(thread)]
      held.count += 1
      Object.assign(thread, {
        release: () => [(held.count -= 1), release()],
        add: (view: never) => [(held.views += 1), add(view)],
      })
      await left()
      return opened
    }
    return {
      body: chat,
      answer: (request, response) => chatsOverHttp({ request, response, access, chats, connection }, '/'),
      holds: () => [held.count, held.views === 0 ? undefined : held.views],
    }
  },
}

async function listening({ cleanup }: CaseContext, answer: Answer): Promise<number> {
  const server = createServer((request, response) => void answer(request, response))
  cleanup(() => server.close())
  cleanup(() => server.closeAllConnections())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

describe('a client that leaves while its answer is opened', (it) => {
  for (const [door, at] of Object.entries(doors))
    it(`is not shown it, and holds nothing: ${door}`, async (context) => {
      const { model } = silentModel()
      const { access } = await openHouse(context, [defineAgent({ name: 'silent', model })])
      const [reached, gone, done] = [1, 2, 3].map(() => Promise.withResolvers<void>())
      const left = async (): Promise<void> => {
        reached!.resolve()
        await gone!.promise
      }
      const { body, answer, holds } = doors[door]!({ access: access(), left })
      assert.is(at, doors[door])
      const port = await listening(context, async (request, response) => {
        response.on('close', () => gone!.resolve())
        await answer(request, response)
        done!.resolve()
      })
      const leaving = new AbortController()
      const headers = { 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(body), signal: leaving.signal }
      fetch(`http://127.0.0.1:${port}/`, init).catch(() => {})
      await reached!.promise
      leaving.abort()
      await done!.promise
      await quiet()
      assert.equal(holds(), [0, undefined])
    })
})

describe('a request that is too large', (it) => {
  for (const path of ['/ag-ui', '/api/chat', '/mcp'])
    it(`is refused unread, and its connection is not used again: ${path}`, async (context) => {
      const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })
      const runtime = await createRuntime()
      context.cleanup(() => runtime.close().catch(() => {}))
      const endpoints = [agUi(), aiSdkChat(), mcpServer(runtime, [echo]).endpoint()]
      const server = await runtime.serve({ definitions: [echo], endpoints, limits: { frameBytes: 100, drainMs: 50 } })
      const headers = { 'content-type': 'application/json', 'content-length': 101 }
      const asking = ask({ host: '127.0.0.1', port: server.port, path, method: 'POST', headers })
      context.cleanup(() => asking.destroy())
      asking.on('error', () => {})
      // The rest is never sent.
      asking.write('{')
      const [answer] = (await once(asking, 'response')) as [IncomingMessage]
      assert.equal([answer.statusCode, answer.headers.connection], [413, 'close'])
    })

  it('is one of more bytes than may be, whether it says so or not', async (context) => {
    const read: (number | string | undefined)[] = []
    const port = await listening(context, async (request, response) => {
      read.push(
        await bodyOf(request, 10).then(
          (text) => text?.length,
          (thrown: unknown) => messageOf(thrown),
        ),
      )
      response.end()
    })
    const send = async (pieces: readonly string[], headers: Record<string, number> = {}): Promise<void> => {
      const asking = ask({ host: '127.0.0.1', port, method: 'POST', headers, agent: false })
      const answered = once(asking, 'response')
      for (const piece of pieces) asking.write(piece)
      asking.end()
      const [answer] = (await answered) as [IncomingMessage]
      answer.resume()
    }
    await send(['x'.repeat(10)], { 'content-length': 10 })
    await send(['x'.repeat(5), 'x'.repeat(5)])
    await send(['x'.repeat(5), 'x'.repeat(6)])
    await send(['x'.repeat(11)], { 'content-length': 11 })
    const tooLarge = (text: unknown): boolean => typeof text === 'string' && text.includes('larger than 10 bytes')
    assert.equal(
      [read.slice(0, 2), read.slice(2).map(tooLarge)],
      [
        [10, 10],
        [true, true],
      ],
    )
  })
})
