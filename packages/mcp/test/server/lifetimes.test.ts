import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { mcpServer } from '../../src/server/mcpServer.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { call, openHost, ways, type Told } from './mcpHarness.ts'

/** An agent that answers at once, except tasks that it is to wait for: those answer when they are let go. */
function waiter() {
  const gates = new Map<string, () => void>()
  const arrived = new Map<string, () => void>()
  const agent = defineAgent({
    name: 'waiter',
    model: policyModel(({ messages }) => {
      // What was aborted before stands in front of it.
      const task = textOf(messages.at(-1)!.content.slice(-1))
      if (!task.startsWith('wait')) return `did ${task}`
      arrived.get(task)?.()
      return new Promise((resolve) => gates.set(task, () => resolve(`did ${task}`)))
    }),
  })
  return {
    agent,
    letGo: (task: string) => gates.get(task)!(),
    /** Resolves once the model is asked for this task. */
    asked: (task: string) => new Promise<void>((resolve) => arrived.set(task, resolve)),
  }
}

const failing = (calling: Promise<Told>): Promise<unknown> => calling.catch((thrown: unknown) => thrown)

describe('a call of an agent over MCP', (it) => {
  for (const way of ways) {
    it(`is aborted by its client, and no other is (${way})`, async (context) => {
      const { agent, letGo, asked } = waiter()
      const { connect, runtime } = await openHost(context, [agent])
      const client = await connect(way)
      const { session } = await call(client, 'waiter', { task: 'begin' })
      const both = [asked('wait a'), asked('wait b')]
      const cancel = new AbortController()
      const one = failing(call(client, 'waiter', { session, task: 'wait a' }, { signal: cancel.signal }))
      const other = call(client, 'waiter', { task: 'wait b' })
      await Promise.all(both)
      const ended = new Promise<string>((resolve) => {
        runtime.agent(session)!.subscribe((event) => {
          if (event.type === 'run.end') resolve(event.stopReason)
        })
      })
      cancel.abort()
      assert.is(await ended, 'aborted')
      await one
      letGo('wait b')
      assert.is((await other).text, 'did wait b')
      // The answered requests are torn down by now.
      assert.is((await call(client, 'waiter', { session, task: 'more' })).text, 'did more')
    })

    it(`that waits behind another is withdrawn, and leaves that one alone (${way})`, async (context) => {
      const { agent, letGo, asked } = waiter()
      const { connect, runtime } = await openHost(context, [agent])
      const [client, second] = [await connect(way), await connect(way)]
      const { session } = await call(client, 'waiter', { task: 'begin' })
      const isAsked = asked('wait a')
      const first = call(client, 'waiter', { session, task: 'wait a' })
      await isAsked
      const isQueued = new Promise<void>((resolve) => {
        runtime.agent(session)!.subscribe((event) => {
          if (event.type === 'queue.changed' && event.length === 1) resolve()
        })
      })
      const cancel = new AbortController()
      const behind = failing(call(second, 'waiter', { session, task: 'never' }, { signal: cancel.signal }))
      await isQueued
      const isWithdrawn = new Promise<void>((resolve) => {
        runtime.agent(session)!.subscribe((event) => {
          if (event.type === 'queue.changed' && event.length === 0) resolve()
        })
      })
      cancel.abort()
      await Promise.all([isWithdrawn, behind])
      letGo('wait a')
      assert.is((await first).text, 'did wait a')
      const said = runtime
        .agent(session)!
        .conversation.trunk()
        .map(({ message }) => textOf(message.content))
      assert.not.ok(said.includes('never'))
    })
  }

  for (const way of ['stdio, legacy', 'stdio, modern', 'HTTP, legacy'] as const)
    it(`goes on when its client is gone, and another waits for it (${way})`, async (context) => {
      const { agent, letGo, asked } = waiter()
      const { connect, left: noticed } = await openHost(context, [agent])
      const client = await connect(way)
      const isAsked = asked('wait')
      const told = Promise.withResolvers<string>()
      const onprogress = ({ message = '' }: { message?: string | undefined }): void => told.resolve(message)
      const left = failing(call(client, 'waiter', { task: 'wait' }, { onprogress }))
      await isAsked
      const session = (await told.promise).replace('session: ', '')
      await client.close()
      await Promise.all([left, noticed()])
      const again = call(await connect(way), 'waiter', { session })
      letGo('wait')
      assert.equal([(await again).text, (await again).stopReason], ['did wait', 'stop'])
    })

  it('is not aborted by a server that closes', async (context) => {
    const { agent, letGo, asked } = waiter()
    for (const way of ways) {
      const { connect, server, mcp, runtime } = await openHost(context, [agent])
      const client = await connect(way)
      const isAsked = asked('wait')
      void failing(call(client, 'waiter', { task: 'wait' }))
      await isAsked
      const [one] = runtime.agents()
      const ended = new Promise<string>((resolve) => {
        one!.subscribe((event) => {
          if (event.type === 'run.end') resolve(event.stopReason)
        })
      })
      await (way.startsWith('HTTP') ? server : mcp).close()
      letGo('wait')
      assert.is(await ended, 'stop', way)
    }
  })

  it('is told that its server is closed, once and for all, with the runtime', async (context) => {
    const { connect, left, mcp, runtime } = await openHost(context, [waiter().agent])
    await connect('stdio, legacy')
    await runtime.close()
    await left()
    await assert.rejects(mcp.stdio(), withCode('RUNTIME_CLOSED'))
    await assert.rejects(mcp.handler.fetch(new Request('http://localhost/mcp')), withCode('RUNTIME_CLOSED'))
  })
})

const tokens = {
  'a-token-of-the-admin': 'admin',
  'a-token-that-drives': 'drive',
  'a-token-that-looks': 'observe',
} as const

const introduction = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** A request without a client around it. */
const ask = (url: string, message: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { ...json, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  })

describe('the MCP endpoint', (it) => {
  it('lets in whom the server lets in, and they may do what they may do elsewhere', async (context) => {
    const { agent } = waiter()
    for (const way of ['HTTP, legacy', 'HTTP, modern'] as const) {
      const { connect } = await openHost(context, [agent], { serve: { tokens } })
      const stranger = await connect(way, { token: 'somebody-elses-token' }).catch((thrown: unknown) => thrown)
      assert.ok(stranger instanceof Error)
      const admin = await connect(way, { token: 'a-token-of-the-admin' })
      const { session } = await call(admin, 'waiter', { task: 'x' })
      const driver = await connect(way, { token: 'a-token-that-drives' })
      assert.is((await call(driver, 'waiter', { session, task: 'y' })).text, 'did y')
      assert.match(
        (await call(driver, 'waiter', { task: 'z' })).text,
        /"a new agent" needs the right "spawn".*BRIDGE_FORBIDDEN/s,
      )
      const looker = await connect(way, { token: 'a-token-that-looks' })
      assert.match((await call(looker, 'waiter', { session })).text, /"tools\/call" needs the right "talk"/)
    }
  })

  it('answers what is no message of the protocol', async (context) => {
    const { server } = await openHost(context, [waiter().agent], { serve: { limits: { frameBytes: 2_000, depth: 8 } } })
    const url = `http://127.0.0.1:${server.port}/mcp`
    const post = async (body: string, over: Record<string, string> = {}): Promise<number> =>
      (await fetch(url, { method: 'POST', headers: { ...json, ...over }, body })).status
    assert.is(await post('what is this'), 400)
    assert.is(await post('['.repeat(50) + ']'.repeat(50)), 400)
    assert.is(await post(JSON.stringify({ a: 'x'.repeat(3_000) })), 413)
    assert.is(await post('{}', { 'content-type': 'text/plain' }), 415)
    assert.is(await post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), 400)
    assert.is((await ask(url, { method: 'tools/list' }, { 'mcp-session-id': 'nobody' })).status, 404)
    assert.is((await fetch(url, { method: 'PUT', headers: json })).status, 405)
    assert.is((await fetch(url, { headers: { origin: 'http://elsewhere.example' } })).status, 403)
  })

  it('lets pages in that the server lets in, with the headers of the protocol', async (context) => {
    const origin = 'http://page.example'
    const { server } = await openHost(context, [waiter().agent], { serve: { origins: [origin] } })
    const url = `http://127.0.0.1:${server.port}/mcp`
    const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin } })
    assert.match(preflight.headers.get('access-control-allow-headers')!, /accept, mcp-session-id, mcp-protocol-version/)
    const hello = await ask(url, { method: 'initialize', params: introduction }, { origin })
    await hello.text()
    assert.is(hello.headers.get('access-control-allow-origin'), origin)
    assert.match(hello.headers.get('access-control-expose-headers')!, /mcp-session-id/)
  })

  it('keeps the connection of one client from others with other rights', async (context) => {
    const { server } = await openHost(context, [waiter().agent], { serve: { tokens } })
    const url = `http://127.0.0.1:${server.port}/mcp`
    const as = (token: string, more: Record<string, string> = {}) => ({ authorization: `Bearer ${token}`, ...more })
    const hello = await ask(url, { method: 'initialize', params: introduction }, as('a-token-of-the-admin'))
    await hello.text()
    const session = { 'mcp-session-id': hello.headers.get('mcp-session-id')! }
    assert.is((await ask(url, { method: 'tools/list' }, as('a-token-that-looks', session))).status, 404)
    const own = await ask(url, { method: 'tools/list' }, as('a-token-of-the-admin', session))
    assert.match(await own.text(), /"waiter"/)
    const bye = await fetch(url, {
      method: 'DELETE',
      headers: as('a-token-of-the-admin', session),
    })
    assert.is(bye.status, 200)
    assert.is((await ask(url, { method: 'tools/list' }, as('a-token-of-the-admin', session))).status, 404)
  })

  it('closes connections that were not used for long when there are too many', async (context) => {
    const { server } = await openHost(context, [waiter().agent], { serve: { limits: { connections: 4 } } })
    const url = `http://127.0.0.1:${server.port}/mcp`
    const ids: string[] = []
    for (let index = 0; index < 8; index += 1) {
      const hello = await ask(url, { method: 'initialize', params: introduction })
      await hello.text()
      ids.push(hello.headers.get('mcp-session-id')!)
    }
    const statuses = []
    for (const id of ids) {
      const response = await ask(url, { method: 'tools/list' }, { 'mcp-session-id': id })
      await response.text()
      statuses.push(response.status)
    }
    assert.equal(statuses, [404, 404, 404, 404, 200, 200, 200, 200])
  })

  it('needs its agents among those that are served', async (context) => {
    const { agent } = waiter()
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const serving = runtime.serve({ endpoints: [mcpServer(runtime, [agent]).endpoint()] })
    await assert.rejects(serving, /mcpServer: "waiter" is not among the definitions of serve \(serve was given none\)/)
  })

  it('answers requests of a server of another make', async (context) => {
    const { mcp } = await openHost(context, [waiter().agent])
    const response = await mcp.handler.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: introduction }),
      }),
    )
    assert.match(await response.text(), /"name":"escapement"/)
  })

  for (const [what, options, says] of [
    ['an option that there is not', { aprove: 'client' }, /mcpServer: options: "aprove" .* mean "approve"\?/],
    ['a way to approve that there is not', { approve: 'always' }, /mcpServer: options: approve/],
  ] as const)
    it(`refuses ${what}`, async (context) => {
      const runtime = await createRuntime()
      context.cleanup(() => runtime.close())
      assert.throws(() => mcpServer(runtime, [waiter().agent], options as never), says)
      assert.throws(() => mcpServer(runtime, []), /mcpServer: definitions: .*at least one/)
      assert.throws(() => mcpServer({} as never, [waiter().agent]), /what createRuntime returns/)
    })
})
