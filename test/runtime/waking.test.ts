import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { never, gate, quiet, stalled, withCode } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { echo, idleAgents, idleMs, type IdleAgents } from './idleAgents.ts'

/** An unloaded agent whose log another process holds. */
async function lockedAgent(context: CaseContext): Promise<IdleAgents & { agent: Agent; unlock(): Promise<void> }> {
  const agents = await idleAgents(context)
  const agent = await agents.unloaded('a1')
  const lease = await agents.store.open('a1')
  return { ...agents, agent, unlock: () => lease.release() }
}

describe('an unloaded agent', (it) => {
  it('is loaded once for all that is asked of it, and does it in order', async (context) => {
    const { store, unloaded, records } = await idleAgents(context)
    const agent = await unloaded('a1')
    store.opened.length = 0
    const runs = [agent.prompt('two'), agent.prompt('three')]
    agent.followUp('four')
    const woken = Promise.all([agent.wake(), agent.wake()])
    runs.push(agent.prompt('five'))
    await woken
    const results = await Promise.all(runs.map(({ result }) => result))
    // As with one that is loaded, what is said to a run comes before prompts that wait.
    assert.equal(
      results.map(({ text }) => text),
      ['3: four', '4: three', '5: five'],
    )
    assert.equal(store.opened, ['a1'])
    const started = (await records('a1')).flatMap((record) => (record.type === 'run.start' ? [record.requestId] : []))
    assert.equal(
      started.slice(1),
      runs.map(({ requestId }) => requestId),
    )
  })

  for (const verb of ['steer', 'followUp'] as const) {
    it(`begins a run when it hears of a ${verb}`, async (context) => {
      const { unloaded } = await idleAgents(context)
      const agent = await unloaded('a1')
      const events = agent.events()
      agent[verb]('two')
      const seen = []
      for await (const { type } of events) {
        seen.push(type)
        if (type === 'run.end') break
      }
      assert.is(seen[0], 'run.start')
      assert.is(textOf(agent.conversation.trunk().at(-1)!.message.content), '2: two')
    })
  }

  it('takes an interrupt, a revert and a child from code', async (context) => {
    const { unloaded, clock } = await idleAgents(context)
    const agent = await unloaded('a1', { braking: { revert: true } })
    assert.match((await agent.interrupt('two').result).text, /^2: two/)
    await clock.advance(idleMs)
    assert.is(agent.isLoaded, false)
    const applied = new Promise<AgentEvent>((resolve) =>
      agent.subscribe((event) => event.type === 'revert.applied' && resolve(event)),
    )
    agent.revert('n3', { category: 'failure', summary: 'no good' })
    const event = await applied
    assert.equal([event.type === 'revert.applied' && event.target, agent.conversation.head], [3, 3])
    const pinned = await unloaded('a3')
    const isPinned = new Promise<AgentEvent>((resolve) =>
      pinned.subscribe((heard) => heard.type === 'pin.applied' && resolve(heard)),
    )
    pinned.pin('n1')
    await isPinned
    assert.equal(pinned.conversation.pins(), [1])
    const other = await unloaded('a2')
    const child = await other.spawn(defineAgent({ name: 'helper', model: echo }))
    assert.is((await child.prompt('work').result).text, '1: work')
    assert.equal(other.children(), [child])
  })

  it('hands its conversation over', async (context) => {
    const { unloaded } = await idleAgents(context)
    const agent = await unloaded('a1')
    const heir = await agent.handOver(defineAgent({ name: 'heir', model: echo }))
    assert.is((await heir.prompt('two').result).text, '2: two')
  })

  it('is not woken by what means nothing at rest', async (context) => {
    const { unloaded, store } = await idleAgents(context)
    const agent = await unloaded('a1')
    store.opened.length = 0
    agent.abort()
    assert.throws(() => agent.resume(), withCode('NOT_PAUSED', 'a1'))
    assert.throws(() => agent.decide('c', 'approve'), withCode('CALL_NOT_PENDING'))
    assert.throws(() => agent.prompt(' '), withCode('INVALID_CONTENT'))
    assert.throws(() => agent.fold(), withCode('BRAKING_OFF'))
    agent.subscribe(() => {})()
    await agent.events().return?.()
    await quiet()
    assert.equal(store.opened, [])
    assert.is(agent.isLoaded, false)
  })

  it('aborts what was asked before the abort, and not what comes after', async (context) => {
    const { unloaded } = await idleAgents(context)
    const agent = await unloaded('a1')
    const first = agent.prompt('two')
    agent.abort()
    agent.abort()
    const second = agent.prompt('three')
    assert.is((await first.result).stopReason, 'aborted')
    assert.is((await second.result).stopReason, 'stop')
    assert.equal(
      agent.conversation.trunk().flatMap(({ message }) => (message.role === 'user' ? [textOf(message.content)] : [])),
      ['first', 'two', 'three'],
    )
  })

  it('lets no more than maxQueue commands wait', async (context) => {
    const { unloaded } = await idleAgents(context)
    const agent = await unloaded('a1', { maxQueue: 2 })
    const runs = [agent.prompt('two'), agent.prompt('three')]
    assert.throws(() => agent.prompt('four'), withCode('QUEUE_FULL', 'a1'))
    assert.throws(() => agent.steer('four'), withCode('QUEUE_FULL', 'a1'))
    assert.equal(
      (await Promise.all(runs.map(({ result }) => result))).map(({ text }) => text),
      ['2: two', '3: three'],
    )
  })

  it('does what a listener asks for after what waited already', async (context) => {
    const { unloaded } = await idleAgents(context)
    const agent = await unloaded('a1')
    const texts: string[] = []
    let isAsked = false
    agent.subscribe((event) => {
      if (event.type === 'message.added') texts.push(textOf(event.message.content))
      if (event.type !== 'run.start' || isAsked) return
      isAsked = true
      agent.prompt('four')
    })
    const runs = [agent.prompt('two'), agent.prompt('three')]
    await Promise.all(runs.map(({ result }) => result))
    await quiet()
    assert.equal(texts, ['two', 'three', 'four'])
  })

  it('can be listened to without being loaded: every event of the next run is heard', async (context) => {
    const { unloaded, store } = await idleAgents(context)
    const agent = await unloaded('a1')
    store.opened.length = 0
    const heard: string[] = []
    const gone: string[] = []
    agent.subscribe(({ type }) => heard.push(type))
    const leave = agent.subscribe(({ type }) => gone.push(type))
    leave()
    const leaveLater = agent.subscribe(({ type }) => gone.push(type))
    await quiet()
    assert.equal(store.opened, [])
    const run = agent.prompt('two')
    await agent.wake()
    const before = gone.length
    leaveLater()
    await run.result
    assert.is(gone.length, before)
    assert.is(heard[0], 'run.start')
    assert.is(heard.includes('run.end'), true)
    assert.is(heard.filter((type) => type === 'run.start').length, 1)
  })

  it('shows its conversation once it is woken', async (context) => {
    const { unloaded, clock } = await idleAgents(context)
    const agent = await unloaded('a1')
    assert.equal(agent.conversation.trunk(), [])
    await agent.wake()
    assert.equal(
      agent.conversation.trunk().map(({ message }) => textOf(message.content)),
      ['first', '1: first'],
    )
    assert.is(agent.isLoaded, true)
    await agent.wake()
    await clock.advance(idleMs)
    assert.is(agent.isLoaded, false)
  })

  it('waits with waking until its log was let go', async (context) => {
    const { store, clock, spawn } = await idleAgents(context)
    const agent = await spawn('a1')
    const disk = gate()
    store.gates.release = disk.promise
    await clock.advance(idleMs)
    assert.is(agent.isLoaded, false)
    const run = agent.prompt('one')
    await quiet()
    assert.is(agent.isLoaded, false)
    store.gates.release = undefined
    disk.resolve()
    assert.is((await run.result).text, '1: one')
  })
})

describe('an agent that cannot be woken', (it) => {
  it("gives its runs the store's error, tells its listeners, and is woken by the next command", async (context) => {
    const { agent, unlock } = await lockedAgent(context)
    const events: AgentEvent[] = []
    agent.subscribe(() => {
      throw new Error('a bad listener')
    })
    agent.subscribe((event) => events.push(event))
    const results = await Promise.all([agent.prompt('two').result, agent.prompt('three').result])
    assert.equal(
      results.map(({ stopReason, error, turns }) => [stopReason, error?.code, turns]),
      [
        ['error', 'STORE_LOCKED', 0],
        ['error', 'STORE_LOCKED', 0],
      ],
    )
    assert.equal(
      events.map((event) => event.type === 'error' && [event.error.code, event.seq > 5, event.runId, event.turnIndex]),
      [['STORE_LOCKED', true, 'a1/r1', 0]],
    )
    assert.equal([agent.isLoaded, agent.state], [false, 'idle'])
    await assert.rejects(agent.wake(), withCode('STORE_LOCKED'))
    await assert.rejects(agent.stop(), withCode('STORE_LOCKED'))
    await unlock()
    assert.is((await agent.prompt('four').result).text, '2: four')
    await agent.stop()
    assert.is(agent.state, 'stopped')
  })

  it('is woken by the next command once it can be, however often that failed', async (context) => {
    const { agent, unlock } = await lockedAgent(context)
    for (const words of ['two', 'three']) assert.is((await agent.prompt(words).result).error?.code, 'STORE_LOCKED')
    await unlock()
    assert.is((await agent.prompt('four').result).text, '2: four')
  })

  it('is told to the logger as well', async (context) => {
    const lines: unknown[] = []
    const log = (line: unknown): void => void lines.push(line)
    const logger = { debug: log, info: log, warn: log, error: log }
    const { unloaded, store } = await idleAgents(context, { logger })
    const agent = await unloaded('a1')
    await store.open('a1')
    lines.length = 0
    agent.steer('two')
    await quiet()
    assert.match(JSON.stringify(lines), /STORE_LOCKED/)
  })

  it('as another process stopped it for good says so', async (context) => {
    const { runtime, store, unloaded } = await idleAgents(context)
    const agent = await unloaded('a1')
    const other = await createRuntime({ store })
    await (await other.resume('a1', defineAgent({ name: 'tester', model: echo }))).stop()
    const { stopReason, error } = await agent.prompt('two').result
    assert.equal([stopReason, error?.code], ['error', 'AGENT_STOPPED'])
    assert.equal([...store.leased], [])
    assert.equal(runtime.agents(), [agent])
  })

  it('goes on with what another process said to it', async (context) => {
    const { store, unloaded } = await idleAgents(context)
    const agent = await unloaded('a1')
    const other = await createRuntime({ store })
    const there = await other.resume('a1', defineAgent({ name: 'tester', model: echo }))
    await there.prompt('elsewhere').result
    await there.close()
    assert.is((await agent.prompt('here').result).text, '3: here')
  })
})

describe('the end of an unloaded agent', (it) => {
  it('by a stop is written in its log', async (context) => {
    const { unloaded, records, runtime, store } = await idleAgents(context)
    const agent = await unloaded('a1')
    const iterator = agent.events()
    const stopping = agent.stop()
    assert.throws(() => agent.prompt('two'), withCode('AGENT_STOPPED', 'a1'))
    await Promise.all([stopping, agent.stop(), agent.close()])
    assert.is((await records('a1')).filter(({ type }) => type === 'agent.stopped').length, 1)
    assert.is(agent.state, 'stopped')
    assert.equal(runtime.agents(), [])
    assert.equal([...store.leased], [])
    const seen = []
    for await (const { type } of iterator) seen.push(type)
    assert.is(seen.includes('agent.stopped'), true)
    agent.dispatch({ type: 'agent.stop', agentId: 'a1' })
  })

  it('by a stop right after a prompt ends that too, and asks no model', async (context) => {
    const model = scriptedModel(['fine', 'never'])
    const { unloaded } = await idleAgents(context)
    const agent = await unloaded('a1', { model })
    const run = agent.prompt('two')
    await agent.stop()
    assert.is((await run.result).stopReason, 'aborted')
    await quiet()
    assert.is(model.requests.length, 1)
  })

  it('by a close needs no loading, and leaves it to be resumed', async (context) => {
    const { unloaded, store, runtime } = await idleAgents(context)
    const agent = await unloaded('a1')
    store.opened.length = 0
    const iterator = agent.events()
    await agent.close()
    await agent.close()
    assert.equal(store.opened, [])
    assert.is((await iterator.next()).done, true)
    assert.is((await agent.events().next()).done, true)
    assert.is(agent.state, 'stopped')
    assert.equal([runtime.agents(), runtime.agent('a1')], [[], undefined])
    assert.throws(() => agent.prompt('two'), withCode('AGENT_STOPPED', 'a1'))
    await assert.rejects(agent.wake(), withCode('AGENT_STOPPED', 'a1'))
    const again = await runtime.resume('a1', defineAgent({ name: 'tester', model: echo }))
    assert.is((await again.prompt('two').result).text, '2: two')
  })

  it('while it is being woken comes after what was asked', async (context) => {
    const { unloaded, store, records } = await idleAgents(context)
    const agent = await unloaded('a1', {
      model: scriptedModel(['fine', stalled(['x'], never)]),
    })
    const door = gate()
    store.gates.open = door.promise
    const run = agent.prompt('two')
    const closing = agent.close()
    assert.throws(() => agent.prompt('three'), withCode('AGENT_STOPPED'))
    store.gates.open = undefined
    door.resolve()
    await closing
    assert.is((await run.result).stopReason, 'aborted')
    assert.is(agent.state, 'stopped')
    assert.equal([...store.leased], [])
    assert.is((await records('a1')).at(-1)?.type, 'run.end')
  })

  it('while it cannot be woken is an end all the same', async (context) => {
    const { agent, runtime } = await lockedAgent(context)
    const run = agent.prompt('two')
    await agent.close()
    assert.is((await run.result).error?.code, 'STORE_LOCKED')
    assert.equal([agent.state, runtime.agents()], ['stopped', []])
  })

  it('with its runtime, in the middle of waking, aborts what was asked and holds no log', async (context) => {
    const { unloaded, store, runtime, records } = await idleAgents(context)
    const [opening, reading] = [await unloaded('a1'), await unloaded('a2')]
    const before = (await records('a1')).length
    const page = gate()
    store.gates.read = page.promise
    const runs = [reading.prompt('two')]
    await quiet()
    const door = gate()
    store.gates.open = door.promise
    runs.push(opening.prompt('two'))
    await quiet()
    const closed = runtime.close()
    store.gates.read = undefined
    for (const { resolve } of [door, page]) resolve()
    await closed
    const results = await Promise.all(runs.map(({ result }) => result))
    assert.equal(
      results.map(({ stopReason, error, runId }) => [stopReason, error, runId]),
      [
        ['aborted', undefined, 'a2/r1'],
        ['aborted', undefined, ''],
      ],
    )
    assert.equal([...store.leased], [])
    assert.is((await records('a1')).length, before)
    assert.is((await records('a2')).at(-1)?.type, 'run.end')
    assert.equal([opening.state, reading.state], ['stopped', 'stopped'])
    assert.throws(() => opening.prompt('x'), withCode('AGENT_STOPPED'))
  })
})
