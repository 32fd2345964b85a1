import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { BridgeServer } from '../../../bridge/src/server/serveOptions.ts'
import { serveGateway } from '../../src/serveGateway.ts'
import { FleetLists } from '../../src/gateway/fleetLists.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { dial, serveAgents } from '../../../bridge/test/server/bridgeHarness.ts'
import { welcome } from './fakeWorker.ts'
import { hasty, secret } from './fleet.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'hello') })
const token = 'token-of-an-admin-0001'

/** A sound worker, one that says what it is told to, and a gateway before both. `heard`: what the second one was sent with its requests. */
async function withEvil(context: CaseContext, says: (frame: { type: string; id: string }) => readonly unknown[]) {
  const good = await serveAgents(context, [echo], { gatewaySecret: secret })
  await good.runtime.spawn(echo, { id: 'victim' })
  const heard: IncomingHttpHeaders[] = []
  const http = createServer(({ headers }, response) => {
    heard.push(headers)
    response.setHeader('set-cookie', 'session=of-the-worker').end('{}')
  })
  const sockets = new WebSocketServer({ server: http, handleProtocols: () => 'escapement.v1' })
  sockets.on('connection', (socket, { headers }) => {
    heard.push(headers)
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as { type: string; id: string }
      for (const one of frame.type === 'hello' ? [welcome] : says(frame))
        socket.send(typeof one === 'string' ? one : JSON.stringify(one))
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  context.cleanup(() => {
    for (const socket of sockets.clients) socket.terminate()
    sockets.close()
    http.close()
    http.closeAllConnections()
  })
  const evil = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/bridge`
  const gateway = await serveGateway({
    directory: (id) => ({ url: id === 'evil' ? evil : good.server.url }),
    workers: () => [good.server.url, evil, 'nonsense', 'http://not-a-socket/'],
    secret,
    tokens: { [token]: 'admin' },
    endpoints: ['/api/chat'],
    clock: hasty(10),
    limits: { drainMs: 50 },
  })
  context.cleanup(() => gateway.close())
  return { good, gateway, heard }
}

async function enter(context: CaseContext, gateway: BridgeServer) {
  const bare = await dial(gateway.url)
  context.cleanup(() => bare.socket.terminate())
  bare.send({ type: 'hello', token })
  await bare.until(({ type }) => type === 'welcome')
  return bare
}

const list = (agents: unknown) => (frame: { id: string }) => [{ type: 'ok', id: frame.id, result: { agents } }]

describe('a gateway, before a worker that is not what it says', (it) => {
  const said: { readonly [what: string]: (frame: { id: string }) => readonly unknown[] } = {
    'agents that are null': () => [{ type: 'agents', agents: null }],
    'an agent that is null': () => [{ type: 'agents', agents: [null], gone: [] }],
    'agents that are a number': () => [{ type: 'agents', agents: 5, gone: 'x' }],
    'an agent of no id': () => [{ type: 'agents', agents: [{ agentId: '../x', seq: 1 }], gone: [] }],
    'a list that is null': list(null),
    'a list of null': list([null]),
    'a result that is null': ({ id }) => [{ type: 'ok', id, result: null }],
    'a refusal without words': ({ id }) => [{ type: 'error', id, message: 5, code: 7 }],
    'a record of no number': () => [{ type: 'event', agentId: 'evil', seq: 1e308 }],
    'what is no JSON': () => ['{"type":'],
    'a hundred thousand frames at once': () => [`[${'{"type":"delta","agentId":"evil"},'.repeat(99_999)}{"type":"x"}]`],
  }
  for (const [what, says] of Object.entries(said))
    it(`goes on when it says ${what}`, { timeoutMs: 20_000 }, async (context) => {
      const { gateway } = await withEvil(context, says)
      const bare = await enter(context, gateway)
      assert.is((await bare.ask({ type: 'agent.watch' })).type, 'ok')
      const answer = await bare.ask({ type: 'agent.list' })
      assert.equal(
        answer.type === 'ok' && (answer.result as { agents: { agentId: string }[] }).agents[0]!.agentId,
        'victim',
      )
      bare.send({ type: 'agent.subscribe', agentId: 'evil', id: 'evil' })
      bare.send({ type: 'agent.snapshot', agentId: 'evil', id: 'look' })
      const other = await enter(context, gateway)
      assert.is((await other.ask({ type: 'agent.snapshot', agentId: 'victim' })).type, 'ok')
      assert.not.match(JSON.stringify(bare.frames), '1e308')
    })

  it('tells it who a client is in words that no other worker takes, and none of its credentials', async (context) => {
    const { good, gateway, heard } = await withEvil(context, () => [])
    const bare = await enter(context, gateway)
    bare.send({ type: 'agent.snapshot', agentId: 'evil', id: 'x' })
    const answer = await fetch(`http://127.0.0.1:${gateway.port}/api/chat/evil/stream`, {
      headers: {
        authorization: `Bearer ${token}`,
        cookie: 'session=of-the-client',
        'proxy-authorization': 'Basic c2VjcmV0',
        forwarded: 'for=10.0.0.7',
        referer: 'http://inner/',
      },
    })
    assert.is(answer.headers.get('set-cookie'), null)
    for (let waits = 0; heard.filter(({ upgrade }) => upgrade !== undefined).length === 0 && waits < 100; waits += 1)
      await new Promise((later) => setTimeout(later, 10))
    const asHttp = heard.find(({ upgrade }) => upgrade === undefined)!
    for (const name of ['cookie', 'proxy-authorization', 'forwarded', 'referer', 'origin'])
      assert.is(asHttp[name], undefined, name)
    assert.is(
      heard.some(({ cookie }) => cookie !== undefined),
      false,
    )
    for (const { authorization = '' } of heard) {
      const [, shown] = authorization.split(' ') as [string, string]
      // The owner is the client's own token: it is in no part of what is shown.
      const parts = shown.split('.').map((part) => Buffer.from(part, 'base64url').toString())
      assert.not.match([shown, ...parts].join('\n'), token)
      const thief = await dial(good.server.url)
      context.cleanup(() => thief.socket.terminate())
      thief.send({ type: 'hello', token: shown })
      assert.is((await thief.closed).code, 4001)
    }
    assert.ok(heard.length >= 2)
  })
})

describe('the lists of a gateway', (it) => {
  it('come to an end with a worker whose pages never do', { timeoutMs: 20_000 }, async () => {
    const clock = simulatedClock()
    const sent: { readonly type: string; readonly result?: { readonly total: number } }[] = []
    let pages = 0
    const lists = new FleetLists({
      workers: async () => ['ws://one:1/bridge'],
      clock,
      ask() {
        const id = `q${(pages += 1)}`
        const agents = Array.from({ length: 1_000 }, (_, index) => ({
          agentId: `x${pages}-${index}`,
          seq: 1,
          path: [],
        }))
        queueMicrotask(() => lists.answered({ type: 'ok', id, result: { agents } }))
        return id
      },
      send: (frame) => void sent.push(frame as never),
      isNamed: false,
      isWithin: () => true,
    })
    lists.take({ type: 'agent.list', id: 'c1' })
    while (sent.length === 0) await new Promise((later) => setImmediate(later))
    assert.equal([sent[0]!.result!.total, pages], [100_000, 100])
    lists.close()
  })

  it('remember no more of those watched than fit', async () => {
    let gone = 0
    const lists = new FleetLists({
      workers: async () => ['ws://one:1/bridge'],
      clock: simulatedClock(),
      ask: () => 'q',
      send: (frame) => void (gone += (frame as { gone?: string[] }).gone?.length ?? 0),
      isNamed: false,
      isWithin: () => true,
    })
    lists.take({ type: 'agent.watch', id: 'c1' })
    await new Promise((later) => setImmediate(later))
    for (let page = 0; page < 3; page += 1) {
      const agents = Array.from({ length: 100_000 }, (_, index) => ({ agentId: `x${page}-${index}`, seq: 1, path: [] }))
      lists.heard('ws://one:1/bridge', { type: 'agents', agents, gone: [] } as never)
    }
    lists.lost('ws://one:1/bridge')
    assert.is(gone, 200_000)
    lists.close()
  })
})
