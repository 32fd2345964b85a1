import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import type { ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import { freePort } from '../../../../test/support/freePort.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { judged } from '../../../../test/judges/judge.ts'
import { opened, until } from './opened.ts'
import { reference } from './referenceServer.ts'

const timeoutMs = 15_000
/** However long a server takes to start again, it is found. */
const restart = { maxRestarts: 1_000, backoffMs: 50, maxBackoffMs: 200 }

interface Running {
  readonly url: string
  /** Kills it as `kill -9` does, and resolves once it is gone. */
  kill(): Promise<void>
  /** Starts it anew, at the same address. */
  again(): Promise<void>
}

/** Starts a server, and waits until it says that it listens. */
async function start(context: CaseContext, kind: 'everything' | 'modern'): Promise<Running> {
  const port = await freePort()
  const args =
    kind === 'modern'
      ? [join(import.meta.dirname, 'servers', 'httpServer.ts'), String(port)]
      : reference('everything', 'streamableHttp').args
  const run = async () => {
    const child = spawn(process.execPath, args, { env: { ...process.env, PORT: String(port) } })
    context.cleanup(() => child.kill('SIGKILL'))
    const gone = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)))
    await until(() => said.includes('listening'), context.signal)
    return async () => {
      child.kill('SIGKILL')
      await gone
    }
  }
  let stop = await run()
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    kill: () => stop(),
    again: async () => {
      stop = await run()
    },
  }
}

/** A call that is under way on the server, once it has reported progress. */
function underWay(call: (context: Partial<ToolContext>) => Promise<unknown>): {
  begun: Promise<void>
  ended: Promise<unknown>
} {
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  return { begun, ended: call({ report: () => resolve() }).catch((error: unknown) => error) }
}

/** A server that keeps sessions, and forgets them on demand. */
async function sessionServer({ cleanup }: CaseContext) {
  let sessions = 0
  let known = ''
  let how: 400 | 404 | 410 | 503 | 'error' | 'closed' = 404
  let isBusy = false
  const ended: unknown[] = []
  const paid: unknown[] = []
  const results: Readonly<Record<string, () => object>> = {
    initialize: () => ({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    }),
    ping: () => ({}),
    'tools/list': () => ({ tools: ['echo', 'cut', 'pay'].map((name) => ({ name, inputSchema: { type: 'object' } })) }),
    'tools/call': () => ({ content: [{ type: 'text', text: `in session ${sessions}` }] }),
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const session = request.headers['mcp-session-id']
    if (request.method === 'DELETE') ended.push(session)
    if (request.method !== 'POST') return response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
    const { id, method, params } = (await json(request)) as {
      readonly id?: number
      readonly method: string
      readonly params?: { readonly name?: string }
    }
    if (method === 'initialize') known = `session-${(sessions += 1)}`
    else if (session !== known) {
      if (how === 'closed') return request.socket.destroy()
      if (how !== 'error') return response.writeHead(how).end(how === 400 ? 'Bad Request: No valid session ID' : '')
      const error = { code: -32_001, message: 'Session not found' }
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, error }))
    }
    if (isBusy && method === 'tools/call') return response.writeHead(503).end('busy')
    if (id === undefined) return response.writeHead(202).end()
    if (method === 'tools/call' && params?.name === 'pay') {
      paid.push(session)
      return response.writeHead(400).end('The amount was too high, it was paid in part.')
    }
    // A stream that ends before the answer, while the server goes on.
    if (method === 'tools/call' && params?.name === 'cut')
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n')
    const body = JSON.stringify({ jsonrpc: '2.0', id, result: results[method]!() })
    return response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': known }).end(body)
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  cleanup(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as { readonly port: number }
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    forget: (status: typeof how) => ([known, how] = ['', status]),
    busy: (is: boolean) => (isBusy = is),
    ended,
    paid,
  }
}

describe('a server over HTTP', (it) => {
  const withReference = judged(it)

  withReference('of an older version gives its tools, asks, reports and cancels', { timeoutMs }, async (context) => {
    const { url } = await start(context, 'everything')
    const open = await opened(context, { name: 'everything', url })
    assert.equal(await open.text('echo', { message: 'hi' }), 'Echo: hi')
    const ask = (async (schema: { parse(value: unknown): unknown }) =>
      schema.parse({ name: 'Ada', integer: 7 })) as unknown as ToolContext['ask']
    assert.match(await open.text('trigger-elicitation-request', {}, { ask }), /Name: Ada/)
    const abort = new AbortController()
    const slow = { duration: 60, steps: 600 }
    const stop = { signal: abort.signal, report: () => abort.abort(new Error('enough')) }
    const thrown = await open.call('trigger-long-running-operation', slow, stop).catch((error: unknown) => error)
    assert.equal((thrown as Error).message, 'enough')
    assert.equal(await open.text('echo', { message: 'on' }), 'Echo: on')
  })

  it('of 2026-07-28 gives its tools, and asks in the answer to a call', { timeoutMs }, async (context) => {
    const { url } = await start(context, 'modern')
    const open = await opened(context, { name: 'http', url })
    const asked: string[] = []
    const ask = (async (schema: { parse(value: unknown): unknown }, question: string) => {
      asked.push(question)
      return schema.parse({ name: 'Ada' })
    }) as unknown as ToolContext['ask']
    const [greeting, other] = await Promise.all([
      open.text('greet', {}, { ask }),
      open.text('echo', { text: 'beside it' }),
    ])
    assert.match(greeting, /^Hello Ada, after 2 calls$/)
    assert.equal(other, 'beside it')
    assert.equal(asked, ['The MCP server "http" asks: Who are you?'])
    const deny = () => Promise.reject(Object.assign(new Error('no'), { code: 'QUESTION_DENIED' }))
    assert.equal(await open.text('greet', {}, { ask: deny }), 'Nobody to greet')
  })

  it(
    'of 2026-07-28 tells of new tools, which are there once the connection is ready',
    { timeoutMs },
    async (context) => {
      const { url } = await start(context, 'modern')
      const open = await opened(context, { name: 'http', url })
      assert.not.ok(open.names().includes('fresh'))
      assert.equal(await open.text('change'), 'changed')
      await until(async () => {
        await open.connection.ready(context.signal)
        return open.names().includes('fresh')
      }, context.signal)
      assert.equal(await open.text('fresh'), 'fresh')
    },
  )

  for (const [kind, add] of [
    ['everything', withReference],
    ['modern', it],
  ] as const)
    add(
      `that is killed in the middle of a call ends the call, and is found again (${kind})`,
      { timeoutMs },
      async (context) => {
        const server = await start(context, kind)
        const open = await opened(context, { name: 'http', url: server.url, restart })
        const { begun, ended } = underWay((given) =>
          kind === 'modern'
            ? open.call('slow', {}, given)
            : open.call('trigger-long-running-operation', { duration: 60, steps: 600 }, given),
        )
        await begun
        const { tools } = open.connection
        await server.kill()
        assert.match(
          ((await ended) as Error).message,
          /^The MCP server "http" (ended in the middle of the call|failed): /,
        )
        await until(() => open.connection.status().state !== 'up', context.signal)
        await server.again()
        const echo = { message: 'again', text: 'again' }
        await until(() => open.connection.status().state === 'up', context.signal)
        assert.match(await open.text('echo', echo), /again$/)
        assert.is(open.connection.tools, tools)
      },
    )

  it('that forgot the session is asked again, in a new one', { timeoutMs }, async (context) => {
    const server = await sessionServer(context)
    const open = await opened(context, { name: 'http', url: server.url, protocol: 'legacy', restart: { backoffMs: 1 } })
    assert.equal(await open.text('echo'), 'in session 1')
    server.forget(404)
    assert.equal(await open.text('echo'), 'in session 2')
    server.forget(400)
    assert.equal(await open.text('echo'), 'in session 3')
    server.forget(410)
    assert.equal(await open.text('echo'), 'in session 4')
    await open.connection.close()
    assert.equal(server.ended, ['session-4'])
  })

  it(
    'that fails in a session that it forgot gets a new one, and in one that it knows keeps it',
    { timeoutMs },
    async (context) => {
      const server = await sessionServer(context)
      const open = await opened(context, {
        name: 'http',
        url: server.url,
        protocol: 'legacy',
        restart: { backoffMs: 1 },
      })
      const fails = async (): Promise<void> => {
        const thrown = await open.call('echo').catch((error: unknown) => error)
        assert.match((thrown as Error).message, /^The MCP server "http" failed: /)
      }
      server.busy(true)
      await fails()
      server.busy(false)
      assert.equal(await open.text('echo'), 'in session 1')
      let session = 1
      for (const how of [503, 'error', 'closed'] as const) {
        server.forget(how)
        await fails()
        assert.equal(await open.text('echo'), `in session ${(session += 1)}`, String(how))
      }
    },
  )

  it('that refuses a call which it may have carried out is not asked again', { timeoutMs }, async (context) => {
    const { url, paid } = await sessionServer(context)
    const open = await opened(context, { name: 'http', url, protocol: 'legacy' })
    const thrown = await open.call('pay').catch((error: unknown) => error)
    assert.match((thrown as Error).message, /^The MCP server "http" failed: .*The amount was too high/)
    assert.equal(paid, ['session-1'])
    assert.equal(await open.text('echo'), 'in session 1')
  })

  it('that ends the answer before it has said anything ends the call', { timeoutMs }, async (context) => {
    const { url } = await sessionServer(context)
    const open = await opened(context, { name: 'http', url, protocol: 'legacy' })
    const thrown = await open.call('cut').catch((error: unknown) => error)
    assert.equal((thrown as Error).message, 'The MCP server "http" failed: the connection ended without an answer')
    assert.equal(await open.text('echo'), 'in session 1')
  })

  for (const kind of ['everything', 'modern'] as const)
    it(`that is killed while nobody calls it is missed, and found again (${kind})`, { timeoutMs }, async (context) => {
      const server = await start(context, kind)
      const { connection } = await opened(context, { name: 'http', url: server.url, restart })
      await server.kill()
      await until(() => connection.status().state !== 'up', context.signal)
      assert.match(connection.trouble ?? '', /^it (cannot be reached|did not start: .*ECONNREFUSED)/)
      await server.again()
      await until(() => connection.status().state === 'up', context.signal)
    })

  it(
    'gets headers, also those that are asked for each time, which no error and no line shows',
    { timeoutMs },
    async (context) => {
      const { url } = await start(context, 'modern')
      let times = 0
      const headers = async () => ({ 'X-Key': `token-number-${(times += 1)}` })
      const hidden: string[] = []
      const hide = (secrets: readonly string[]): void => void hidden.push(...secrets)
      const open = await opened(context, { name: 'http', url, headers }, { hide })
      const seen = await open.text('header')
      assert.match(seen, /^\[redacted:mcp\]$/)
      assert.ok(times > 2)
      assert.ok(hidden.includes('token-number-1') && hidden.includes(`token-number-${times}`))
      const fixed = await opened(context, { name: 'http', url, headers: { 'X-Key': 'plain-as-day' }, plain: ['X-Key'] })
      assert.equal(await fixed.text('header'), 'plain-as-day')
    },
  )

  it('whose answer is too long says so, and serves the next call', { timeoutMs }, async (context) => {
    const { url } = await start(context, 'modern')
    const open = await opened(context, { name: 'http', url, maxResultBytes: 1_000_000 })
    const thrown = await open.call('big').catch((error: unknown) => error)
    assert.equal((thrown as Error).message, 'The MCP server "http" failed: its answer is longer than 1000000 bytes')
    assert.equal(await open.text('echo', { text: 'next' }), 'next')
  })

  it('that is not there is trouble, and nothing else', { timeoutMs }, async (context) => {
    const url = `http://127.0.0.1:${await freePort()}/mcp`
    const { connection } = await opened(context, { name: 'http', url, restart: { maxRestarts: 0 } })
    assert.match(connection.trouble ?? '', /^it did not start: .*ECONNREFUSED/)
  })

  it('that is no MCP server is trouble as well', { timeoutMs }, async (context) => {
    const server = createServer((_, response) => response.writeHead(500).end('<html>broken</html>'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    context.cleanup(() => {
      server.close()
      server.closeAllConnections()
    })
    const { port } = server.address() as { readonly port: number }
    const options = { name: 'http', url: `http://127.0.0.1:${port}/`, restart: { maxRestarts: 0 } }
    const { connection } = await opened(context, options)
    assert.match(connection.trouble ?? '', /^it did not start: /)
    assert.equal(connection.tools, [])
  })
})
