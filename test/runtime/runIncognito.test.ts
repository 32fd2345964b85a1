import { defineAgent, type AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { Cancellation } from '../../src/actors/timing/cancellation.ts'
import { getEventListeners } from 'node:events'
import { z } from 'zod'
import type { AgentEvent } from '../../src/protocol/events.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import type { AgentHost } from '../../src/runtime/agents/agentHost.ts'
import { runIncognito } from '../../src/runtime/children/runIncognito.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { runtimeSetup } from '../../packages/runtime/src/runtimeSetup.ts'
import { LocalRuntime } from '../../src/runtime/runtime.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock, type SimulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { calls, counter, quiet, tool, usageOf, withCode } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const agentOf = (name: string, replies: readonly ScriptedReply[], options: Partial<AgentOptions> = {}) =>
  defineAgent({ name, compaction: false, ...options, model: scriptedModel(replies) })

interface World {
  /** The agent on whose behalf others run. */
  readonly host: AgentHost
  readonly runtime: LocalRuntime
  readonly clock: SimulatedClock
  readonly store: Store
  readonly events: AgentEvent[]
  /** Ids of all agents that ran, and whether they were incognito. */
  readonly born: [string, boolean][]
}

async function world({ cleanup }: Pick<CaseContext, 'cleanup'>, isIncognito = false): Promise<World> {
  const clock = simulatedClock()
  const store = memoryStore()
  const runtime = new LocalRuntime(runtimeSetup({ clock, store, random: () => 0, newId: counter('q') }))
  cleanup(async () => {
    await runtime.close()
    assert.is(clock.pending, 0, 'timers left in the clock')
  })
  const own = isIncognito ? memoryStore() : undefined
  const lease = own === undefined ? await runtime.openLog('x') : await own.open('x')
  const definition = agentOf('principal', [])
  const host = runtime.adopt({ agentId: 'x', definition, lease, ...(own === undefined ? {} : { incognito: own }) })
  host.start()
  const events: AgentEvent[] = []
  runtime.agent('x')!.subscribe((event) => void events.push(event))
  const born: [string, boolean][] = []
  runtime.onAgent(({ id, incognito }) => void born.push([id, incognito]))
  return { host, runtime, clock, store, events, born }
}

const never = (): AbortSignal => new AbortController().signal
const look = tool('look', () => 'seen', { effects: 'none' })

describe('a run of an incognito agent on behalf of another', (it) => {
  it('answers, says what it used, and leaves nothing', async (context) => {
    const { host, runtime, store, born, events } = await world(context)
    const definition = agentOf(
      'reviewer',
      [
        { ...(calls('c', 'look') as object), usage: usageOf(10, 5) },
        { text: 'fine', usage: usageOf(20, 5) },
      ],
      { tools: [look], pricing: { input: 1, output: 2 } },
    )
    const result = await host.ports.runIncognito(definition, 'is it?', { signal: never(), timeoutMs: 1_000 })
    assert.equal(result, { text: 'fine', usage: usageOf(30, 10), costUsd: 0.00005, turns: 2 })
    assert.equal(born, [['reviewer-q1', true]])
    assert.is(runtime.agent('reviewer-q1'), undefined)
    assert.equal(await store.list(), ['x'])
    assert.equal([host.family.live, host.view.lastSeq, events], [[], 1, []])
  })

  it('gives its answer as data', async (context) => {
    const { host } = await world(context)
    const output = z.object({ ok: z.boolean() })
    const definition = agentOf('reviewer', ['{"ok":true}'], { output })
    const result = await host.ports.runIncognito(definition, 'is it?', { signal: never(), timeoutMs: 1_000 })
    assert.equal(result.output, { ok: true })
  })

  for (const isIncognito of [false, true])
    for (const [what, risky] of [
      ['needs an approval', tool('risky', () => 'done', { needsApproval: true })],
      ['a client is to carry out', defineTool({ name: 'risky', description: 'Risky.', input: z.object({}) })],
    ] as const)
      it(`denies what ${what}, its own and that of agents below it, and asks nobody${isIncognito ? ', also for an incognito one' : ''}`, async (context) => {
        const { host, events } = await world(context, isIncognito)
        const helper = agentOf('helper', [calls('h', 'risky'), 'helped'], { tools: [risky] })
        const script = scriptedModel([calls('c', 'risky', ['helper', { task: 'x' }]), 'fine'])
        const definition = defineAgent({
          name: 'reviewer',
          model: script,
          tools: [risky],
          agents: [helper],
          compaction: false,
        })
        const result = await host.ports.runIncognito(definition, 'is it?', { signal: never(), timeoutMs: 1_000 })
        assert.equal([result.text, result.turns], ['fine', 4], 'with the turns of those below it')
        assert.match(JSON.stringify(script.requests[1]!.messages), /Nobody can be asked.*helped/)
        assert.equal(events, [])
      })

  it('says why it did not finish, and what it used all the same', async (context) => {
    const { host, clock } = await world(context)
    const options = { signal: never(), timeoutMs: 1_000 }
    const looping = agentOf('reviewer', [calls('c', 'look'), calls('d', 'look'), 'fine'], { tools: [look] })
    const limited = await host.ports.runIncognito(looping, 'go', { ...options, limits: { turns: 1 } })
    assert.equal([limited.problem, limited.turns], ['its limit of 1 turns was reached', 1])
    const failing = agentOf('reviewer', [{ error: { kind: 'badRequest', message: 'no such model' } }])
    assert.match((await host.ports.runIncognito(failing, 'go', options)).problem!, 'no such model')
    const shaped = agentOf('reviewer', ['no', 'no', 'no'], { output: z.object({ ok: z.boolean() }) })
    const unfit = await host.ports.runIncognito(shaped, 'go', options)
    assert.ok(unfit.problem !== undefined && !('output' in unfit))
    const slow = agentOf('reviewer', [() => new Promise<never>(() => {})])
    const run = host.ports.runIncognito(slow, 'go', options)
    await quiet()
    await clock.advance(1_000)
    assert.is((await run).problem, 'it took too long, over 1000 ms')
  })

  it('is aborted by the signal, and rejects with its reason once the agent has ended', async (context) => {
    const { host, runtime, born } = await world(context)
    const aborting = new AbortController()
    const slow = agentOf('reviewer', [() => new Promise<never>(() => {})])
    const run = host.ports.runIncognito(slow, 'go', { signal: aborting.signal, timeoutMs: 1_000 })
    await quiet()
    assert.is(runtime.agent(born[0]![0])?.state, 'replying.requesting')
    aborting.abort(new Error('not needed'))
    await assert.rejects(run, (thrown: unknown) => thrown instanceof Error && thrown.message === 'not needed')
    assert.is(runtime.agent(born[0]![0]), undefined)
    await assert.rejects(host.ports.runIncognito(slow, 'go', { signal: aborting.signal, timeoutMs: 1_000 }))
    assert.is(born.length, 1, 'aborted before it began')
  })

  it('says while it is under way what it has used, and leaves no listener at the signal', async (context) => {
    const { host } = await world(context)
    const { signal } = new AbortController()
    const seen: unknown[] = []
    let spent: (() => { readonly turns: number; readonly usage: { readonly input: number } }) | undefined
    const spend = tool('spend', () => {
      seen.push([spent?.().usage.input, getEventListeners(signal, 'abort').length > 0])
      return 'spent'
    })
    const replies = [{ ...(calls('c', 'spend') as object), usage: usageOf(10, 5) }, 'fine']
    const definition = agentOf('reviewer', replies, { tools: [spend] })
    await host.ports.runIncognito(definition, 'go', { signal, timeoutMs: 1_000, onStart: (get) => (spent = get) })
    assert.equal([seen, getEventListeners(signal, 'abort').length], [[[10, true]], 0])
  })

  it('ends its agent for good, finished or not', async (context) => {
    const { host, runtime, clock } = await world(context)
    const agents: Agent[] = []
    runtime.onAgent((agent) => void agents.push(agent))
    const options = { signal: never(), timeoutMs: 1_000 }
    await host.ports.runIncognito(agentOf('reviewer', ['fine']), 'go', options)
    const slow = host.ports.runIncognito(agentOf('slow', [() => new Promise<never>(() => {})]), 'go', options)
    await quiet()
    await clock.advance(1_000)
    await slow
    assert.equal(
      agents.map(({ state }) => state),
      ['stopped', 'stopped'],
    )
  })

  it('begins nothing once another writer has the log of the agent that it is for', async (context) => {
    const { host, store, born } = await world(context)
    await store.open('x', { takeOver: true })
    const options = { signal: never(), timeoutMs: 1_000 }
    await assert.rejects(host.ports.runIncognito(agentOf('r', ['fine']), 'go', options), withCode('STORE_LEASE_LOST'))
    assert.equal(born, [])
  })

  it('lets go of what it opened when it is aborted meanwhile', async (context) => {
    const { host, born } = await world(context)
    const aborting = new AbortController()
    const released: string[] = []
    const { childHosts } = host.shared
    const hosts = {
      newId: () => childHosts.newId(),
      incognitoStore: () => childHosts.incognitoStore(),
      openLog: async (agentId: string) => {
        aborting.abort(new Error('not needed'))
        return { agentId, release: async () => void released.push(agentId) }
      },
      adopt: () => assert.unreachable('it began'),
    } as unknown as typeof childHosts
    const options = { signal: aborting.signal, timeoutMs: 1_000 }
    await assert.rejects(runIncognito(host, hosts, agentOf('r', ['fine']), 'go', options), /not needed/)
    assert.equal([released.length, born], [1, []])
  })

  it('counts as a sign of life of the agent that it runs for', async (context) => {
    const { host, clock } = await world(context)
    const stalled = host.stallTimer.stalled(500, new Cancellation())
    let isStalled = false
    void stalled.promise.then(() => (isStalled = true))
    const wait = tool('wait', () => new Promise<string>((resolve) => void clock.after(400, () => resolve('waited'))))
    const definition = agentOf('reviewer', [calls('c', 'wait'), calls('d', 'wait'), 'fine'], { tools: [wait] })
    const run = host.ports.runIncognito(definition, 'is it?', { signal: never(), timeoutMs: 10_000 })
    for (let n = 0; n < 9; n += 1) {
      await quiet()
      await clock.advance(100)
    }
    assert.is((await run).text, 'fine')
    assert.is(isStalled, false)
    stalled.cancel()
  })
})
