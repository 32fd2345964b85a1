import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { RosterChange } from '../../src/client/remoteRoster.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { gate, quiet, withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { approving, serveAgents } from './bridgeHarness.ts'
import { heldCalls } from '../../../../test/support/heldCalls.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(({ messages }) => `${messages.length}`) })
const { worker, boss } = approving()

describe('an incognito agent that a client spawned', (it) => {
  it('works for that client as any other, from the first record on, and the store has nothing of it', async (context) => {
    const { connect, store } = await serveAgents(context, [boss])
    const client = connect()
    const agent = await client.spawn('boss', { id: 'i', incognito: true })
    const events: AgentEvent[] = []
    const asked = gate<string>()
    agent.subscribe(
      (event) => {
        events.push(event)
        if (event.type === 'approval.requested') asked.resolve(event.key)
      },
      { fromSeq: 1, descendants: true },
    )
    const run = agent.prompt('go')
    await agent.decide(await asked.promise, 'approve')
    assert.is((await run.result).text, 'fine')
    const { tree, seq } = await agent.snapshot()
    assert.is(tree.id, 'i')
    const again: number[] = []
    for await (const event of agent.events({ fromSeq: 1, deltas: false })) {
      if (event.agentId === 'i' && 'v' in event) again.push(event.seq)
      if (event.seq === seq) break
    }
    assert.equal(
      again,
      Array.from({ length: seq }, (_, index) => index + 1),
      'also when read again',
    )
    assert.ok(events.some(({ agentId }) => agentId === 'i.1'))
    assert.equal(
      events.filter(({ incognito }) => incognito !== true),
      [],
    )
    assert.equal(await store.list(), [])
  })

  it('is there for nobody else, and in no list', async (context) => {
    const { connect, runtime } = await serveAgents(context, [echo])
    const agent = await connect().spawn('echo', { id: 'i', incognito: true })
    agent.subscribe(() => {})
    await agent.prompt('go').result
    const other = connect()
    const changes: RosterChange[] = []
    other.watch((change) => void changes.push(change))
    const { agents, total } = await other.agents()
    assert.equal([agents, total], [[], 0])
    assert.equal((await other.sessions()).sessions, [])
    const stranger = other.agent('i')
    const notFound = withCode('AGENT_NOT_FOUND')
    await assert.rejects(stranger.snapshot(), notFound)
    await assert.rejects(stranger.conversation('log'), notFound)
    assert.is((await stranger.prompt('go').result).error?.code, 'AGENT_NOT_FOUND')
    const refused = gate<string>()
    other.onError(({ code }) => refused.resolve(code))
    stranger.subscribe(() => assert.unreachable('an event'))
    assert.is(await refused.promise, 'AGENT_NOT_FOUND')
    await assert.rejects(other.spawn('echo', { id: 'i' }), withCode('BRIDGE_FORBIDDEN'))
    assert.equal(
      changes.flatMap((change) => change.agents),
      [],
    )
    await runtime.agent('i')!.close()
    await assert.rejects(stranger.snapshot(), notFound)
    await assert.rejects(agent.snapshot(), notFound, 'once it has ended it is gone for its client, too')
  })

  it('ends when its client has been away too long, and with the server', async (context) => {
    const { connect, runtime, server } = await serveAgents(context, [echo], {
      limits: { sessionMs: 20, pingMs: 10, drainMs: 50 },
    })
    const client = connect()
    await client.spawn('echo', { id: 'i', incognito: true })
    await connect().spawn('echo', { id: 'j', incognito: true })
    const agent = runtime.agent('i')!
    const ended = (async () => {
      for await (const _ of agent.events());
    })()
    client.close()
    await ended
    assert.is(agent.state, 'stopped')
    assert.is(runtime.agent('j')?.state, 'idle')
    await server.close()
    await quiet()
    assert.is(runtime.agent('j'), undefined)
  })
})

describe('an incognito agent that code of the server spawned', (it) => {
  it('is there for no client, whether it stands alone or beside an agent that clients follow', async (context) => {
    const { connect, runtime } = await serveAgents(context, [echo, worker])
    await runtime.spawn(echo, { id: 'i', incognito: true })
    const parent = await runtime.spawn(echo, { id: 'a' })
    const client = connect()
    const agent = client.agent('a')
    const heard: AgentEvent[] = []
    agent.subscribe((event) => void heard.push(event), { fromSeq: 1, descendants: true })
    await agent.snapshot()
    const child = await parent.spawn(worker, { incognito: true })
    const run = child.prompt('go')
    await quiet()
    const asked = gate<RosterChange>()
    client.watch((change) => asked.resolve(change))
    assert.equal(
      (await asked.promise).agents.map(({ agentId, pendingApprovals }) => [agentId, pendingApprovals]),
      [['a', []]],
    )
    const { tree, approvals } = await agent.snapshot()
    assert.equal([tree.children, approvals], [[], []])
    await assert.rejects(client.agent(child.id).snapshot(), withCode('AGENT_NOT_FOUND'))
    await assert.rejects(client.agent('i').snapshot(), withCode('AGENT_NOT_FOUND'))
    child.decide(heldCalls(child)[0]!, 'approve')
    await run.result
    await child.stop()
    await agent.prompt('go').result
    assert.equal(
      heard.filter(({ agentId }) => agentId !== 'a'),
      [],
    )
  })
})
