import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect as connectSocket, type AddressInfo } from 'node:net'
import { WebSocket } from 'ws'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { rightSchema } from '../../../wire/src/rightsSchema.ts'
import { commandTable } from '../../src/server/commandTable.ts'
import type { Command } from '../../src/server/front.ts'
import { allowsOrigin } from '../../src/server/origins.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { serveAgents, untilStatus } from './bridgeHarness.ts'
import { frames, needed } from './commandFrames.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })

const tokens = {
  'admin-token-0123456789': 'admin',
  'drive-token-0123456789': 'drive',
  'watch-token-0123456789': 'observe',
  'only-token-01234567890': { role: 'admin', agents: ['mine'] },
} as const

const guarded = (context: CaseContext) => serveAgents(context, [echo], { tokens })

/** Status of the server's answer to a request for an upgrade. */
async function statusOf(port: number, path: string, headers: Record<string, string> = {}): Promise<string> {
  const socket = connectSocket(port, '127.0.0.1')
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: ${headers['host'] ?? `127.0.0.1:${port}`}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...Object.entries({ 'Sec-WebSocket-Protocol': 'escapement.v1', ...headers })
      .filter(([name]) => name !== 'host')
      .map(([name, value]) => `${name}: ${value}`),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const [data] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return data.toString().split('\r\n')[0]!.replace('HTTP/1.1 ', '')
}

describe('who may enter', (it) => {
  it('is refused for good with a wrong token or none', async (context) => {
    const serving = await guarded(context)
    for (const options of [{}, { token: 'a wrong token 0123456789' }, { token: 'admin-token-012345678' }]) {
      const client = serving.connect(options)
      await assert.rejects(client.ready, withCode('BRIDGE_UNAUTHORISED', 'missing or wrong'))
      assert.is(client.status, 'closed')
      await assert.rejects(client.agents(), withCode('BRIDGE_UNAUTHORISED'))
      assert.is((await client.agent('a1').prompt('x').result).error?.code, 'BRIDGE_UNAUTHORISED')
    }
  })

  it('is let in with a token in the header', async (context) => {
    const serving = await guarded(context)
    const bare = await serving.dial({ headers: { authorization: 'Bearer watch-token-0123456789' }, hello: {} })
    const welcome = await bare.until(({ type }) => type === 'welcome')
    assert.ok(welcome.type === 'welcome' && welcome.role === 'observe')
  })

  it('needs a token to be reached from other machines', async ({ cleanup }) => {
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    await assert.rejects(runtime.serve({ host: '0.0.0.0' }), withCode('INVALID_OPTION', 'no tokens'))
    await assert.rejects(runtime.serve({ host: '0.0.0.0', tokens: {} }), withCode('INVALID_OPTION'))
    await assert.rejects(runtime.serve({ tokens: { short: 'admin' } }), withCode('INVALID_OPTION', '16 characters'))
  })

  it('says hello first, and once', async (context) => {
    const serving = await serveAgents(context, [echo])
    const silent = await serving.dial()
    silent.send({ type: 'agent.list', id: 'a' })
    assert.is((await silent.closed).code, 4001)
    assert.is(silent.frames[0]?.type === 'error' && silent.frames[0].code, 'BRIDGE_UNAUTHORISED')
    const twice = await serving.dial({ hello: {} })
    twice.send({ type: 'hello' })
    assert.is((await twice.closed).code, 4001)
  })

  it('is a page of the server itself, or of a listed origin', async (context) => {
    const { server } = await serveAgents(context, [echo])
    const own = `http://127.0.0.1:${server.port}`
    assert.is(await statusOf(server.port, '/bridge', { origin: own }), '101 Switching Protocols')
    assert.is(await statusOf(server.port, '/bridge', { origin: 'https://evil.example' }), '403 Forbidden')
    assert.is(await statusOf(server.port, '/bridge', { origin: 'null' }), '403 Forbidden')
    // A foreign page whose name was made to point here sends that name as host, too.
    const rebound = { origin: `http://evil.example:${server.port}`, host: `evil.example:${server.port}` }
    assert.is(await statusOf(server.port, '/bridge', rebound), '403 Forbidden')
    const open = await serveAgents(context, [echo], { origins: ['https://app.example'] })
    assert.is(await statusOf(open.server.port, '/bridge', { origin: 'https://app.example' }), '101 Switching Protocols')
    assert.is(await statusOf(open.server.port, '/bridge', { origin: own }), '403 Forbidden')
  })

  it('is a page under the name of the server where tokens guard it', () => {
    const at = (origin: string, host: string, isGuarded: boolean): boolean =>
      allowsOrigin(origin, host, { origins: undefined, isGuarded })
    assert.ok(at('https://agents.example', 'agents.example', true))
    assert.not.ok(at('https://agents.example', 'agents.example', false))
    assert.not.ok(at('https://other.example', 'agents.example', true))
    assert.ok(at('http://localhost:8765', 'localhost:8765', false))
    assert.ok(at('http://[::1]:8765', '[::1]:8765', false))
    assert.not.ok(at('not a url', 'not a url', true))
  })

  it('asks for the bridge, in its protocol', async (context) => {
    const { server } = await serveAgents(context, [echo])
    assert.is(await statusOf(server.port, '/'), '404 Not Found')
    assert.is(await statusOf(server.port, '//'), '404 Not Found')
    assert.is(await statusOf(server.port, '/bridge', { 'Sec-WebSocket-Protocol': 'other' }), '400 Bad Request')
    assert.is(await statusOf(server.port, '/bridge?x=1'), '101 Switching Protocols')
    assert.is((await fetch(`http://127.0.0.1:${server.port}/healthz`)).status, 200)
    assert.is((await fetch(`http://127.0.0.1:${server.port}/bridge`)).status, 426)
  })

  it('leaves other paths of a server of the application to that', async (context) => {
    const http = createServer()
    http.on('upgrade', ({ url }, socket) => {
      if (url === '/other') socket.end('HTTP/1.1 418 Teapot\r\n\r\n')
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    context.cleanup(() => http.close())
    const { port } = http.address() as AddressInfo
    const { server } = await serveAgents(context, [echo], { server: http })
    assert.is(server.port, port)
    assert.is(await statusOf(port, '/other'), '418 Teapot')
    assert.is(await statusOf(port, '/bridge'), '101 Switching Protocols')
    assert.is(server.url, `ws://127.0.0.1:${port}/bridge`)
    await server.close()
    assert.is(http.listening, true)
    assert.is(http.listenerCount('upgrade'), 1)
  })

  it('learns where a server of the application listens once it does', async (context) => {
    const http = createServer()
    context.cleanup(() => http.close())
    const { server } = await serveAgents(context, [echo], { server: http })
    assert.equal([server.url, server.port], ['', 0])
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const { port } = http.address() as AddressInfo
    assert.equal([server.url, server.port], [`ws://127.0.0.1:${port}/bridge`, port])
    const everywhere = createServer()
    context.cleanup(() => everywhere.close())
    const other = await serveAgents(context, [echo], { server: everywhere })
    await new Promise<void>((resolve) => everywhere.listen(0, '0.0.0.0', resolve))
    assert.is(other.server.url, `ws://127.0.0.1:${other.server.port}/bridge`)
    await server.close()
  })

  it('finds no server left behind when the port is taken', async (context) => {
    const { server } = await serveAgents(context, [echo])
    const clock = simulatedClock()
    const runtime = await createRuntime({ clock })
    context.cleanup(() => runtime.close())
    await assert.rejects(runtime.serve({ port: server.port }), withCode('BRIDGE_LISTEN_FAILED'))
    assert.is(clock.pending, 0)
  })
})

const allRights = rightSchema().options

describe('what a right allows', (it) => {
  const forbidden = async (
    bare: Awaited<ReturnType<Awaited<ReturnType<typeof serveAgents>>['dial']>>,
    frame: object,
  ): Promise<boolean> => {
    const answer = await bare.ask(frame)
    return answer.type === 'error' && answer.code === 'BRIDGE_FORBIDDEN'
  }

  it('is what the table of commands says, for each right alone', async (context) => {
    assert.equal(Object.keys(frames).toSorted(), Object.keys(commandTable).toSorted())
    for (const right of allRights) {
      const token = `token-of-${right}-0123456789`
      const serving = await serveAgents(context, [echo], { tokens: { [token]: { may: [right] } } })
      await serving.runtime.spawn(echo, { id: 'a1' })
      const bare = await serving.dial({ hello: { token } })
      for (const [type, some] of Object.entries(frames)) {
        const needs = needed[type as Command['type']]
        for (const frame of some) {
          const isAnswer = (frame as { decision?: string }).decision === 'answer'
          const isAllowed =
            right === (isAnswer ? 'answer.own' : needs) || (needs === 'see.messages' && right === 'see.all')
          assert.is(await forbidden(bare, { type, ...frame }), !isAllowed, `${right}: ${type} ${JSON.stringify(frame)}`)
        }
      }
    }
  })

  it('is words, and no limits or context, for who may only talk', async (context) => {
    const serving = await serveAgents(context, [echo], { tokens: { 'token-of-a-customer-01': 'talk' } })
    await serving.runtime.spawn(echo, { id: 'a1' })
    const bare = await serving.dial({ hello: { token: 'token-of-a-customer-01' } })
    const prompt = { type: 'agent.prompt', agentId: 'a1', content: 'x' }
    assert.is(await forbidden(bare, { ...prompt, limits: { turns: 1_000 } }), true)
    assert.is(await forbidden(bare, { ...prompt, context: [{ content: 'the system says yes' }] }), true)
    assert.is(await forbidden(bare, { ...prompt, provenance: { type: 'systemPrompt' } }), true)
    const refused = await bare.ask({ ...prompt, limits: { turns: 1 } })
    assert.match(JSON.stringify(refused), /agent\.prompt with limits, context or a provenance/)
    assert.is(await forbidden(bare, prompt), false)
  })

  it('is more for rules that hold for good, and for the mode that asks nobody', async (context) => {
    const grants = {
      'token-of-a-driver-012': 'drive',
      'token-of-an-approver-1': { may: ['see.all', 'approve'] },
    } as const
    const serving = await serveAgents(context, [echo], { tokens: grants })
    await serving.runtime.spawn(echo, { id: 'a1' })
    const driver = await serving.dial({ hello: { token: 'token-of-a-driver-012' } })
    const approver = await serving.dial({ hello: { token: 'token-of-an-approver-1' } })
    const about = { agentId: 'a1' }
    const decide = { ...about, type: 'agent.decide', callId: 'c', decision: 'approve' }
    const session = { rule: 'pay', scope: 'session' }
    assert.is(await forbidden(driver, { ...about, type: 'agent.permit', rule: 'pay', for: 'session' }), false)
    assert.is(await forbidden(driver, { ...about, type: 'agent.permit', rule: 'pay', for: 'always' }), true)
    assert.is(await forbidden(driver, { ...about, type: 'agent.revoke', grant: 'c1' }), false)
    assert.is(await forbidden(driver, { ...about, type: 'agent.revoke', grant: 'always/deny/pay' }), true)
    assert.is(await forbidden(driver, { ...about, type: 'agent.mode', mode: 'plan' }), false)
    assert.is(await forbidden(driver, { ...about, type: 'agent.mode', mode: 'auto' }), true)
    assert.is(await forbidden(driver, { ...decide, grant: session }), false)
    assert.is(await forbidden(driver, { ...decide, grant: { ...session, scope: 'always' } }), true)
    assert.is(await forbidden(approver, decide), false)
    assert.is(await forbidden(approver, { ...decide, grant: session }), true)
  })

  it('changes nothing when it is not enough', async (context) => {
    const serving = await guarded(context)
    const agent = await serving.runtime.spawn(echo, { id: 'a1' })
    const client = serving.connect({ token: 'watch-token-0123456789' })
    const before = agent.lastSeq
    assert.is((await client.agent('a1').prompt('x').result).error?.code, 'BRIDGE_FORBIDDEN')
    await assert.rejects(client.agent('a1').stop(), withCode('BRIDGE_FORBIDDEN'))
    await assert.rejects(client.spawn('echo'), withCode('BRIDGE_FORBIDDEN'))
    assert.is(agent.lastSeq, before)
    assert.is(client.role, 'observe')
  })
})

describe('a token for some agents', (it) => {
  it('reaches what is below them', async (context) => {
    const serving = await guarded(context)
    const client = serving.connect({ token: 'only-token-01234567890' })
    for (const id of ['mine', 'other']) {
      const agent = await serving.runtime.spawn(echo, { id })
      const child = await agent.spawn(echo, { id: `${id}-child` })
      await child.spawn(echo, { id: `${id}-grandchild` })
    }
    for (const id of ['mine', 'mine-child', 'mine-grandchild']) {
      const remote = client.agent(id)
      assert.is((await remote.snapshot()).agentId, id)
      assert.is((await remote.prompt('x').result).text, 'yes')
    }
    const foreign = ['other', 'other-child', 'other-grandchild']
    for (const id of foreign) await assert.rejects(client.agent(id).snapshot(), withCode('BRIDGE_FORBIDDEN'))
    const watched = await new Promise<readonly string[]>((resolve) => {
      client.watch(({ agents }) => resolve(agents.map(({ agentId }) => agentId)))
    })
    assert.equal(watched.toSorted(), ['mine', 'mine-child', 'mine-grandchild'])
  })

  it('reaches those, and does not learn of others', async (context) => {
    const serving = await guarded(context)
    await serving.runtime.spawn(echo, { id: 'other' })
    const client = serving.connect({ token: 'only-token-01234567890' })
    const mine = await client.spawn('echo', { id: 'mine' })
    assert.is((await mine.prompt('x').result).text, 'yes')
    assert.equal(
      (await client.agents()).agents.map(({ agentId }) => agentId),
      ['mine'],
    )
    for (const id of ['other', 'nobody']) {
      await assert.rejects(client.agent(id).snapshot(), withCode('BRIDGE_FORBIDDEN', `does not reach agent "${id}"`))
      await assert.rejects(client.agent(id).abort(), withCode('BRIDGE_FORBIDDEN'))
    }
    await assert.rejects(client.spawn('echo'), withCode('BRIDGE_FORBIDDEN'))
    await assert.rejects(client.spawn('echo', { id: 'more' }), withCode('BRIDGE_FORBIDDEN'))
    const refused = new Promise<string>((resolve) => client.onError(({ code }) => resolve(code)))
    client.agent('other').subscribe(() => assert.unreachable(), { fromSeq: 1 })
    assert.is(await refused, 'BRIDGE_FORBIDDEN')
  })

  it('wakes no other from its log', async (context) => {
    const store = memoryStore()
    const before = await createRuntime({ store: { ...store, close: async () => {} } })
    await (await before.spawn(echo, { id: 'other' })).prompt('x').result
    await before.close()
    const serving = await serveAgents(context, [echo], { tokens, runtime: { store } })
    const client = serving.connect({ token: 'only-token-01234567890' })
    await assert.rejects(client.agent('other').snapshot(), withCode('BRIDGE_FORBIDDEN'))
    assert.is(serving.runtime.agent('other'), undefined)
    const admin = serving.connect({ token: 'admin-token-0123456789' })
    assert.is((await admin.agent('other').snapshot()).state, 'closed')
    assert.is(serving.runtime.agent('other'), undefined)
    assert.is((await admin.agent('other').prompt('x').result).text, 'yes')
  })
})

describe('a session', (it) => {
  it('has a name that no other can be made of', async (context) => {
    const serving = await serveAgents(context, [echo])
    for (const sessionId of ['', 'a/b', 'a b', 'x'.repeat(129)]) {
      const bare = await serving.dial({ hello: { sessionId } })
      const answer = await bare.until(({ type }) => type === 'error')
      assert.match((answer as { message: string }).message, /sessionId/)
    }
  })
})

describe('the client', (it) => {
  it('also works over the WebSocket of the package ws', async (context) => {
    const serving = await serveAgents(context, [echo])
    const client = serving.connect({ webSocket: WebSocket })
    assert.is((await (await client.spawn('echo')).prompt('x').result).text, 'yes')
    client.close()
    await untilStatus(client, 'closed')
  })
})
