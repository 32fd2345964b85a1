import { getEventListeners } from 'node:events'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { hostOf } from '../../src/runtime/agents/agentFacts.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import {
  calls,
  counter,
  gate,
  never,
  quiet,
  stalled,
  startAgent,
  tool,
  usageOf,
  withCode,
} from '../support/agentHarness.ts'
import { lateStore } from '../support/lateStore.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

async function start({ cleanup }: CaseContext, store: Store = memoryStore(), rest: object = {}): Promise<Runtime> {
  const runtime = await createRuntime({ store, clock: simulatedClock(), newId: counter('q'), ...rest })
  cleanup(() => runtime.close().catch(() => {}))
  return runtime
}

const risky = tool('risky', () => 'done', { needsApproval: true })

/** True if it is settled by now. */
async function isSettled(agent: Agent): Promise<boolean> {
  let is = false
  void agent.settled().then(() => (is = true))
  for (let turn = 0; turn < 4; turn += 1) await quiet()
  return is
}

describe('an agent is settled', (it) => {
  it('at once while it is idle, and after all that it was asked for otherwise', async (context) => {
    const { agent, ofType } = await startAgent(context, { replies: ['one', 'two', 'three'] })
    assert.equal(await agent.settled(), { status: 'idle', seq: 1, reporters: [] })
    agent.prompt('1')
    agent.prompt('2')
    agent.followUp('3')
    const settled = await agent.settled()
    assert.is(ofType('reply.end').length, 3)
    assert.equal(settled, { status: 'idle', seq: agent.lastSeq, reporters: [] })
  })

  it('only once what happened is stored', async (context) => {
    const inner = memoryStore()
    const open = gate()
    const store: Store = {
      ...inner,
      append: async (...given) => {
        if (given[1].some(({ type }) => type === 'run.end')) await open.promise
        await inner.append(...given)
      },
    }
    const { agent, until } = await startAgent(context, { replies: ['one'], store })
    agent.prompt('1')
    await until(({ type }) => type === 'run.end')
    assert.is(await isSettled(agent), false)
    open.resolve()
    const { seq } = await agent.settled()
    const stored: number[] = []
    for await (const record of inner.read('a1')) stored.push(record.seq)
    assert.is(stored.at(-1), seq)
  })

  it('when it waits for people, with what they are asked', async (context) => {
    const { agent } = await startAgent(context, { replies: [calls('c', 'risky', 'risky'), 'ok'], tools: [risky] })
    agent.prompt('go')
    const settled = await agent.settled()
    assert.is(settled.status, 'waiting')
    if (settled.status !== 'waiting') return
    assert.equal(
      settled.pending.map(({ callId }) => callId),
      ['c0', 'c1'],
    )
    assert.equal(settled.pending, agent.pending())
    agent.decide('c0', 'approve')
    const half = await agent.settled()
    assert.equal(half.status === 'waiting' && half.pending.map(({ callId }) => callId), ['c1'])
    agent.decide('c1', 'deny')
    assert.is((await agent.settled()).status, 'idle')
  })

  it('not while another of its tools runs', async (context) => {
    const open = gate<string>()
    const slow = tool('slow', () => open.promise)
    const { agent, untilState } = await startAgent(context, {
      replies: [calls('c', 'risky', 'slow'), 'ok'],
      tools: [risky, slow],
    })
    agent.prompt('go')
    await untilState('executing')
    assert.is(await isSettled(agent), false)
    open.resolve('there')
    assert.is((await agent.settled()).status, 'waiting')
  })

  it('when a limit pauses it, with the limit', async (context) => {
    const { agent } = await startAgent(context, {
      replies: [calls('c', 'look')],
      tools: [tool('look', () => 'x')],
      limits: { turns: 1 },
    })
    agent.prompt('go')
    const settled = await agent.settled()
    assert.is(settled.status, 'paused')
    if (settled.status !== 'paused') return
    assert.is(settled.agentId, 'a1')
    assert.is(settled.reason.type, 'limit')
  })

  it('when its store fails, and does not wait for what cannot be written', async (context) => {
    const inner = memoryStore()
    let isBroken = false
    const store: Store = {
      ...inner,
      append: async (...given) => {
        if (isBroken) throw new Error('disk full')
        await inner.append(...given)
      },
    }
    const { agent } = await startAgent(context, { replies: ['one'], store, check: false })
    isBroken = true
    agent.prompt('1')
    const settled = await agent.settled()
    assert.is(settled.status === 'paused' && settled.reason.type, 'store')
  })

  it('when it was stopped, or let go of, with why', async (context) => {
    const runtime = await start(context)
    const define = () => defineAgent({ name: 'a', model: scriptedModel([stalled(['x'], never)]) })
    const [first, second] = [await runtime.spawn(define(), { id: 'a' }), await runtime.spawn(define(), { id: 'b' })]
    for (const agent of [first, second]) agent.prompt('go')
    const settling = [first.settled(), second.settled()]
    await first.stop()
    await runtime.detach('b')
    const [stopped, detached] = await Promise.all(settling)
    assert.equal(stopped, { status: 'stopped', seq: first.lastSeq })
    assert.is(detached?.status === 'stopped' && detached.error?.code, 'AGENT_DETACHED')
    assert.is((await first.settled()).status, 'stopped')
  })

  it('with what a sub-agent waits for', async (context) => {
    const runtime = await start(context)
    const below = defineAgent({ name: 'below', model: scriptedModel([calls('b', 'risky'), 'told']), tools: [risky] })
    const root = defineAgent({
      name: 'root',
      model: scriptedModel([calls('r', ['below', { task: 'x' }]), 'done']),
      agents: [below],
    })
    const agent = await runtime.spawn(root, { id: 'a' })
    agent.prompt('go')
    const settled = await agent.settled()
    assert.is(settled.status, 'waiting')
    if (settled.status !== 'waiting') return
    assert.equal(
      settled.pending.map(({ callId }) => callId),
      ['b0'],
    )
    assert.is(agent.state, 'executing')
    agent.decide(settled.pending[0]!.key, 'approve')
    assert.is((await agent.settled()).status, 'idle')
  })

  it('with what one sub-agent waits for beside another that used up what the run may', async (context) => {
    const runtime = await start(context)
    const look = tool('look', () => 'x')
    const dear = scriptedModel([
      { toolCalls: [{ name: 'look', input: {}, callId: 'b0' }], usage: usageOf(5_000, 500) },
      'told',
    ])
    const root = defineAgent({
      name: 'root',
      model: scriptedModel([calls('r', ['dear', { task: 'x' }], ['asking', { task: 'x' }]), 'done']),
      agents: [
        defineAgent({ name: 'dear', model: dear, tools: [look] }),
        defineAgent({ name: 'asking', model: scriptedModel([calls('q', 'risky'), 'told']), tools: [risky] }),
      ],
      limits: { tokens: 2_000 },
    })
    const agent = await runtime.spawn(root, { id: 'a' })
    agent.prompt('go')
    const settled = await agent.settled()
    assert.equal(
      [settled.status, settled.status === 'waiting' && settled.pending.map(({ callId }) => callId)],
      ['waiting', ['q0']],
    )
    const { state, context: is } = hostOf(agent).machine
    assert.equal([state, is.calls.map(({ status }) => status)], ['executing', ['paused', 'running']])
  })

  it('with a wait that leaves nothing behind on its signal', async (context) => {
    const { agent } = await startAgent(context, { replies: ['one'] })
    const { signal } = new AbortController()
    agent.prompt('go')
    assert.is((await agent.settled({ signal })).status, 'idle')
    assert.equal(getEventListeners(signal, 'abort'), [])
  })

  it('not while an agent that code spawned below it works', async (context) => {
    const runtime = await start(context)
    const open = gate()
    const below = defineAgent({ name: 'below', model: scriptedModel([stalled(['x'], open.promise)]) })
    const agent = await runtime.spawn(defineAgent({ name: 'root', model: scriptedModel([]) }), { id: 'a' })
    const child = await agent.spawn(below)
    child.prompt('go')
    assert.is(await isSettled(agent), false)
    open.resolve()
    assert.is((await agent.settled()).status, 'idle')
  })

  it('while it is unloaded, and once it was loaded for what it was asked', async (context) => {
    const clock = simulatedClock()
    const runtime = await start(context, lateStore(), { clock, idleUnloadMs: 10 })
    const agent = await runtime.spawn(defineAgent({ name: 'a', model: scriptedModel(['one', 'two']) }), { id: 'a' })
    await agent.prompt('1').result
    await agent.settled()
    await clock.advance(20)
    for (let turn = 0; agent.isLoaded && turn < 50; turn += 1) await quiet()
    assert.is(agent.isLoaded, false)
    const { lastSeq } = agent
    assert.equal(await agent.settled(), { status: 'idle', seq: lastSeq, reporters: [] })
    agent.prompt('2')
    const settled = await agent.settled()
    assert.is(settled.status, 'idle')
    assert.is(settled.seq > lastSeq, true)
  })

  it('or nobody waits for it any longer: its signal ends the wait, and nothing else', async (context) => {
    const open = gate()
    const { agent, untilState } = await startAgent(context, { replies: [stalled(['x'], open.promise)] })
    const run = agent.prompt('go')
    await untilState('replying.streaming')
    const stop = new AbortController()
    const settling = agent.settled({ signal: stop.signal })
    stop.abort(new Error('enough'))
    await assert.rejects(settling, /enough/)
    await assert.rejects(agent.settled({ signal: stop.signal }), /enough/)
    await assert.rejects(agent.settled({ signal: 1 as never }), withCode('INVALID_OPTION', 'signal'))
    open.resolve()
    assert.is((await run.result).stopReason, 'stop')
  })
})

describe('a runtime that is closed with detach', (it) => {
  const define = (...replies: Parameters<typeof scriptedModel>[0][number][]) =>
    defineAgent({ name: 'a', model: scriptedModel(replies), tools: [risky] })

  it('leaves no word in any log, and its agents go on elsewhere', async (context) => {
    const store: Store = { ...memoryStore(), close: async () => {} }
    const here = await start(context, store)
    const [busy, idle, held] = await Promise.all([
      here.spawn(define(stalled(['x'], never)), { id: 'busy' }),
      here.spawn(define('there'), { id: 'idle' }),
      here.spawn(define(calls('c', 'risky')), { id: 'held' }),
    ])
    const hidden = await here.spawn(define(stalled(['x'], never)), { id: 'hidden', incognito: true })
    const ends = [busy.prompt('1').result, held.prompt('2').result, hidden.prompt('3').result]
    await idle.prompt('2').result
    await held.settled()
    while (busy.state !== 'replying.streaming') await quiet()
    await here.close({ detach: true })
    const codes = (await Promise.all(ends)).map(({ error, stopReason }) => error?.code ?? stopReason)
    assert.equal(codes, ['AGENT_DETACHED', 'AGENT_DETACHED', 'aborted'])
    const last: Record<string, string> = {}
    for (const id of ['busy', 'idle', 'held']) for await (const { type } of store.read(id)) last[id] = type
    assert.equal(last, { busy: 'turn.start', idle: 'run.end', held: 'approval.requested' })

    const there = await start(context, store)
    const resumed = await there.resume('busy', define('at last'))
    assert.is((await resumed.settled()).status, 'idle')
    const waiting = await there.resume('held', define('ok'))
    waiting.decide('c0', 'approve')
    assert.is((await waiting.settled()).status, 'idle')
  })

  it('takes no other options', async (context) => {
    const runtime = await start(context)
    assert.throws(() => runtime.close({ detached: true } as never), withCode('INVALID_OPTION', 'detached'))
  })
})
