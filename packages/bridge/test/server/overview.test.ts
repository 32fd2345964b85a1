import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import type { AgentSummary, SessionEntry } from '../../../wire/src/frames.ts'
import { noUsage } from '../../../../src/protocol/messages.ts'
import { recordVersion, type LogRecord } from '../../../../src/protocol/records.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { gate, tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { created, fill } from '../../../sessions/test/sessionLogs.ts'
import { approving, lastingStore, serveAgents, untilApproval, type Serving } from './bridgeHarness.ts'

const said = policyModel(() => 'yes')

/** Row of one agent in the list of agents. */
async function listed({ dial }: Serving, id: string): Promise<AgentSummary> {
  const bare = await dial({ hello: {} })
  const answer = await bare.ask({ type: 'agent.list' })
  assert.ok(answer.type === 'ok')
  return (answer.result as { agents: AgentSummary[] }).agents.find(({ agentId }) => agentId === id)!
}

describe('what a list says of an agent', (it) => {
  it('names what works for it in the background', async (context) => {
    const building = gate()
    const worker = defineAgent({
      name: 'worker',
      tools: [tool('build', async () => (await building.promise, 'ok'), { background: true })],
      model: policyModel(({ messages }) =>
        messages.length === 1 ? { toolCalls: [1, 2].map((n) => ({ name: 'build', input: { n } })) } : 'meanwhile',
      ),
    })
    const serving = await serveAgents(context, [worker])
    const agent = await serving.runtime.spawn(worker, { id: 'w' })
    await agent.prompt('go').result
    assert.match((await listed(serving, 'w')).doing!, /^build .*, in the background, and 1 more$/)
    building.resolve()
    while ((await agent.settled()).status === 'idle' && (await listed(serving, 'w')).doing !== undefined)
      await new Promise((resolve) => setImmediate(resolve))
    assert.is((await listed(serving, 'w')).doing, undefined)
  })

  it('is what it is about, since when it works and what it does; afterwards how it ended', async (context) => {
    const clock = simulatedClock()
    const open = gate()
    const worker = defineAgent({
      name: 'worker',
      tools: [tool('run_command', async () => (await open.promise, 'ok'))],
      compaction: { contextWindow: 9_000 },
      model: policyModel(({ messages }) =>
        messages.length === 1
          ? { toolCalls: [1, 2].map((n) => ({ name: 'run_command', input: { command: `npm test ${n}` } })) }
          : 'done',
      ),
    })
    const serving = await serveAgents(context, [worker], { runtime: { clock } })
    const agent = await serving.runtime.spawn(worker, { id: 'w' })
    const { title, last, busySince, doing, activeAt } = await listed(serving, 'w')
    assert.equal([title, last, busySince, doing, activeAt], [undefined, undefined, undefined, undefined, clock.now()])
    const running = new Promise<void>((resolve) => {
      agent.subscribe((event) => event.type === 'tool.start' && resolve())
    })
    await clock.advance(1_000)
    const begun = clock.now()
    const run = agent.prompt('Test it\nall')
    await running
    const busy = await listed(serving, 'w')
    assert.equal([busy.title, busy.busySince, busy.last], ['Test it all', begun, undefined])
    assert.is(busy.doing, 'run_command npm test 1 and 1 more')
    assert.ok(busy.contextTokens!.used > 0)
    assert.is(busy.contextTokens!.window, 9_000)
    open.resolve()
    await run.result
    const rested = await listed(serving, 'w')
    assert.equal([rested.busySince, rested.doing], [undefined, undefined])
    assert.equal([rested.last?.stopReason, rested.activeAt], ['stop', clock.now()])
  })

  it('does not do what waits for a person, and is paused by it', async (context) => {
    const { worker } = approving()
    const serving = await serveAgents(context, [worker])
    await untilApproval(serving, worker, 'w')
    const { doing, last, state } = await listed(serving, 'w')
    assert.equal([doing, state, last?.stopReason, last?.reason?.type], [undefined, 'paused', 'paused', 'approvals'])
  })

  it('is since when each thing waits for a person, whatever happened since', async (context) => {
    const clock = simulatedClock()
    const store = lastingStore()
    const careful = tool('look', () => 'seen', { needsApproval: true })
    const worker = defineAgent({
      name: 'worker',
      description: 'works',
      tools: [careful],
      model: policyModel(({ messages }) =>
        messages.length === 1 ? { toolCalls: [1, 2].map((n) => ({ name: 'look', input: { n } })) } : 'done',
      ),
    })
    const boss = defineAgent({
      name: 'boss',
      agents: [worker],
      model: policyModel(({ messages }) =>
        messages.length === 1 ? { toolCalls: [{ name: 'worker', input: { task: 'x' } }] } : 'fine',
      ),
    })
    const serving = await serveAgents(context, [boss, worker], { runtime: { clock, store } })
    await untilApproval(serving, boss, 'b')
    const asked = clock.now()
    const { connect } = serving
    const agesOf = async (client: ReturnType<typeof connect>, id: string) =>
      ((await client.agent(id).snapshot()).asked ?? []).map(({ askedAt }) => askedAt)
    const client = connect()
    const [first] = (await client.agent('b').snapshot()).asked ?? []
    await clock.advance(60_000)
    await client.agent('b').decide(first!.key, 'deny')
    assert.equal(await agesOf(client, 'b'), [asked])
    assert.equal(await agesOf(client, first!.agentId), [asked])
    // As its process leaves it that dies now.
    const left = lastingStore()
    for (const id of ['b', first!.agentId]) {
      const records: LogRecord[] = []
      for await (const record of store.read(id)) records.push(record)
      await fill(left, { [id]: records })
    }
    const next = await serveAgents(context, [boss, worker], { runtime: { clock, store: left } })
    assert.equal(await agesOf(next.connect(), first!.agentId), [asked])
    await next.runtime.resume('b', boss)
    assert.equal(await agesOf(next.connect(), 'b'), [asked])
  })

  it('shows no secret, nor half of one, in a title, a call or an error', async (context) => {
    const secret = `sk-${'x1y2'.repeat(15)}`
    const open = gate()
    const worker = defineAgent({
      name: 'worker',
      tools: [tool('look', async () => (await open.promise, 'ok'))],
      model: policyModel(({ messages }) => {
        if (messages.length > 1) throw new Error(`the key ${secret} is wrong`)
        return { toolCalls: [{ name: 'look', input: { a: `${'.'.repeat(35)}${secret}` } }] }
      }),
      retry: { attempts: 1 },
    })
    const serving = await serveAgents(context, [worker], { runtime: { redact: { secrets: { key: secret } } } })
    const agent = await serving.runtime.spawn(worker, { id: 'w' })
    const running = new Promise<void>((resolve) => {
      agent.subscribe((event) => event.type === 'tool.start' && resolve())
    })
    const run = agent.prompt(`${'.'.repeat(35)}${secret}`)
    await running
    const busy = await listed(serving, 'w')
    assert.match(busy.doing!, /^look /)
    open.resolve()
    await run.result
    const failed = await listed(serving, 'w')
    assert.match(failed.last!.error!.message, /the key/)
    for (const text of [busy.title, busy.doing, JSON.stringify(failed)]) assert.not.match(text!, /x1y2/)
  })

  it('names no file of the server in the error that ended a run', async (context) => {
    const tester = defineAgent({ name: 'tester', model: said })
    const inRun = { v: recordVersion, time: 0, runId: 'b/r0', turnIndex: 0 } as const
    const error = { code: 'INTERNAL', message: "ENOENT: no such file, open '/srv/secret/keys.json'" } as const
    const spent = { turns: 0, usage: noUsage, costUsd: 0 }
    const store = lastingStore()
    await fill(store, {
      b: [
        created('b'),
        { ...inRun, seq: 2, type: 'run.start', cause: 'prompt', requestId: 'x', limits: {} },
        { ...inRun, seq: 3, type: 'run.end', stopReason: 'error', ...spent, error },
      ],
    })
    const serving = await serveAgents(context, [tester], { runtime: { store } })
    const { sessions } = await serving.connect().sessions()
    await serving.runtime.resume('b', tester)
    for (const { last } of [await listed(serving, 'b'), sessions[0]!])
      assert.equal(last?.error, { code: 'INTERNAL', message: "ENOENT: no such file, open '…'" })
  })

  it('stays while it is unloaded, after it has gone on from its log, and where it does not run', async (context) => {
    const clock = simulatedClock()
    const store = lastingStore()
    const echo = defineAgent({ name: 'echo', model: said })
    const serving = await serveAgents(context, [echo], { runtime: { clock, store, idleUnloadMs: 1_000 } })
    const agent = await serving.runtime.spawn(echo, { id: 'e' })
    await agent.prompt('Say yes').result
    const pick = ({ title, last, activeAt, contextTokens }: AgentSummary) => ({ title, last, activeAt, contextTokens })
    const loaded = pick(await listed(serving, 'e'))
    assert.is(loaded.title, 'Say yes')
    await clock.advance(2_000)
    assert.not.ok(agent.isLoaded)
    assert.equal(pick(await listed(serving, 'e')), loaded)
    await agent.wake()
    assert.equal(pick(await listed(serving, 'e')), loaded)
    await serving.runtime.close()

    const next = await serveAgents(context, [echo], { runtime: { clock, store } })
    const bare = await next.dial({ hello: {} })
    const answer = await bare.ask({ type: 'agent.snapshot', agentId: 'e' })
    assert.ok(answer.type === 'ok')
    assert.equal(pick(answer.result as AgentSummary), loaded)
    await next.runtime.resume('e', echo)
    assert.equal(pick(await listed(next, 'e')), loaded)
  })
})

describe('a list of sessions', (it) => {
  it('has those that run or those that do not, each page and the total', async (context) => {
    const store = lastingStore()
    const echo = defineAgent({ name: 'echo', model: said })
    const runtime = await createRuntime({ store, clock: simulatedClock() })
    for (const id of ['a', 'b', 'c', 'd', 'e']) await runtime.spawn(echo, { id })
    await runtime.close()
    const serving = await serveAgents(context, [echo], { runtime: { store } })
    for (const id of ['b', 'd']) await serving.runtime.resume(id, echo)
    const client = serving.connect()
    const pageOf = async (...page: Parameters<typeof client.sessions>): Promise<unknown[]> => {
      const { sessions, total } = await client.sessions(...page)
      return [total, ...sessions.map(({ agentId }) => agentId).toSorted((a, b) => (a < b ? -1 : 1))]
    }
    assert.equal(await pageOf(), [5, 'a', 'b', 'c', 'd', 'e'])
    assert.equal(await pageOf({ running: true }), [2, 'b', 'd'])
    assert.equal(await pageOf({ running: false }), [3, 'a', 'c', 'e'])
    const { sessions } = await client.sessions({ running: false, limit: 2 })
    const last = sessions[1]!.agentId
    // The last of the page before may run by now.
    await serving.runtime.resume(last, echo)
    const [total, ...rest] = await pageOf({ running: false, after: last })
    assert.is(total, 2)
    const first = sessions.map(({ agentId }) => agentId)
    assert.ok(rest.every((id) => !['b', 'd', ...first].includes(String(id))))
  })
})

describe('what a list says of a session', (it) => {
  it('is its title and how its last run ended, from where its log was read to', async (context) => {
    const store = lastingStore()
    const runtime = await createRuntime({ store, clock: simulatedClock() })
    const { worker } = approving()
    const echo = defineAgent({ name: 'echo', model: said })
    const agent = await runtime.spawn(echo, { id: 'e' })
    const waits = await runtime.spawn(worker, { id: 'w' })
    const asked = new Promise<void>((resolve) => {
      waits.subscribe((event) => event.type === 'approval.requested' && resolve())
    })
    waits.prompt('Look')
    await asked
    await waits.durable()
    const serving = await serveAgents(context, [echo], { runtime: { store } })
    const client = serving.connect()
    const entry = async (id: string): Promise<SessionEntry> =>
      (await client.sessions()).sessions.find(({ agentId }) => agentId === id)!
    const first = await entry('e')
    assert.equal([first.title, first.last], [undefined, undefined])
    await agent.prompt('Say yes').result
    await agent.durable()
    const second = await entry('e')
    assert.equal([second.title, second.last?.stopReason], ['Say yes', 'stop'])
    assert.is((await entry('w')).last?.reason?.type, 'approvals')
    await runtime.close()
  })
})
