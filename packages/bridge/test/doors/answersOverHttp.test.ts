import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { agUi } from '../../../ag-ui/src/agUi.ts'
import { aiSdkChat } from '../../../ai-sdk/src/aiSdkChat.ts'
import { mcpServer } from '../../../mcp/src/server/mcpServer.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import type { Endpoint } from '../../src/server/endpoint.ts'

const token = 'token-of-somebody-who-may'
const origin = 'https://app.example'
const path = '/home/somebody/logs/a.jsonl'

/** Endpoints that fail before they have answered, and in the middle of it, and one for sockets alone. */
const failing: readonly Endpoint[] = [
  {
    path: '/early',
    answer() {
      throw new RuntimeError('STORE_READ_FAILED', `could not read "${path}"`)
    },
  },
  {
    path: '/late',
    async answer(_, response) {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half')
      throw new RuntimeError('STORE_READ_FAILED', `could not read "${path}"`)
    },
  },
  { path: '/socket', connect: () => {} },
]

async function openHouse({ cleanup }: CaseContext): Promise<string> {
  const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })
  const runtime = await createRuntime()
  cleanup(() => runtime.close().catch(() => {}))
  const endpoints = [agUi(), aiSdkChat(), mcpServer(runtime, [echo]).endpoint(), ...failing]
  const server = await runtime.serve({
    definitions: [echo],
    endpoints,
    tokens: { [token]: 'admin' },
    origins: [origin],
    base: '/agents/',
    inspector: true,
    limits: { drainMs: 50 },
  })
  return `http://127.0.0.1:${server.port}`
}

const known = { authorization: `Bearer ${token}` }
const json = { ...known, 'content-type': 'application/json' }
const unstored = { 'cache-control': 'no-store' }
const cors = { 'access-control-allow-origin': origin, vary: 'origin' }

/** Requests, each with the status and the headers of its answer; `null`: none of that name. */
const answers: readonly (readonly [
  what: string,
  init: RequestInit,
  status: number,
  headers: Readonly<Record<string, string | RegExp | null>>,
])[] = [
  ['/agents', {}, 308, { location: './agents/', ...unstored }],
  ['/agents/healthz', {}, 200, unstored],
  ['/agents/bridge', {}, 426, { upgrade: 'websocket' }],
  ['/elsewhere', {}, 404, unstored],
  ['/socket', { headers: known }, 426, { upgrade: 'websocket' }],
  ['/early', { headers: known }, 500, unstored],
  ['/ag-ui', { headers: { origin } }, 401, { 'www-authenticate': 'Bearer', ...cors, ...unstored }],
  ['/ag-ui', {}, 401, { 'www-authenticate': 'Bearer', 'access-control-allow-origin': null }],
  ['/ag-ui', { headers: { ...known, origin: 'https://other.example' } }, 403, { 'access-control-allow-origin': null }],
  ['/ag-ui', { headers: { ...known, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'empty' } }, 405, {}],
  [
    '/ag-ui',
    { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'empty' } },
    403,
    { 'www-authenticate': null },
  ],
  ['/ag-ui', { headers: known }, 405, { allow: 'POST, OPTIONS', ...unstored }],
  ['/ag-ui', { method: 'POST', headers: known, body: '{}' }, 415, unstored],
  ['/ag-ui', { method: 'POST', headers: json, body: '{}' }, 400, unstored],
  ['/ag-ui', { method: 'OPTIONS', headers: { origin } }, 204, { ...cors, 'access-control-allow-methods': /POST/ }],
  ['/api/chat', { method: 'PUT', headers: known }, 405, { allow: 'POST, OPTIONS', ...unstored }],
  ['/api/chat', { method: 'POST', headers: known, body: '{}' }, 415, unstored],
  ['/api/chat', { method: 'POST', headers: json, body: '{}' }, 400, unstored],
  ['/api/chat/a', { method: 'PUT', headers: known }, 405, { allow: 'GET, OPTIONS' }],
  ['/api/chat/a', { headers: known }, 200, unstored],
  ['/api/chat/..%2Fa', { headers: known }, 400, unstored],
  ['/api/chat/a/stream', { method: 'PUT', headers: known }, 405, { allow: 'GET, DELETE, OPTIONS' }],
  ['/api/chat/a/stream', { headers: known }, 204, {}],
  ['/api/chat/a/other', { headers: known }, 404, unstored],
  ['/api/chat/a/stream/more', { headers: known }, 404, unstored],
  ['/api/chat/', { headers: known }, 404, unstored],
  ['/mcp', { method: 'OPTIONS', headers: { origin } }, 204, { 'access-control-allow-headers': /mcp-session-id/ }],
  [
    '/mcp',
    { method: 'POST', headers: { ...json, origin }, body: 'no JSON' },
    400,
    { ...cors, 'access-control-expose-headers': 'mcp-session-id' },
  ],
]

describe('an answer over HTTP', (it) => {
  for (const [index, [what, init, status, headers]] of answers.entries())
    it(`has its status and headers: ${init.method ?? 'GET'} ${what}, ${status} (${index + 1})`, async (context) => {
      const house = await openHouse(context)
      const answer = await fetch(`${house}${what}`, { redirect: 'manual', ...init })
      const text = await answer.text()
      assert.is(answer.status, status, text)
      for (const [name, value] of Object.entries<string | RegExp | null>({
        'x-content-type-options': 'nosniff',
        ...headers,
      })) {
        const given = answer.headers.get(name)
        assert.ok(value instanceof RegExp ? value.test(given ?? '') : given === value, `${name}: ${given}`)
      }
      assert.not.ok(text.includes(path), text)
    })

  it('that fails in the middle is cut off, and not taken for a whole one', async (context) => {
    const house = await openHouse(context)
    const read = async (): Promise<string> => await (await fetch(`${house}/late`, { headers: known })).text()
    await assert.rejects(read())
  })
})
