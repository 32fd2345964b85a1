import { createServer, request as send, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { agUi } from '../../../../src/agUi.ts'
import { aiSdkChat } from '../../../../src/aiSdk.ts'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { Client } from '../../../../src/client.ts'
import { ForwardedTokens } from '../../../bridge/src/server/forwarded.ts'
import { mcpServer } from '../../../mcp/src/server/mcpServer.ts'
import { serveGateway } from '../../src/serveGateway.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { secret, startFleet } from './fleet.ts'

const echo = defineAgent({ name: 'echo', description: 'answers', model: policyModel(() => 'WORDS of it') })
const patient = { timeoutMs: 15_000 }

/** A gateway that lets each tenant reach what is theirs, by a function, and agents of two of them. */
async function tenants(context: CaseContext) {
  const fleet = await startFleet(context, [echo], 0)
  const worker = await fleet.startWorker({ endpoints: [agUi(), aiSdkChat()] })
  await worker.server.close()
  const mcp = mcpServer(worker.runtime, [echo])
  const endpoints = [agUi(), aiSdkChat(), mcp.endpoint()]
  Object.assign(worker, { server: await worker.runtime.serve({ ...fleet.serving, endpoints }) })
  const { runtime } = worker
  for (const tenant of ['ann', 'ben']) {
    const agent = await runtime.spawn(echo, { id: `of-${tenant}`, metadata: { tenant } })
    await agent.prompt(`hello from ${tenant}`).result
  }
  const gateway = await fleet.startGateway({
    endpoints: ['/ag-ui', '/api/chat', '/mcp'],
    authenticate: (_, token) =>
      token === undefined ? null : { role: 'admin', agents: ({ metadata }) => metadata['tenant'] === token },
  })
  const place = `http://127.0.0.1:${gateway.port}`
  const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<string> => {
    const accept = 'application/json, text/event-stream'
    const response = await fetch(`${place}${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer ann', 'content-type': 'application/json', accept, ...headers },
      body: JSON.stringify(body),
    })
    return `${response.status} ${await response.text()}`
  }
  return { runtime, post, client: fleet.connect(gateway, { token: 'ann' }) }
}

const idsOf = async (client: Client): Promise<readonly string[]> =>
  (await client.agents()).agents.map(({ agentId }) => agentId)

const user = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'x' }] }
const chat = (id: string, more: object = {}): object => ({ id, messages: [user], trigger: 'submit-message', ...more })

describe('a gateway before agents that a function chooses', (it) => {
  it('lists and watches those alone', patient, async (context) => {
    const { client, runtime } = await tenants(context)
    assert.equal(await idsOf(client), ['of-ann'])
    assert.is((await client.agents()).total, 1)
    const seen = new Set<string>()
    const isThere = Promise.withResolvers<void>()
    client.watch(({ agents }) => {
      for (const { agentId } of agents) seen.add(agentId)
      if (seen.has('later')) isThere.resolve()
    })
    await runtime.spawn(echo, { id: 'not-hers', metadata: { tenant: 'ben' } })
    await runtime.spawn(echo, { id: 'later', metadata: { tenant: 'ann' } })
    await isThere.promise
    assert.equal([...seen].toSorted(), ['later', 'of-ann'])
    await assert.rejects(client.agent('of-ben').snapshot(), withCode('AGENT_NOT_FOUND'))
  })

  it('begins none that it would not choose, and no fork of them', patient, async (context) => {
    const { client, runtime } = await tenants(context)
    for (const metadata of [{ tenant: 'ben' }, undefined])
      await assert.rejects(
        client.spawn('echo', metadata === undefined ? {} : { metadata }),
        withCode('BRIDGE_FORBIDDEN'),
      )
    assert.is((await client.spawn('echo', { id: 'hers', metadata: { tenant: 'ann' } })).id, 'hers')
    // That there is one is not told.
    const taken = client.spawn('echo', { id: 'of-ben', metadata: { tenant: 'ann' } })
    await assert.rejects(taken, withCode('BRIDGE_FORBIDDEN', 'the new one is not among them'))
    const twice = client.spawn('echo', { id: 'hers', metadata: { tenant: 'ann' } })
    await assert.rejects(twice, withCode('AGENT_EXISTS'))
    await assert.rejects(client.agent('of-ben').fork('n1'), withCode('AGENT_NOT_FOUND'))
    const { agentId: fork } = await client.agent('of-ann').fork('n1')
    assert.is((await client.agent(fork).snapshot()).definition, 'echo')
    assert.equal(
      runtime
        .agents()
        .map(({ id }) => id)
        .filter((id) => !id.startsWith('echo-')),
      ['of-ann', 'of-ben', 'hers'],
    )
  })

  it('has workers do nothing with another one, however a request names it', patient, async (context) => {
    const { post, runtime } = await tenants(context)
    const before = runtime.agent('of-ben')!.lastSeq
    assert.match(await post('/api/chat', chat('of-ben', { threadId: 'of-ann' })), /^400 .*two agents/)
    assert.match(await post('/api/chat', chat('of-ben', { jsonrpc: '2.0' })), /^403 /)
    assert.match(await post('/api/chat', chat('of-ben')), /^404 /)
    assert.match(
      await post('/ag-ui', { threadId: 'of-ben', runId: 'r', messages: [], tools: [], context: [] }),
      /^404 /,
    )
    const call = (args: object): object => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'echo',
        arguments: args,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    })
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
    for (const args of [{ session: 'of-ben' }, { session: 'of-ben', task: 'x' }])
      assert.not.match(await post('/mcp', call(args), headers), 'WORDS')
    // Which agent would begin is nothing that the gateway can say.
    assert.match(await post('/mcp', call({ task: 'x' }), headers), 'BRIDGE_FORBIDDEN')
    assert.match(await post('/mcp', call({ session: 'of-ann' }), headers), 'WORDS')
    assert.match(await post('/mcp', call({}), { ...headers, 'mcp-session-id': 'somebody' }), /^403 .*owner/)
    assert.is(runtime.agent('of-ben')!.lastSeq, before)
    assert.equal(runtime.agents().length, 2)
    assert.match(await post('/api/chat', chat('of-ann')), /^200 .*WORDS/s)
  })
})

describe('what a gateway tells a worker', (it) => {
  it('is none of what the client says of itself', patient, async (context) => {
    const seen: IncomingHttpHeaders[] = []
    const worker = createServer((request, response) => {
      seen.push(request.headers)
      response.end('[]')
    })
    context.cleanup(() => worker.close())
    await new Promise<void>((resolve) => worker.listen(0, '127.0.0.1', resolve))
    const url = `ws://127.0.0.1:${(worker.address() as AddressInfo).port}/bridge`
    const gateway = await serveGateway({
      directory: async () => ({ url }),
      workers: async () => [url],
      store: memoryStore(),
      secret,
      endpoints: ['/api/chat'],
      tokens: { 'the-token-of-an-admin': 'admin' },
      origins: ['http://page.example'],
    })
    context.cleanup(() => gateway.close())
    const kept = {
      cookie: 'session=1',
      origin: 'http://page.example',
      referer: 'http://page.example/x',
      forwarded: 'for=1',
      'proxy-authorization': 'x',
      'sec-fetch-site': 'same-origin',
    }
    const headers = { authorization: 'Bearer the-token-of-an-admin', 'x-own': 'kept', ...kept }
    await new Promise<void>((resolve) => {
      send(`http://127.0.0.1:${gateway.port}/api/chat/a1`, { headers }, (answer) => {
        answer.resume()
        answer.on('end', resolve)
      }).end()
    })
    const [told = {}] = seen
    assert.is(told['x-own'], 'kept')
    for (const name of Object.keys(kept)) assert.is(told[name], undefined, name)
    const token = told.authorization!.replace('Bearer ', '')
    assert.not.match(token, 'the-token-of-an-admin')
    const claims = Buffer.from(token.split('.')[1]!, 'base64url').toString()
    assert.not.match(claims, 'the-token-of-an-admin')
    const read = new ForwardedTokens(secret).read(token, () => true)
    assert.ok('grant' in read && read.grant.may?.includes('share'))
  })
})
