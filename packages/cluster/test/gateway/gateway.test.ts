import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Heard, logOf } from '../../../bridge/test/server/bridgeHarness.ts'
import { hanging } from '../../../bridge/test/server/hangingAgent.ts'
import { hasty, secret, startFleet } from './fleet.ts'

const patient = { timeoutMs: 15_000 }
const echo = defineAgent({
  name: 'echo',
  description: 'answers',
  model: policyModel(({ messages }) => `${messages.length} so far`),
})

const endedAt =
  (seq: () => number) =>
  (event: AgentEvent): boolean =>
    event.type === 'run.end' && event.seq === seq()

describe('a client of a gateway', (it) => {
  it('spawns, prompts and reads agents as if they were its own server’s', patient, async (context) => {
    const fleet = await startFleet(context, [echo])
    const gateway = await fleet.startGateway()
    const client = fleet.connect(gateway)
    await client.ready
    assert.equal([client.role, client.definitions, client.descriptions], ['admin', ['echo'], { echo: 'answers' }])
    const heard = new Heard()
    const agent = await client.spawn('echo', { id: 'a1' })
    agent.subscribe(heard.listen, { fromSeq: 1 })
    assert.is((await agent.prompt('hello').result).text, '1 so far')
    assert.is((await agent.prompt('and?').result).text, '3 so far')
    const { seq, state } = await agent.snapshot()
    await heard.until(endedAt(() => seq))
    assert.is(state, 'idle')
    assert.equal(heard.logged, await logOf(fleet.store(), 'a1'))
    const unnamed = await client.spawn('echo')
    assert.is((await unnamed.prompt('hello').result).text, '1 so far')
  })

  it('reaches agents of all workers over one connection', patient, async (context) => {
    const fleet = await startFleet(context, [echo], 3)
    for (const [index, { runtime }] of fleet.workers.entries()) await runtime.open(`a${index}`, echo)
    const client = fleet.connect(await fleet.startGateway())
    for (const index of [0, 1, 2, 1, 0]) await client.agent(`a${index}`).prompt('hello').result
    assert.equal(
      fleet.workers.map(({ runtime }) => runtime.agents().map(({ id }) => id)),
      [['a0'], ['a1'], ['a2']],
    )
  })

  it(
    'sees every running agent in its lists, whichever worker has it, and hears of what changes',
    patient,
    async (context) => {
      const fleet = await startFleet(context, [echo], 2)
      for (const [index, { runtime }] of fleet.workers.entries()) await runtime.open(`a${index}`, echo)
      const gateway = await fleet.startGateway()
      const bare = await fleet.dial(gateway)
      const listed = async (frame: object): Promise<unknown> => {
        const answer = await bare.ask({ type: 'agent.list', ...frame })
        if (answer.type === 'error') return answer.code
        const { agents, total } = answer.result as { agents: { agentId: string }[]; total: number }
        return [agents.map(({ agentId }) => agentId), total]
      }
      assert.equal(await listed({}), [['a0', 'a1'], 2])
      assert.equal(await listed({ limit: 1 }), [['a0'], 2])
      assert.equal(await listed({ after: 'a0' }), [['a1'], 2])
      assert.is(await listed({ after: 'nobody' }), 'INVALID_OPTION')
      await bare.ask({ type: 'agent.watch' })
      const told = (id: string) => (frame: { type: string; agents?: readonly unknown[] }) =>
        frame.type === 'agents' && JSON.stringify(frame.agents).includes(`"${id}"`)
      await Promise.all(['a0', 'a1'].map((id) => bare.until(told(id))))
      await fleet.workers[1]!.runtime.open('a2', echo)
      await bare.until(told('a2'))
      await fleet.workers[0]!.runtime.detach('a0')
      await bare.until((frame) => frame.type === 'agents' && frame.gone.includes('a0'))
      const late = await fleet.startWorker()
      await late.runtime.open('a3', echo)
      await bare.until(told('a3'))
      const sessions = async (client: typeof bare, running?: boolean): Promise<readonly string[]> => {
        const answer = await client.ask({ type: 'session.list', ...(running === undefined ? {} : { running }) })
        const { result } = answer as { result: { sessions: { agentId: string }[] } }
        return result.sessions.map(({ agentId }) => agentId).toSorted()
      }
      for (const client of [bare, await fleet.dial(gateway)]) {
        assert.equal(await sessions(client), ['a0', 'a1', 'a2', 'a3'])
        assert.equal(await sessions(client, true), ['a1', 'a2', 'a3'])
        assert.equal(await sessions(client, false), ['a0'])
      }
    },
  )
})

describe('an agent that goes elsewhere', (it) => {
  it('in the middle of a run goes on for the client, with every record once', patient, async (context) => {
    const { definition, isIn } = hanging()
    const fleet = await startFleet(context, [definition])
    const [one, two] = fleet.workers as [(typeof fleet.workers)[0], (typeof fleet.workers)[0]]
    await one.runtime.open('a1', definition)
    const client = fleet.connect(await fleet.startGateway())
    const agent = client.agent('a1')
    const heard = new Heard()
    agent.subscribe(heard.listen, { fromSeq: 1 })
    const run = agent.prompt('go')
    await isIn.promise
    await one.runtime.detach('a1')
    const moved = await two.runtime.open('a1', definition)
    const { stopReason, text } = await run.result
    assert.equal([stopReason, text], ['stop', 'all done'])
    await heard.until(endedAt(() => moved.lastSeq))
    assert.equal(heard.logged, await logOf(fleet.store(), 'a1'))
    assert.is(client.status, 'open')
    // From now on with what is not in the log, too.
    await agent.prompt('again').result
    assert.ok(heard.events.some((event) => event.type === 'reply.delta' && event.seq > moved.lastSeq - 8))
  })

  it('because its worker is gone is woken by another one, and the run goes on', patient, async (context) => {
    const { definition, isIn } = hanging()
    const fleet = await startFleet(context, [definition])
    const gateway = await fleet.startGateway()
    const client = fleet.connect(gateway)
    const agent = await client.spawn('hanging', { id: 'a1' })
    const heard = new Heard()
    agent.subscribe(heard.listen, { fromSeq: 1 })
    const run = agent.prompt('go')
    await isIn.promise
    const had = fleet.workers.find(({ runtime }) => runtime.agent('a1') !== undefined)!
    // Nobody is told: the agent is let go of, and the server is no more.
    await Promise.all([had.runtime.detach('a1'), had.server.close()])
    assert.is((await run.result).text, 'all done')
    assert.is(client.status, 'open')
    const has = fleet.workers.find(({ runtime }) => runtime.agent('a1') !== undefined)!
    assert.is.not(has, had)
    await heard.until(endedAt(() => has.runtime.agent('a1')!.lastSeq))
    assert.equal(heard.logged, await logOf(fleet.store(), 'a1'))
  })

  it('is followed from one gateway to another, in the same session', patient, async (context) => {
    const fleet = await startFleet(context, [echo])
    const [first, second] = [await fleet.startGateway(), await fleet.startGateway()]
    const hello = { sessionId: 'one-session' }
    const bare = await fleet.dial(first, hello)
    const frame = { type: 'agent.spawn', definition: 'echo', id: 's1' }
    bare.send(frame)
    const spawned = await bare.until((answer) => answer.type === 'ok' && answer.id === 's1')
    const { agentId } = (spawned as { result: { agentId: string } }).result
    const prompt = { type: 'agent.prompt', agentId, content: 'hello', id: 'p1' }
    bare.send(prompt)
    await bare.until((answer) => answer.type === 'ok' && answer.id === 'p1')
    bare.socket.terminate()
    const other = await fleet.dial(second, hello)
    for (const again of [frame, prompt]) {
      other.send(again)
      await other.until((answer) => answer.type === 'ok' && answer.id === again.id)
    }
    const records = await logOf(fleet.store(), agentId)
    assert.is(records.filter((record) => (record as AgentEvent).type === 'run.start').length, 1)
  })
})

describe('who may enter by a gateway', (it) => {
  it('may do there what the gateway says, and no more', patient, async (context) => {
    const fleet = await startFleet(context, [echo])
    const tokens = {
      'observes-everything': 'observe',
      'drives-a-certain-one': { role: 'drive', agents: ['a1'] },
      'has-metadata-of-one': { role: 'admin', metadata: { user: 'one' } },
    } as const
    const gateway = await fleet.startGateway({ tokens })
    await fleet.workers[0]!.runtime.open('a1', echo)
    await fleet.workers[1]!.runtime.open('a2', echo, { metadata: { user: 'one' } })
    const ask = async (token: string, frame: object): Promise<string> => {
      const answer = await (await fleet.dial(gateway, { token })).ask(frame)
      return answer.type === 'error' ? answer.code : 'ok'
    }
    const prompt = (agentId: string) => ({ type: 'agent.prompt', agentId, content: 'hello' })
    const read = (agentId: string) => ({ type: 'agent.snapshot', agentId })
    assert.is(await ask('observes-everything', prompt('a1')), 'BRIDGE_FORBIDDEN')
    assert.is(await ask('observes-everything', read('a2')), 'ok')
    assert.is(await ask('drives-a-certain-one', prompt('a1')), 'ok')
    assert.is(await ask('drives-a-certain-one', read('a2')), 'BRIDGE_FORBIDDEN')
    assert.is(await ask('has-metadata-of-one', read('a1')), 'AGENT_NOT_FOUND')
    assert.is(await ask('has-metadata-of-one', prompt('a2')), 'ok')
    assert.is(await ask('drives-a-certain-one', { type: 'agent.spawn', definition: 'echo' }), 'BRIDGE_FORBIDDEN')
    await assert.rejects(fleet.connect(gateway, { token: 'somebody-unknown' }).ready, withCode('BRIDGE_UNAUTHORISED'))
  })

  it('is chosen by a function of the gateway, which workers do not know', patient, async (context) => {
    const fleet = await startFleet(context, [echo])
    const gateway = await fleet.startGateway({
      authenticate: () => ({ role: 'drive', agents: ({ metadata }) => metadata['team'] === 'red' }),
    })
    await fleet.workers[0]!.runtime.open('a1', echo, { metadata: { team: 'red' } })
    await fleet.workers[0]!.runtime.open('a2', echo, { metadata: { team: 'blue' } })
    const client = fleet.connect(gateway)
    assert.is((await client.agent('a1').prompt('hello').result).text, '1 so far')
    await assert.rejects(client.agent('a2').snapshot(), withCode('AGENT_NOT_FOUND'))
  })

  it('only looks, with the token of a link that any gateway of the same key made', patient, async (context) => {
    const fleet = await startFleet(context, [echo])
    const options = {
      tokens: { 'the-token-of-an-admin': 'admin' },
      shareKey: 'a key that both gateways know of, long',
    } as const
    const [first, second] = [await fleet.startGateway(options), await fleet.startGateway(options)]
    await fleet.workers[0]!.runtime.open('a1', echo)
    await fleet.workers[0]!.runtime.open('a2', echo)
    const admin = await fleet.dial(first, { token: 'the-token-of-an-admin' })
    const shared = await admin.ask({ type: 'agent.share', agentId: 'a1' })
    const { token } = (shared as { result: { token: string } }).result
    const guest = fleet.connect(second, { token })
    assert.is((await guest.agent('a1').snapshot()).agentId, 'a1')
    await assert.rejects(guest.agent('a1').abort(), withCode('BRIDGE_FORBIDDEN'))
    await assert.rejects(guest.agent('a2').snapshot(), withCode('BRIDGE_FORBIDDEN'))
  })

  it('is nobody whom a gateway with another secret lets in', patient, async (context) => {
    const fleet = await startFleet(context, [echo], 1)
    const lines: string[] = []
    const none = (): void => {}
    const logger = { debug: none, info: none, error: none, warn: (_: object, line: string) => void lines.push(line) }
    const gateway = await fleet.startGateway({ secret: `${secret} but another`, logger, clock: hasty(20) })
    await fleet.workers[0]!.runtime.open('a1', echo)
    const bare = await fleet.dial(gateway)
    await bare.until(({ type }) => type === 'welcome')
    const answer = await bare.ask({ type: 'agent.snapshot', agentId: 'a1' })
    assert.is(answer.type === 'error' && answer.code, 'AGENT_UNREACHABLE')
    assert.match(lines.join('\n'), /token is missing or wrong/)
    assert.not.match(JSON.stringify(bare.frames), new RegExp(`${secret}|:${fleet.workers[0]!.server.port}`))
  })
})
