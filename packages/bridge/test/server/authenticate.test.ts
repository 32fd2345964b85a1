import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket } from 'ws'
import { closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import type { Client } from '../../src/client/client.ts'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { Endpoint } from '../../src/server/endpoint.ts'
import type { Grant } from '../../src/server/roles.ts'
import { pageFile } from '../../src/page/pageFiles.ts'
import { ServedPage } from '../../src/page/servePage.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { approving, Heard, lastingStore, serveAgents, untilStatus, type Serving } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })

/** Tokens are names of users, each of whom sees what is theirs. */
const byName = (_: IncomingMessage, token: string | undefined): Grant | null =>
  token === undefined || !token.startsWith('user-') ? null : { role: 'admin', metadata: { userId: token } }

const serveUsers = (context: CaseContext, options: Parameters<typeof serveAgents>[2] = {}) =>
  serveAgents(context, [echo, approving().worker], { authenticate: byName, ...options })

async function ofTwo(serving: Serving): Promise<{ readonly ann: Client; readonly bob: Client }> {
  const ann = serving.connect({ token: 'user-ann' })
  const bob = serving.connect({ token: 'user-bob' })
  await ann.spawn('echo', { id: 'of-ann' })
  await bob.spawn('echo', { id: 'of-bob' })
  return { ann, bob }
}

describe('users whom the application tells apart', (it) => {
  it('each see their own agents and sessions only', async (context) => {
    const serving = await serveUsers(context)
    const { ann, bob } = await ofTwo(serving)
    await serving.runtime.spawn(echo, { id: 'of-nobody' })
    assert.equal(serving.runtime.agent('of-ann')?.metadata, { userId: 'user-ann' })
    for (const [client, own] of [
      [ann, 'of-ann'],
      [bob, 'of-bob'],
    ] as const) {
      const { agents, total } = await client.agents()
      assert.equal([agents.map(({ agentId }) => agentId), total], [[own], 1])
      const { sessions } = await client.sessions()
      assert.equal(
        sessions.map(({ agentId, metadata }) => [agentId, metadata]),
        [[own, agents[0]!.metadata]],
      )
      const seen = await new Promise<readonly string[]>((resolve) => {
        client.watch((change) => resolve(change.agents.map(({ agentId }) => agentId)))
      })
      assert.equal(seen, [own])
    }
    // The server's own code sees everything.
    assert.is(serving.runtime.agents().length, 3)
  })

  it('give their agents metadata besides what makes them theirs', async (context) => {
    const serving = await serveUsers(context)
    await serving.connect({ token: 'user-ann' }).spawn('echo', { id: 'a', metadata: { topic: 'x' } })
    assert.equal(serving.runtime.agent('a')?.metadata, { topic: 'x', userId: 'user-ann' })
  })

  it('find nothing of each other, as if there were nothing', async (context) => {
    const serving = await serveUsers(context)
    const { ann } = await ofTwo(serving)
    const url = new URL(serving.server.url.replace('ws:', 'http:'))
    for (const id of ['of-bob', 'of-nobody']) {
      const other = ann.agent(id)
      const none = withCode('AGENT_NOT_FOUND', `There is no agent "${id}" here.`)
      await assert.rejects(other.snapshot(), none)
      await assert.rejects(other.conversation('log'), none)
      await assert.rejects(other.steer('x'), none)
      await assert.rejects(other.abort(), none)
      await assert.rejects(other.stop(), none)
      const { error } = await other.prompt('x').result
      assert.is(error?.code, 'AGENT_NOT_FOUND')
      const heard = new Promise((resolve) => ann.onError(resolve))
      other.subscribe(() => assert.unreachable('an event of somebody else came'), { fromSeq: 1, descendants: true })
      assert.is(((await heard) as { code: string }).code, 'AGENT_NOT_FOUND')
      const chart = await fetch(new URL(`/agents/${id}/chart.json`, url), {
        headers: { authorization: 'Bearer user-ann' },
      })
      assert.is(chart.status, 404)
    }
  })

  it('find nothing of each other in the logs of agents that do not run', async (context) => {
    const store = lastingStore()
    const first = await serveUsers(context, { runtime: { store } })
    const { ann, bob } = await ofTwo(first)
    await ann.agent('of-ann').prompt('hello').result
    ann.close()
    bob.close()
    await first.runtime.close()
    const second = await serveUsers(context, { runtime: { store } })
    const again = second.connect({ token: 'user-bob' })
    assert.equal(
      (await again.sessions()).sessions.map(({ agentId }) => agentId),
      ['of-bob'],
    )
    await assert.rejects(again.agent('of-ann').conversation(), withCode('AGENT_NOT_FOUND'))
    assert.is((await again.agent('of-ann').prompt('x').result).error?.code, 'AGENT_NOT_FOUND')
    assert.is(second.runtime.agent('of-ann'), undefined)
    assert.is((await again.agent('of-bob').prompt('x').result).text, 'yes')
  })

  it('cannot decide for each other', async (context) => {
    const serving = await serveUsers(context)
    const { ann, bob } = await ofTwo(serving)
    const agent = await ann.spawn('worker', { id: 'asks' })
    const heard = new Heard()
    agent.subscribe(heard.listen, { fromSeq: 1 })
    const run = agent.prompt('go')
    await heard.until(({ type }) => type === 'approval.requested')
    const { key = '' } = (await agent.snapshot()).approvals[0] ?? {}
    await assert.rejects(bob.agent('asks').decide(key, 'approve'), withCode('AGENT_NOT_FOUND'))
    await assert.rejects(bob.agent('of-bob').decide(key, 'approve'), withCode('CALL_NOT_PENDING'))
    await agent.decide(key, 'approve')
    assert.is((await run.result).text, 'done')
  })

  it('get metadata that they cannot change, and may add their own', async (context) => {
    const serving = await serveUsers(context)
    const ann = serving.connect({ token: 'user-ann' })
    await ann.spawn('echo', { id: 'a', metadata: { topic: 'clocks', userId: 'user-ann' } })
    assert.equal(serving.runtime.agent('a')?.metadata, { topic: 'clocks', userId: 'user-ann' })
    await assert.rejects(
      ann.spawn('echo', { metadata: { userId: 'user-bob' } }),
      withCode('BRIDGE_FORBIDDEN', 'sets metadata of your agents itself: userId'),
    )
    assert.equal((await ann.agents({ metadata: { topic: 'clocks' } })).total, 1)
    assert.equal((await ann.agents({ metadata: { topic: 'gears' } })).total, 0)
    assert.equal((await ann.sessions({ metadata: { topic: 'clocks' } })).total, 1)
    assert.equal((await ann.sessions({ metadata: { userId: 'user-bob' } })).total, 0)
  })
})

describe('authenticate', (it) => {
  it('turns away whom it does not know, and is asked after the tokens', async (context) => {
    const serving = await serveUsers(context, { tokens: { 'operator-token-0123456789': 'observe' } })
    for (const options of [{}, { token: 'somebody-else' }])
      await assert.rejects(serving.connect(options).ready, withCode('BRIDGE_UNAUTHORISED'))
    const operator = serving.connect({ token: 'operator-token-0123456789' })
    await operator.ready
    assert.is(operator.role, 'observe')
  })

  it('may take its time, and what the client says meanwhile waits', async (context) => {
    const decided = Promise.withResolvers<Grant>()
    const serving = await serveAgents(context, [echo], { authenticate: () => decided.promise })
    const bare = await serving.dial({ hello: {} })
    const listed = bare.ask({ type: 'agent.list' })
    decided.resolve({ role: 'drive' })
    assert.is((await listed).type, 'ok')
    assert.equal(
      bare.frames.map(({ type }) => type),
      ['welcome', 'ok'],
    )
  })

  for (const [title, answer, says] of [
    ['throws', () => Promise.reject(new Error('the database is away')), 'the database is away'],
    ['gives nonsense', () => ({ role: 'king' }) as unknown as Grant, 'it gave something else than { role'],
  ] as const)
    it(`that ${title} turns clients away for now, and says so in the log`, async (context) => {
      const lines: string[] = []
      const none = (): void => {}
      const logger = {
        debug: none,
        info: none,
        error: none,
        warn: (_: object, text?: string) => lines.push(text ?? ''),
      }
      let isBroken = true
      const serving = await serveAgents(context, [echo], {
        authenticate: () => (isBroken ? answer() : { role: 'admin' }),
        runtime: { logger },
      })
      const errors: string[] = []
      const client = serving.connect({ token: 'any' })
      await new Promise<void>((resolve) => {
        client.onError(({ code }) => {
          errors.push(code)
          resolve()
        })
      })
      assert.is(errors[0], 'BRIDGE_AUTHENTICATE')
      const url = serving.server.url.replace('ws:', 'http:').replace('/bridge', '/agents/x/chart.json')
      assert.is((await fetch(url)).status, 500)
      assert.ok(
        lines.some((line) => line.includes(says)),
        lines.join('\n'),
      )
      assert.not.ok(client.status === 'closed')
      isBroken = false
      await client.ready
    })

  const refusals: readonly (readonly [whom: string, refuse: () => null, code: number])[] = [
    ['it no longer knows', () => null, closeCodes.unauthorised],
    [
      'it cannot say any more who they are',
      () => {
        throw new Error('the database is away')
      },
      closeCodes.stuck,
    ],
  ]
  for (const [whom, refuse, code] of refusals)
    it(`is asked again while the client stays, and cuts off whom ${whom}`, async (context) => {
      const clock = simulatedClock()
      const allowed = new Set(['user-ann', 'user-bob'])
      let asked = 0
      const authenticate = (request: IncomingMessage, token: string | undefined): Grant | null => {
        asked += 1
        return allowed.has(token ?? '') ? byName(request, token) : refuse()
      }
      const limits = { drainMs: 50, pingMs: 5_000 }
      const endpoints: Endpoint[] = [{ path: '/own', connect: () => {} }]
      const serving = await serveAgents(context, [echo], { authenticate, limits, endpoints, runtime: { clock } })
      const ann = await serving.dial({ hello: { token: 'user-ann' } })
      const bob = await serving.dial({ hello: { token: 'user-bob' } })
      await ann.until(({ type }) => type === 'welcome')
      await bob.until(({ type }) => type === 'welcome')
      const headers = { authorization: 'Bearer user-bob' }
      const at = new WebSocket(serving.server.url.replace('/bridge', '/own'), { headers })
      const left = new Promise<number>((resolve) => at.on('close', resolve))
      await new Promise((resolve) => at.on('open', resolve))
      allowed.delete('user-bob')
      await clock.advance(5_000)
      await clock.advance(5_000)
      assert.is((await bob.closed).code, 1001)
      assert.is(await left, 1001)
      assert.is(ann.socket.readyState, WebSocket.OPEN)
      assert.ok(asked >= 6)
      assert.is((await (await serving.dial({ hello: { token: 'user-bob' } })).closed).code, code)
    })

  it('may choose agents by a function, one that throws chooses none', async (context) => {
    const agents = ({ id, metadata }: { readonly id: string; readonly metadata: object }): boolean => {
      if (id === 'broken') throw new Error('no')
      // What an asynchronous function gives is not a yes.
      if (id === 'theirs') return Promise.resolve(true) as unknown as boolean
      return id.startsWith('mine') || 'shared' in metadata
    }
    const serving = await serveAgents(context, [echo], { authenticate: () => ({ role: 'admin', agents }) })
    const client = serving.connect()
    await serving.runtime.spawn(echo, { id: 'broken' })
    await serving.runtime.spawn(echo, { id: 'theirs' })
    await serving.runtime.spawn(echo, { id: 'open', metadata: { shared: true } })
    await client.spawn('echo', { id: 'mine-1' })
    await assert.rejects(client.spawn('echo', { id: 'other' }), withCode('BRIDGE_FORBIDDEN'))
    assert.equal(
      (await client.agents()).agents.map(({ agentId }) => agentId),
      ['open', 'mine-1'],
    )
    await assert.rejects(client.agent('theirs').snapshot(), withCode('AGENT_NOT_FOUND'))
  })

  it('lists no session that its function does not choose once it knows what it is', async (context) => {
    const agents = ({ metadata }: { readonly metadata: { readonly hidden?: unknown } }): boolean =>
      metadata.hidden !== true
    const serving = await serveAgents(context, [echo], { authenticate: () => ({ role: 'observe', agents }) })
    await serving.runtime.spawn(echo, { id: 'hidden', metadata: { hidden: true } })
    await serving.runtime.spawn(echo, { id: 'open' })
    const { sessions, total } = await serving.connect().sessions()
    assert.equal([sessions.map(({ agentId }) => agentId), total], [['open'], 1])
  })

  it('keeps the sessions of users without tokens apart', async (context) => {
    const authenticate = ({ headers }: IncomingMessage): Grant => ({
      role: 'admin',
      metadata: { userId: headers.cookie ?? '' },
    })
    const serving = await serveAgents(context, [echo], { authenticate })
    const ann = await serving.dial({ hello: { sessionId: 'known' }, headers: { cookie: 'ann' } })
    await ann.until(({ type }) => type === 'welcome')
    const bob = await serving.dial({ hello: { sessionId: 'known' }, headers: { cookie: 'bob' } })
    const refused = await bob.until(({ type }) => type === 'error')
    assert.is(refused.type === 'error' && refused.code, 'BRIDGE_SESSION')
    const again = await serving.dial({ hello: { sessionId: 'known' }, headers: { cookie: 'ann' } })
    await again.until(({ type }) => type === 'welcome')
  })
})

describe('a client whose token changes', (it) => {
  it('stays in its session, and its run goes on', async (context) => {
    const store = lastingStore()
    let valid = 1
    const authenticate = (_: IncomingMessage, token: string | undefined): Grant | null =>
      token === `token-${valid}` ? { role: 'admin', metadata: { userId: 'ann' } } : null
    const serving = await serveAgents(context, [approving().worker], { authenticate, runtime: { store } })
    const client = serving.connect({ token: async () => `token-${valid}` })
    const agent = await client.spawn('worker', { id: 'a' })
    const heard = new Heard()
    agent.subscribe(heard.listen, { fromSeq: 1 })
    const run = agent.prompt('go')
    const { key } = (await heard.until(({ type }) => type === 'approval.requested')) as unknown as { key: string }
    valid = 2
    const reconnecting = untilStatus(client, 'reconnecting')
    const port = serving.server.port
    await serving.server.close()
    await reconnecting
    const next = await serving.runtime.serve({ definitions: [approving().worker], authenticate, port })
    context.cleanup(() => next.close())
    await untilStatus(client, 'open')
    await agent.decide(key, 'approve')
    assert.is((await run.result).text, 'done')
    assert.is(heard.logged.filter(({ type }) => type === 'run.start').length, 1)
  })

  it('is asked for another when the first one came too late, but not for ever', async (context) => {
    const given: string[] = []
    const serving = await serveUsers(context)
    const source = (...tokens: readonly string[]) => {
      const rest = [...tokens]
      return () => {
        const next = rest.shift() ?? 'expired'
        given.push(next)
        return next
      }
    }
    await serving.connect({ token: source('expired', 'user-ann') }).ready
    assert.equal(given, ['expired', 'user-ann'])
    await assert.rejects(serving.connect({ token: source() }).ready, withCode('BRIDGE_UNAUTHORISED'))
  })

  it('tries again when its token could not be had', async (context) => {
    const serving = await serveUsers(context)
    let tries = 0
    const client = serving.connect({
      token: () => {
        tries += 1
        if (tries < 3) throw new Error('signed out')
        return 'user-ann'
      },
    })
    const error = await new Promise<{ readonly message: string }>((resolve) => client.onError(resolve))
    assert.match(error.message, /its token failed: signed out/)
    await client.ready
    assert.is(tries, 3)
  })
})

describe('a bridge at another path', (it) => {
  it('is there, and nowhere else', async (context) => {
    const serving = await serveAgents(context, [echo], { path: '/api/agents' })
    assert.match(serving.server.url, /\/api\/agents$/)
    await serving.connect().ready
    const url = serving.server.url.replace('ws:', 'http:')
    assert.is((await fetch(url)).status, 426)
    assert.is((await fetch(url.replace('/api/agents', '/bridge'))).status, 404)
  })

  it('is told to the inspector page', async (context) => {
    const body = Buffer.from('<html><head></head></html>')
    const files = new Map([['/', pageFile('/index.html', body)]])
    for (const [bridge, says] of [
      ['api/agents', '<meta name="escapement-bridge" content="api/agents" />'],
      ['bridge', '<head></head>'],
    ] as const) {
      const page = new ServedPage({ read: async () => files, bridge })
      const http = createServer((request, response) => void page.answer(request, response, '/'))
      context.cleanup(() => http.close())
      await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
      const { port } = http.address() as AddressInfo
      assert.ok((await (await fetch(`http://127.0.0.1:${port}/`)).text()).includes(says))
    }
  })

  it('must be a path of its own', async (context) => {
    const endpoint: Endpoint = { path: '/own', connect: () => {} }
    for (const options of [{ path: 'x' }, { path: '/healthz' }, { path: '/' }, { path: '/own', endpoints: [endpoint] }])
      await assert.rejects(serveAgents(context, [echo], options), withCode('INVALID_OPTION'))
    // The usual path is free then.
    await serveAgents(context, [echo], { path: '/other', endpoints: [{ ...endpoint, path: '/bridge' }] })
  })
})
