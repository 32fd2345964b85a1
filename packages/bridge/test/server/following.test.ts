import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { outwardEvent } from '../../src/server/outwardError.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { calls, gate, quiet, tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Heard, logOf, serveAgents } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(({ messages }) => `${messages.length} messages so far`) })

describe('what a client hears', (it) => {
  it('is what a listener beside the agent hears, event for event', async (context) => {
    const clock = simulatedClock()
    const model = scriptedModel([
      { thinking: 'hm', text: 'a look', toolCalls: [{ name: 'look', input: {}, callId: 'c0' }] },
      'done',
    ])
    const look = tool('look', (_, { report }) => {
      report({ part: 1 })
      return 'seen'
    })
    const tester = defineAgent({ name: 'tester', model, tools: [look] })
    const serving = await serveAgents(context, [tester], { runtime: { clock } })
    const agent = await serving.connect({ clock }).spawn('tester', { id: 'a1' })
    const [near, far] = [new Heard(), new Heard()]
    agent.subscribe(far.listen, { requests: true })
    await agent.snapshot()
    serving.runtime.agent('a1')!.subscribe(near.listen)
    await agent.prompt('go').result
    await far.until((event) => event.type === 'state.changed' && event.state === 'idle')
    assert.equal(far.events, JSON.parse(JSON.stringify(near.events)))
    assert.ok(far.events.some(({ type }) => type === 'tool.progress'))
    assert.ok(far.events.some(({ type }) => type === 'thinking.delta'))
  })

  it('begins at the record that was asked for, for every listener its own', async (context) => {
    const serving = await serveAgents(context, [echo])
    const local = await serving.runtime.spawn(echo, { id: 'a1' })
    await local.prompt('one').result
    const agent = serving.connect().agent('a1')
    const [all, some, now] = [new Heard(), new Heard(), new Heard()]
    agent.subscribe(all.listen, { fromSeq: 1 })
    await all.until(({ type }) => type === 'run.end')
    agent.subscribe(now.listen)
    agent.subscribe(some.listen, { fromSeq: 4, deltas: false })
    await agent.prompt('two').result
    const log = (await logOf(serving.store, 'a1')) as AgentEvent[]
    const ended = (event: AgentEvent): boolean => event.type === 'run.end' && event.seq === log.length
    await Promise.all([all, some, now].map((heard) => heard.until(ended)))
    assert.equal(all.logged, log)
    assert.equal(some.logged, log.slice(3))
    const first = now.logged[0]!
    assert.is(first.type, 'run.start')
    assert.equal(now.logged, log.slice(first.seq - 1))
    assert.ok(!some.events.some(({ type }) => type.endsWith('.delta')))
    assert.ok(now.events.some(({ type }) => type.endsWith('.delta')))
  })

  it('cannot begin in the future', async (context) => {
    const serving = await serveAgents(context, [echo])
    const client = serving.connect()
    const agent = await client.spawn('echo', { id: 'a1' })
    const refused = new Promise<string>((resolve) => client.onError(({ code }) => resolve(code)))
    const events = agent.events({ fromSeq: 99 })
    assert.equal(await events.next(), { done: true, value: undefined })
    assert.is(await refused, 'INVALID_OPTION')
    agent.subscribe(() => {})
    await agent.prompt('one').result
    assert.throws(() => agent.subscribe(() => {}, { fromSeq: 99 }), /fromSeq is 99/)
    assert.throws(() => agent.subscribe(() => {}, { fromSeq: 0 }), /numbered from 1/)
  })

  it('is the whole log of an agent that has stopped', async (context) => {
    const serving = await serveAgents(context, [echo])
    const agent = await serving.connect().spawn('echo', { id: 'a1' })
    await agent.prompt('one').result
    await agent.stop()
    const events: AgentEvent[] = []
    for await (const event of agent.events({ fromSeq: 1 })) events.push(event)
    assert.equal(events, await logOf(serving.store, 'a1'))
    assert.is(events.at(-1)?.type, 'agent.stopped')
  })

  it('is told of a record once the store has it', async (context) => {
    const inner = memoryStore()
    const open = gate()
    let isSlow = false
    const store: Store = {
      ...inner,
      append: async (agentId, records) => {
        if (isSlow) await open.promise
        await inner.append(agentId, records)
      },
    }
    const serving = await serveAgents(context, [echo], { runtime: { store } })
    const agent = await serving.connect().spawn('echo', { id: 'a1' })
    const [near, far] = [new Heard(), new Heard()]
    agent.subscribe(far.listen)
    serving.runtime.agent('a1')!.subscribe(near.listen)
    await agent.snapshot()
    isSlow = true
    const run = agent.prompt('one')
    await near.until(({ type }) => type === 'turn.start')
    await agent.snapshot()
    assert.equal(far.events, [])
    open.resolve()
    assert.is((await run.result).stopReason, 'stop')
  })

  it('is a record once, also when the log has it before anybody was told', async (context) => {
    const inner = memoryStore()
    const open = gate()
    let isSlow = false
    const store: Store = {
      ...inner,
      append: async (agentId, records) => {
        await inner.append(agentId, records)
        if (isSlow) await open.promise
      },
    }
    const serving = await serveAgents(context, [echo], { runtime: { store } })
    const agent = await serving.runtime.spawn(echo, { id: 'a1' })
    const first = await serving.dial({ hello: {} })
    await first.ask({ type: 'agent.subscribe', agentId: 'a1' })
    isSlow = true
    const run = agent.prompt('one')
    await quiet()
    const second = await serving.dial({ hello: {} })
    await second.ask({ type: 'agent.subscribe', agentId: 'a1' })
    await second.until(({ type }) => type === 'caughtUp')
    isSlow = false
    open.resolve()
    await run.result
    const log = await logOf(store, 'a1')
    for (const { frames, until } of [first, second]) {
      await until((frame) => frame.type === 'event' && frame.seq === log.length && frame.live !== true)
      const seqs = frames.flatMap((frame) => (frame.type === 'event' && frame.live !== true ? [frame.seq] : []))
      assert.equal(
        seqs,
        log.map((_, index) => index + 1),
      )
    }
  })

  it('goes on while the store fails, as nothing else says so', async (context) => {
    const inner = memoryStore()
    let fails = false
    const store: Store = {
      ...inner,
      append: (agentId, records) =>
        fails ? Promise.reject(new Error('the disk is full')) : inner.append(agentId, records),
    }
    const serving = await serveAgents(context, [echo], { runtime: { store } })
    const client = serving.connect()
    const agent = await client.spawn('echo', { id: 'a1' })
    agent.subscribe(() => {})
    await agent.snapshot()
    fails = true
    const paused = await agent.prompt('one').result
    assert.is(paused.stopReason, 'paused')
    assert.is(paused.reason?.type, 'store')
    assert.is((await agent.prompt('two').result).error?.code, 'AGENT_PAUSED')
    const again = await agent.resume().result
    assert.is(again.stopReason, 'paused')
    assert.is(again.error?.code, 'STORE_APPEND_FAILED')
    fails = false
    assert.is((await agent.resume().result).stopReason, 'stop')
    const late = new Heard()
    client.agent('a1').subscribe(late.listen, { fromSeq: 1 })
    await late.until((event) => event.type === 'run.end' && event.stopReason === 'stop')
    assert.equal(late.logged, ((await logOf(store, 'a1')) as AgentEvent[]).map(outwardEvent))
  })

  it('is another life of the same agent, too', async (context) => {
    const serving = await serveAgents(context, [echo])
    const agent = await serving.connect().spawn('echo', { id: 'a1' })
    const heard = new Heard()
    agent.subscribe(heard.listen, { fromSeq: 1 })
    await agent.prompt('one').result
    await serving.runtime.agent('a1')!.close()
    // Nobody has asked for it: the command wakes it from its log.
    assert.is((await agent.prompt('two').result).text, '3 messages so far')
    await heard.until((event) => event.type === 'run.end' && event.runId === 'a1/r1')
    assert.equal(heard.logged, await logOf(serving.store, 'a1'))
  })

  it('has the approvals of sub-agents in it, and with descendants everything of theirs', async (context) => {
    const child = defineAgent({
      name: 'child',
      description: 'Pays.',
      model: scriptedModel([calls('k', 'pay'), 'paid it']),
      tools: [tool('pay', () => 'paid', { needsApproval: true })],
    })
    const lead = defineAgent({
      name: 'lead',
      model: scriptedModel([calls('c', ['child', { task: 'pay' }]), 'all paid']),
      agents: [child],
    })
    const serving = await serveAgents(context, [lead])
    const client = serving.connect()
    const agent = await client.spawn('lead', { id: 'lead' })
    const [plain, family] = [new Heard(), new Heard()]
    agent.subscribe(plain.listen)
    agent.subscribe(family.listen, { descendants: true })
    await agent.snapshot()
    const run = agent.prompt('go')
    const asked = await plain.until(({ type }) => type === 'approval.requested')
    assert.is(asked.agentId, 'lead.1')
    assert.equal(asked.path, ['lead'])
    const { approvals, tree } = await agent.snapshot()
    assert.is(tree.children[0]?.id, 'lead.1')
    await agent.decide(approvals[0]!.key, 'approve')
    assert.is((await run.result).text, 'all paid')
    await family.until((event) => event.type === 'run.end' && event.agentId === 'lead')
    const ofChild = (heard: Heard): string[] =>
      heard.events.filter(({ agentId }) => agentId === 'lead.1').map(({ type }) => type)
    assert.equal(ofChild(plain), ['approval.requested', 'approval.decided'])
    assert.ok(ofChild(family).includes('run.end'))
    assert.is(ofChild(family).filter((type) => type === 'approval.requested').length, 1)
    // It has ended; its log is still there to be read.
    const log = new Heard()
    client.agent('lead.1').subscribe(log.listen, { fromSeq: 1 })
    await log.until(({ type }) => type === 'run.end')
    await quiet()
  })
})

describe('agents of a server', (it) => {
  it('come in pages', async (context) => {
    const serving = await serveAgents(context, [echo])
    const client = serving.connect()
    for (const id of ['a', 'b', 'c', 'd', 'e']) await client.spawn('echo', { id })
    const ids: string[] = []
    let after: string | undefined
    for (;;) {
      const { agents, total } = await client.agents({ limit: 2, ...(after === undefined ? {} : { after }) })
      assert.is(total, 5)
      if (agents.length === 0) break
      ids.push(...agents.map(({ agentId }) => agentId))
      after = ids.at(-1)
    }
    assert.equal(ids, ['a', 'b', 'c', 'd', 'e'])
    await assert.rejects(client.agents({ after: 'gone' }), /none of them/)
    await assert.rejects(client.spawn('nobody'), /no definition/)
    await assert.rejects(client.spawn('echo', { id: 'a' }), /running already/)
    await assert.rejects(client.agent('zz').snapshot(), /no agent "zz"/)
  })

  it('that are unloaded are loaded to be read', async (context) => {
    const clock = simulatedClock()
    const serving = await serveAgents(context, [echo], { runtime: { clock, idleUnloadMs: 1_000 } })
    const client = serving.connect()
    const agent = await client.spawn('echo', { id: 'a1' })
    await agent.prompt('one').result
    await client.agents()
    await clock.advance(1_500)
    assert.is(serving.runtime.agent('a1')!.isLoaded, false)
    assert.is((await agent.conversation()).nodes.length, 2)
    assert.is((await agent.snapshot()).head, 2)
  })
})

describe('a client of a kind of its own', (it) => {
  it('gets every record once of an agent that lived elsewhere for a while', async (context) => {
    const inner = memoryStore()
    const store: Store = { ...inner, close: async () => {} }
    const serving = await serveAgents(context, [echo], { runtime: { store } })
    const agent = await serving.runtime.spawn(echo, { id: 'a1' })
    await agent.prompt('here').result
    const bare = await serving.dial({ hello: {} })
    await bare.ask({ type: 'agent.subscribe', agentId: 'a1' })
    await bare.until(({ type }) => type === 'caughtUp')
    await agent.close()
    const elsewhere = await createRuntime({ store })
    await (await elsewhere.resume('a1', echo)).prompt('elsewhere').result
    await elsewhere.close()
    const back = await serving.runtime.resume('a1', echo)
    await back.prompt('back').result
    await back.durable()
    const last = back.lastSeq
    const isRecord = (frame: (typeof bare.frames)[number]): boolean => frame.type === 'event' && frame.live !== true
    await bare.until((frame) => isRecord(frame) && 'seq' in frame && frame.seq === last)
    const seqs = bare.frames.filter(isRecord).map((frame) => ('seq' in frame ? frame.seq : 0))
    assert.equal(
      seqs,
      Array.from({ length: last }, (_, index) => index + 1),
    )
  })

  it('has a long log read once, however often its socket fills', { timeoutMs: 30_000 }, async (context) => {
    const inner = memoryStore()
    let reads = 0
    const store: Store = {
      ...inner,
      close: async () => {},
      read(agentId, fromSeq) {
        reads += 1
        return inner.read(agentId, fromSeq)
      },
    }
    const wordy = defineAgent({ name: 'wordy', model: policyModel(() => 'x'.repeat(100_000)) })
    const before = await createRuntime({ store })
    const agent = await before.spawn(wordy, { id: 'a1' })
    for (let n = 0; n < 100; n += 1) await agent.prompt('more').result
    const { lastSeq } = agent
    await before.close()
    const limits = { highWaterBytes: 64 * 1024, drainMs: 50 }
    const serving = await serveAgents(context, [wordy], { runtime: { store }, limits })
    const bare = await serving.dial({ hello: {} })
    reads = 0
    bare.send({ type: 'agent.subscribe', agentId: 'a1', id: 's' })
    await bare.until((frame) => frame.type === 'caughtUp' && frame.seq === lastSeq)
    // To see whose it is, for its end, and what is sent.
    assert.ok(reads <= 4, `${reads} readings`)
    assert.ok(bare.frames.some(({ type }) => type === 'lagging'))
  })
})
