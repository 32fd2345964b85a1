import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import * as fc from 'fast-check'
import { WebSocket } from 'ws'
import { createRuntime, defineAgent, memoryStore } from '../../../../src/index.ts'
import { bridgeProtocol } from '../../../wire/src/bridgeProtocol.ts'
import { mcpTools } from '../../../../src/mcp.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { exportSession } from '../../../sessions/src/exportSession.ts'
import { calls } from '../../../../test/support/agentHarness.ts'
import { anywhere, inHeaders, random, secretWith, told } from '../../../../test/support/awkwardSecrets.ts'
import { someRuns } from '../../../../test/support/seeds.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { startTracing } from '../../../otel/test/tracingProbe.ts'
import { raw, until } from './opened.ts'

const hidden = fc.record({
  variable: secretWith(anywhere),
  header: secretWith(inHeaders),
  bearer: random,
  query: secretWith(anywhere),
  isError: fc.boolean(),
})

/** So much stands before them, one after the other, that texts are cut in their middle. */
const rooms = [0, 20, 400, 440, 470, 1_850, 1_900, 1_950] as const

interface Message {
  readonly id?: number
  readonly method: string
}

/** A server over HTTP that says what it was sent wherever it says anything, after so much that its texts are cut there. */
async function gossip(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  { isError, room }: { readonly isError: boolean; readonly room: number },
): Promise<string> {
  const resultOf = (method: string, said: string): object | undefined =>
    ({
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: {}, prompts: {} },
        serverInfo: { name: said, version: '1' },
        instructions: said,
      },
      'tools/list': {
        tools: [
          { name: 'gossip', description: said, inputSchema: { type: 'object', description: said } },
          { name: `bad ${said}`, inputSchema: said },
        ],
      },
      'tools/call': {
        isError,
        content: [
          { type: 'text', text: said },
          { type: said, said },
        ],
        structuredContent: { [said]: said },
      },
      'resources/list': { resources: [{ name: said, uri: 'x:y', description: said }] },
      'prompts/list': { prompts: [{ name: said, description: said }] },
    })[method]
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    if (request.method !== 'POST') return response.writeHead(405).end()
    const { id, method } = (await json(request)) as Message
    if (id === undefined) return response.writeHead(202).end()
    const url = new URL(request.url!, 'http://x')
    const { authorization } = request.headers
    const said =
      '-'.repeat(room) +
      JSON.stringify([request.headers['x-key'], authorization, url.search, url.searchParams.get('key')])
    const result = resultOf(method, said)
    const answered = result === undefined ? { error: { code: -32_603, message: said } } : { result }
    const note = { method: 'notifications/message', params: { level: 'info', data: said } }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const message of method === 'tools/call' ? [note, { id, ...answered }] : [{ id, ...answered }])
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
    return response.end()
  }
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

/** Every frame that a page is sent which shows an agent from its beginning. */
async function framesOf({ signal }: Pick<CaseContext, 'signal'>, port: number): Promise<readonly string[]> {
  const frames: string[] = []
  const socket = new WebSocket(`ws://127.0.0.1:${port}/bridge`, bridgeProtocol)
  socket.on('message', (data: Buffer) => frames.push(data.toString()))
  await once(socket, 'open', { signal })
  const of = { agentId: 'clerk' }
  const asked = [
    { type: 'agent.list' },
    { ...of, type: 'agent.snapshot' },
    { ...of, type: 'agent.conversation', view: 'log' },
    { ...of, type: 'agent.subscribe', deltas: true },
  ]
  for (const frame of [{ type: 'hello' }, ...asked.map((question, number) => ({ id: `f${number}`, ...question }))])
    socket.send(JSON.stringify(frame))
  for (const awaited of ['"f1"', '"sources"', '"f2"', '"run.end"'])
    await until(() => frames.some((frame) => frame.includes(awaited)), signal)
  socket.close()
  return frames
}

describe('secrets of the servers of an agent', (it) => {
  it(
    'are in no record, event, request, span, line or export, nor in what a page is sent',
    { timeoutMs: 60_000 },
    async (context) => {
      let tried = 0
      await fc.assert(
        fc.asyncProperty(hidden, async ({ variable, header, bearer, query, isError }) => {
          const url = await gossip(context, { isError, room: rooms[tried++ % rooms.length]! })
          const web = mcpTools({
            name: 'web',
            url: `${url}?key=${encodeURIComponent(query)}`,
            headers: { 'X-Key': header, Authorization: `Bearer ${bearer}` },
            approve: 'none',
            instructions: true,
            resources: true,
            prompts: true,
            protocol: 'legacy',
          })
          const local = mcpTools({
            ...raw({ writes: 'I was told $SECRET, and begin.\n' }),
            env: { SECRET: variable },
            approve: 'none',
          })
          const model = scriptedModel([
            calls('a', ['gossip', {}], ['env', { name: 'SECRET' }], ['die', {}]),
            calls(
              'b',
              ['env', { name: 'SECRET' }],
              ['web_list_resources', {}],
              ['web_read_resource', { uri: 'x:y' }],
              ['web_list_prompts', {}],
              ['web_get_prompt', { name: 'any' }],
            ),
            'done',
          ])
          const lines: unknown[] = []
          const log = (fields: unknown, message?: string): void => void lines.push([fields, message])
          const probe = startTracing(context, { content: true })
          const store = memoryStore()
          const runtime = await createRuntime({
            store,
            tracer: probe.tracer,
            logger: { debug: log, info: log, warn: log, error: log },
          })
          context.cleanup(() => runtime.close())
          const clerk = await runtime.spawn(
            defineAgent({ name: 'clerk', model, tools: [web, local], captureTurnRequests: true }),
            { id: 'clerk' },
          )
          const events: unknown[] = []
          clerk.subscribe((event) => events.push(event))
          assert.is((await clerk.prompt('go').result).text, 'done')
          const server = await runtime.serve({ port: 0 })
          const frames = await framesOf(context, server.port)
          const exported: string[] = []
          for await (const line of exportSession(store, clerk.id)) exported.push(line)
          await runtime.close()
          const seen = { requests: model.requests, events, exported, lines, frames, spans: probe.spans() }
          for (const [place, all] of Object.entries(seen)) {
            const text = JSON.stringify(all)
            for (const secret of [variable, header, bearer, query])
              for (const piece of secret.split(/[^a-zA-Z]+/).filter((each) => each.length >= told))
                assert.not.ok(text.includes(piece), `${place} ${piece} of ${secret}`)
            if (place !== 'lines') assert.match(text, /redacted:/, place)
          }
        }),
        { numRuns: someRuns(4 * rooms.length), seed: 18, endOnFailure: true },
      )
    },
  )
})
