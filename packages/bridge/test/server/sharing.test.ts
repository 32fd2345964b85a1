import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { ShareTokens } from '../../src/server/shareTokens.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { serveAgents, untilStatus } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'I was asked.'), maxChildren: 4 })
const writer = defineAgent({ name: 'writer', description: 'writes', model: policyModel(() => 'Written.') })
const token = 'admin-token-0123456789'
const shareKey = 'k'.repeat(32)
const hour = 3_600_000

/** A guarded server with an agent, one below it, and another one. */
async function served(context: CaseContext, options: Parameters<typeof serveAgents>[2] = {}) {
  const clock = simulatedClock()
  const serving = await serveAgents(context, [echo], { tokens: { [token]: 'admin' }, ...options, runtime: { clock } })
  const agent = await serving.runtime.spawn(echo, { id: 'a1', metadata: { team: 'red' } })
  await agent.spawn(echo, { id: 'below' })
  await serving.runtime.spawn(echo, { id: 'other' })
  return { ...serving, clock, agent }
}

/** Status of the answer to a request for a chart with a token. */
async function chartStatus(port: number, id: string, shared: string): Promise<number> {
  const headers = { authorization: `Bearer ${shared}`, connection: 'close' }
  const response = await fetch(`http://127.0.0.1:${port}/agents/${id}/chart.json`, { headers })
  await response.arrayBuffer()
  return response.status
}

describe('tokens of read-only links', (it) => {
  const clock = simulatedClock()
  const share = { agentId: 'a1', metadata: undefined, expiresAt: clock.now() + hour }

  it('say what they let see, and hold until they expire', () => {
    const shares = new ShareTokens(clock, shareKey)
    const made = shares.mint({ ...share, metadata: { team: 'red' } })
    assert.match(made, /^share\.[\w-]+\.[\w-]{43}$/)
    assert.equal(shares.read(made), { ...share, metadata: { team: 'red' } })
    assert.equal(shares.grantOf(made), { role: 'observe', agents: ['a1'], metadata: { team: 'red' } })
    assert.is(shares.grantOf(shares.mint({ ...share, expiresAt: clock.now() })), undefined)
  })

  it('are known to servers with the same key, and to no other', () => {
    const made = new ShareTokens(clock, shareKey).mint(share)
    assert.ok(new ShareTokens(clock, shareKey).grantOf(made))
    assert.is(new ShareTokens(clock, 'l'.repeat(32)).grantOf(made), undefined)
    assert.is(new ShareTokens(clock, undefined).grantOf(made), undefined)
    const own = new ShareTokens(clock, undefined)
    assert.ok(own.grantOf(own.mint(share)))
  })

  it('are refused when a sign of them is another', () => {
    const shares = new ShareTokens(clock, shareKey)
    const made = shares.mint(share)
    const other = Buffer.from(JSON.stringify({ a: 'b1', e: share.expiresAt })).toString('base64url')
    const hash = made.split('.')[2]!
    for (const wrong of [
      `share.${other}.${hash}`,
      `${made}x`,
      `${made}.x`,
      `${made}=`,
      'share.',
      'share..',
      'share.x.y',
    ])
      assert.is(shares.read(wrong), undefined, wrong)
    for (let at = 6; at < made.length; at += 1) {
      const sign = made[at] === 'A' ? 'B' : 'A'
      assert.is(shares.read(made.slice(0, at) + sign + made.slice(at + 1)), undefined, String(at))
    }
  })
})

describe('a read-only link', (it) => {
  it('lets look at an agent and those below it, and do nothing', async (context) => {
    const { server, connect } = await served(context)
    const { url, token: shared, expiresAt } = await server.shareLink('a1', { ms: hour })
    assert.is(url, `http://127.0.0.1:${server.port}/#agent=a1&token=${shared}`)
    const client = connect({ token: shared })
    await client.ready
    assert.is(client.role, 'observe')
    assert.equal(
      (await client.agents()).agents.map(({ agentId }) => agentId),
      ['a1'],
    )
    assert.is((await client.agent('below').snapshot()).agentId, 'below')
    await assert.rejects(client.agent('other').snapshot(), withCode('BRIDGE_FORBIDDEN'))
    assert.is((await client.agent('a1').prompt('x').result).error?.code, 'BRIDGE_FORBIDDEN')
    await assert.rejects(client.agent('a1').share(), withCode('BRIDGE_FORBIDDEN'))
    await assert.rejects(client.spawn('echo'), withCode('BRIDGE_FORBIDDEN'))
    assert.ok(expiresAt > 0)
    assert.equal(
      [await chartStatus(server.port, 'a1', shared), await chartStatus(server.port, 'other', shared)],
      [200, 403],
    )
  })

  it('is over when it expires: its connection is closed, and no other is made', async (context) => {
    // By a timer of its own, long before the next ping.
    const { server, connect, clock } = await served(context, { limits: { pingMs: 2 * hour } })
    const { token: shared } = await server.shareLink('a1', { ms: hour })
    const errors: string[] = []
    const client = connect({ token: shared })
    client.onError(({ code }) => errors.push(code))
    await client.ready
    await clock.advance(hour - 1_000)
    assert.is(client.status, 'open')
    await clock.advance(1_000)
    await untilStatus(client, 'closed')
    assert.equal(errors, ['BRIDGE_EXPIRED'])
    await assert.rejects(connect({ token: shared }).ready, withCode('BRIDGE_EXPIRED', 'has expired'))
    assert.is(await chartStatus(server.port, 'a1', shared), 401)
  })

  it('is made by an admin from afar, of what that one sees', async (context) => {
    const tokens = { [token]: { role: 'admin', metadata: { team: 'red' } } } as const
    const { connect } = await served(context, { tokens })
    const admin = connect({ token })
    const { token: shared } = await admin.agent('a1').share({ ms: hour })
    await assert.rejects(admin.agent('other').share(), withCode('AGENT_NOT_FOUND'))
    await assert.rejects(admin.agent('a1').share({ ms: 10 }), withCode('INVALID_OPTION', '1,000'))
    await assert.rejects(admin.agent('a1').share({ ms: 31 * 24 * hour }), withCode('INVALID_OPTION'))
    const client = connect({ token: shared })
    assert.equal((await client.agents()).total, 1)
    // It goes on to ask for what its maker was held to.
    assert.match(Buffer.from(shared.split('.')[1]!, 'base64url').toString(), /"m":\{"team":"red"\}/)
  })

  it('holds over a restart where the server keeps its key, and ends with it where not', async (context) => {
    for (const [key, expected] of [
      [shareKey, 'open'],
      [undefined, 'BRIDGE_UNAUTHORISED'],
    ] as const) {
      const options = key === undefined ? {} : { shareKey: key }
      const first = await served(context, options)
      const { token: shared } = await first.server.shareLink('a1')
      await first.server.close()
      const second = await served(context, options)
      const client = second.connect({ token: shared })
      const came = await client.ready.then(
        () => 'open',
        (thrown: unknown) => (thrown as { code: string }).code,
      )
      assert.is(came, expected)
    }
  })

  it('is nobody’s to judge but the server’s own, and restricts where a token is needed', async (context) => {
    const asked: (string | undefined)[] = []
    const authenticate = (_: unknown, given: string | undefined) => {
      asked.push(given)
      return { role: 'admin' } as const
    }
    const { server, connect } = await served(context, { tokens: {}, authenticate })
    const { token: shared } = await server.shareLink('a1')
    const client = connect({ token: shared })
    await client.ready
    assert.is(client.role, 'observe')
    await assert.rejects(connect({ token: `${shared}x` }).ready, withCode('BRIDGE_UNAUTHORISED'))
    assert.equal(asked, [])
    const open = await serveAgents(context, [echo])
    await open.runtime.spawn(echo, { id: 'a1' })
    await assert.rejects(open.server.shareLink('a1'), withCode('INVALID_OPTION', 'neither tokens nor authenticate'))
    // What looks like one opens nothing, on a server where no token opens everything.
    await assert.rejects(open.connect({ token: shared }).ready, withCode('BRIDGE_UNAUTHORISED'))
  })

  it('tells only of the definitions of what it reaches', async (context) => {
    const { server, runtime, connect } = await serveAgents(context, [echo, writer], { tokens: { [token]: 'admin' } })
    const agent = await runtime.spawn(echo, { id: 'a1' })
    await runtime.spawn(writer, { id: 'w1' })
    const definitionsOf = async (given: string) => {
      const client = connect({ token: given })
      await client.ready
      return [client.definitions, client.descriptions]
    }
    assert.equal(await definitionsOf(token), [['echo', 'writer'], { writer: 'writes' }])
    const { token: shared } = await server.shareLink('a1')
    assert.equal(await definitionsOf(shared), [['echo'], {}])
    await agent.spawn(writer, { id: 'below' })
    assert.equal(await definitionsOf(shared), [['echo', 'writer'], {}])
  })

  it('has a kind of token to itself: a configured one that looks like it is refused at the start', async (context) => {
    const own = 'share.of-mine-0123456789'
    const said = await serveAgents(context, [echo], { tokens: { [own]: 'admin' } }).catch((thrown: unknown) => thrown)
    assert.ok(withCode('INVALID_OPTION', 'share.')(said))
    assert.not.match(String(said), /of-mine/)
  })

  it('leads to the page where others see it, and to no agent that is nobody else’s', async (context) => {
    const { server, runtime } = await served(context, { base: '/x/' })
    assert.match((await server.shareLink('a1')).url, /^http:\/\/127\.0\.0\.1:\d+\/x\/#agent=a1&token=share\./)
    const { url } = await server.shareLink('a1', { page: 'https://example.com/agents/' })
    assert.match(url, /^https:\/\/example\.com\/agents\/#agent=a1&token=share\./)
    await assert.rejects(server.shareLink('a1', { page: 'javascript:x' }), withCode('INVALID_OPTION'))
    await assert.rejects(server.shareLink('none'), withCode('AGENT_NOT_FOUND'))
    await runtime.spawn(echo, { id: 'secret', incognito: true })
    await assert.rejects(server.shareLink('secret'))
    await assert.rejects(serveAgents(context, [echo], { shareKey: 'short' }), withCode('INVALID_OPTION', '32'))
  })
})
