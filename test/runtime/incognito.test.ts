import type { AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { listSessions } from '../../packages/sessions/src/listSessions.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock, type SimulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { calls, quiet, tool, usageOf, withCode } from '../support/agentHarness.ts'
import { crashingCounter } from '../support/crashingCounter.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

interface World {
  readonly runtime: Runtime
  readonly clock: SimulatedClock
  readonly store: Store
  /** Ids of agents that the store was asked to keep or lock. */
  readonly touched: string[]
}

async function world(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  options: { readonly idleUnloadMs?: number } = {},
): Promise<World> {
  const clock = simulatedClock()
  const inner = memoryStore()
  const touched: string[] = []
  const store: Store = {
    ...inner,
    append: (agentId, records) => {
      touched.push(agentId)
      return inner.append(agentId, records)
    },
    open: (agentId) => {
      touched.push(agentId)
      return inner.open(agentId)
    },
  }
  const runtime = await createRuntime({ clock, store, random: () => 0, ...options })
  cleanup(() => runtime.close())
  return { runtime, clock, store, touched }
}

const agentOf = (name: string, replies: readonly ScriptedReply[], options: Partial<AgentOptions> = {}) =>
  defineAgent({ name, compaction: false, ...options, model: scriptedModel(replies) })

/** Asks each of these agents once, and says what they said. */
const asking = (agents: readonly AgentDefinition[]): AgentDefinition =>
  defineAgent({
    name: 'asker',
    agents,
    compaction: false,
    model: policyModel(({ messages }) => {
      const results = messages.filter(({ role }) => role === 'toolResult')
      if (results.length === 0) return { toolCalls: agents.map(({ name }) => ({ name, input: { task: 'x' } })) }
      return results.flatMap(({ content }) => content.map((block) => ('text' in block ? block.text : ''))).join(' | ')
    }),
  })

/** Ten seconds, in which what has crashed is begun again. */
async function passes(clock: SimulatedClock): Promise<void> {
  for (let n = 0; n < 20; n += 1) {
    await clock.advance(500)
    await quiet()
  }
}

const look = tool('look', () => 'seen', { effects: 'none' })

describe('an incognito agent', (it) => {
  it('works as any other, and nothing of it or of the agents below it reaches the store', async (context) => {
    const { runtime, store, touched } = await world(context)
    const helper = agentOf('helper', [calls('h', 'look'), 'helped'], { tools: [look] })
    const agent = await runtime.spawn(asking([helper]), { id: 'i', incognito: true })
    const child = await agent.spawn(agentOf('beside', ['here']))
    assert.is((await child.prompt('are you there?').result).text, 'here')
    assert.is((await agent.prompt('go').result).text, 'helped')
    assert.ok(agent.lastSeq > 5)
    assert.is(agent.incognito, true)
    assert.is(child.incognito, true)
    await runtime.close()
    assert.equal([touched, await store.list()], [[], []])
  })

  it('is not listed, but known to who has its id', async (context) => {
    const { runtime } = await world(context)
    const seen: [string, boolean][] = []
    runtime.onAgent(({ id, incognito }) => void seen.push([id, incognito]))
    const plain = await runtime.spawn(agentOf('one', []), { id: 'a' })
    const hidden = await runtime.spawn(agentOf('two', []), { id: 'i', incognito: true })
    assert.equal(runtime.agents(), [plain])
    assert.is(runtime.agent('i'), hidden)
    assert.equal(seen, [
      ['a', false],
      ['i', true],
    ])
    assert.throws(() => runtime.agents({ page: { after: 'i' } }), withCode('INVALID_OPTION'))
  })

  it('marks every event of its own and of those below it, recorded or not', async (context) => {
    const { runtime } = await world(context)
    const helper = agentOf('helper', [calls('h', 'look'), 'helped'], { tools: [look] })
    const events: AgentEvent[] = []
    runtime.onAgent((agent) => void agent.subscribe((event) => void events.push(event)))
    const agent = await runtime.spawn(asking([helper]), { id: 'i', incognito: true })
    await agent.prompt('go').result
    await (await agent.spawn(agentOf('beside', ['here']))).prompt('go').result
    const types = new Set(events.map(({ type }) => type))
    for (const type of [
      'run.start',
      'turn.request',
      'reply.delta',
      'state.changed',
      'child.spawned',
      'tool.end',
    ] as const)
      assert.ok(types.has(type), type)
    assert.equal(new Set(events.map(({ agentId }) => agentId)), new Set(['i', 'i.1', 'i.s2']))
    assert.equal(
      events.filter(({ incognito }) => incognito !== true),
      [],
    )
    events.length = 0
    const plain = await runtime.spawn(asking([helper]), { id: 'a' })
    await plain.prompt('go').result
    assert.equal(
      events.filter((event) => 'incognito' in event),
      [],
    )
  })

  it('cannot be resumed, opened or forked, and leaves nothing behind when it ends', async (context) => {
    const { runtime, store } = await world(context)
    const definition = agentOf('two', ['one', 'again'])
    const agent = await runtime.spawn(definition, { id: 'i', incognito: true })
    await agent.prompt('go').result
    await assert.rejects(runtime.resume('i', definition), withCode('AGENT_INCOGNITO', '"i"'))
    await assert.rejects(runtime.open('i', definition), withCode('AGENT_INCOGNITO', '"i"'))
    await assert.rejects(runtime.spawn(definition, { id: 'i' }), withCode('AGENT_EXISTS'))
    await assert.rejects(forkSession(store, 'i', 'n1'), withCode('AGENT_NOT_FOUND'))
    await agent.close()
    await assert.rejects(runtime.resume('i', definition), withCode('AGENT_NOT_FOUND'))
    const next = await runtime.spawn(definition, { id: 'i', incognito: true })
    assert.is(next.lastSeq, 1, 'a new log')
    assert.equal(next.conversation.steps(), [])
    assert.is((await next.prompt('go').result).text, 'again')
  })

  it('takes no id that is in use or has a log', async (context) => {
    const { runtime, touched } = await world(context)
    const definition = agentOf('one', [])
    const stored = await runtime.spawn(definition, { id: 'a' })
    await assert.rejects(runtime.spawn(definition, { id: 'a', incognito: true }), withCode('AGENT_EXISTS', 'running'))
    await stored.close()
    touched.length = 0
    await assert.rejects(runtime.spawn(definition, { id: 'a', incognito: true }), withCode('AGENT_EXISTS', 'has a log'))
    assert.equal(touched, [], 'it was only read')
    const hidden = await runtime.spawn(definition, { id: 'i', incognito: true })
    await assert.rejects(hidden.spawn(definition, { id: 'a' }), withCode('AGENT_EXISTS', 'has a log'))
  })

  it('is never unloaded', async (context) => {
    const { runtime, clock } = await world(context, { idleUnloadMs: 1_000 })
    const plain = await runtime.spawn(agentOf('one', []), { id: 'a' })
    const agent = await runtime.spawn(agentOf('two', ['one']), { id: 'i', incognito: true })
    await agent.prompt('go').result
    await clock.advance(10_000)
    await quiet()
    assert.equal([plain.isLoaded, agent.isLoaded], [false, true])
    assert.is(agent.conversation.steps().length, 2)
  })

  it('is ended with its runtime', async (context) => {
    const { runtime } = await world(context)
    const slow = tool(
      'wait',
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')))
        }),
    )
    const agent = await runtime.spawn(agentOf('two', [calls('c', 'wait')], { tools: [slow] }), { incognito: true })
    const run = agent.prompt('go')
    await quiet()
    await runtime.close()
    assert.is((await run.result).stopReason, 'aborted')
    assert.is(agent.state, 'stopped')
  })

  it('has a crashed sub-agent go on from where it was, and a fork know what was said', async (context) => {
    const { runtime, clock, touched } = await world(context)
    const crasher = agentOf('crasher', [calls('h', 'look'), 'survived'], {
      tools: [look],
      tokenCounter: crashingCounter({ crashes: 1 }),
    })
    const told = scriptedModel(['I know'])
    const fork = defineAgent({ name: 'knower', model: told, compaction: false })
    const agent = await runtime.spawn(asking([crasher]), { id: 'i', incognito: true })
    const run = agent.prompt('a secret')
    await passes(clock)
    assert.is((await run.result).text, 'survived')
    const next = await agent.handOver(fork)
    assert.is((await next.prompt('and?').result).text, 'I know')
    assert.match(JSON.stringify(told.requests[0]!.messages), 'a secret')
    assert.equal(touched, [])
  })

  it('refuses options that are none', async (context) => {
    const { runtime } = await world(context)
    const options = { incognito: 'yes' } as unknown as { incognito: boolean }
    await assert.rejects(runtime.spawn(agentOf('one', []), options), withCode('INVALID_OPTION', 'incognito'))
  })
})

describe('an incognito child of an agent that is not', (it) => {
  const parentOf = async (context: Pick<CaseContext, 'cleanup'>) => {
    const made = await world(context)
    const parent = await made.runtime.spawn(agentOf('parent', ['well']), { id: 'p' })
    return { ...made, parent }
  }
  const recordsOf = async (store: Store, agentId: string) => {
    const records = []
    for await (const record of store.read(agentId)) records.push(record)
    return records
  }

  it('leaves its id and what it used in the log of its parent, and nothing else', async (context) => {
    const { store, touched, parent } = await parentOf(context)
    const child = await parent.spawn(agentOf('hidden', [{ text: 'a secret', usage: usageOf(20, 5) }]), {
      incognito: true,
    })
    assert.equal([child.id, child.incognito, parent.incognito], ['p.s1', true, false])
    await child.prompt('the word').result
    const used = child.spent
    assert.is(used.usage.output, 5)
    await child.stop()
    assert.equal(parent.spent.usage, used.usage, 'counted')
    const records = await recordsOf(store, 'p')
    const about = records.filter(({ type }) => type.startsWith('child.'))
    assert.equal(
      about.map((record) => ({ ...record, v: 0, seq: 0, time: 0, runId: '', turnIndex: 0 })),
      [
        { type: 'child.spawned', childId: 'p.s1', definition: 'hidden', incognito: true },
        { type: 'child.ended', childId: 'p.s1', spent: used },
      ].map((record) => ({ v: 0, seq: 0, time: 0, runId: '', turnIndex: 0, ...record })),
    )
    assert.equal([...new Set(touched)], ['p'])
    assert.equal(await store.list(), ['p'])
    assert.equal(
      (await listSessions(store)).map(({ id, children }) => [id, children]),
      [['p', []]],
    )
  })

  it('is not listed by its parent, whose listeners are told of it in marked events alone and asked nothing', async (context) => {
    const { parent } = await parentOf(context)
    const heard: AgentEvent[] = []
    const below: AgentEvent[] = []
    parent.subscribe((event) => void heard.push(event))
    parent.subscribe((event) => void below.push(event), { descendants: true })
    const risky = tool('risky', () => 'done', { needsApproval: true })
    const child = await parent.spawn(agentOf('hidden', [calls('c', 'risky'), 'fine'], { tools: [risky] }), {
      incognito: true,
    })
    child.subscribe((event) => {
      if (event.type === 'approval.requested') child.decide(event.key, 'approve')
    })
    const run = child.prompt('go')
    assert.equal([parent.children(), parent.tree().children, parent.approvals()], [[], [], []])
    assert.is((await run.result).text, 'fine')
    assert.is(child.parent, parent)
    assert.equal(
      heard.filter(({ agentId }) => agentId !== 'p'),
      [],
    )
    const own = below.filter(({ agentId }) => agentId !== 'p')
    assert.ok(own.length > 0 && own.every(({ incognito }) => incognito === true))
  })

  it('goes on after a crash from its log in memory, and is given up without a word in any log', async (context) => {
    const { clock, store, parent } = await parentOf(context)
    const counter = crashingCounter({ crashes: 2 })
    const defects = {
      ...counter,
      message: (message: Parameters<typeof counter.message>[0]) => {
        try {
          return counter.message(message)
        } catch {
          throw new Error('a secret')
        }
      },
    }
    const crasher = agentOf('crasher', [calls('h', 'look'), 'survived', calls('i', 'look')], {
      tools: [look],
      tokenCounter: defects,
    })
    const child = await parent.spawn({ definition: crasher, maxRestarts: 1 }, { incognito: true })
    const run = child.prompt('go')
    await passes(clock)
    assert.is((await run.result).stopReason, 'error')
    assert.equal(await store.list(), ['p'])
    const ended = (await recordsOf(store, 'p')).find((record) => record.type === 'child.ended')
    assert.is(ended?.error?.code, 'CHILD_CRASHED')
    assert.not.match(JSON.stringify(await recordsOf(store, 'p')), 'a secret')
  })

  it('can be forked from its parent, and knows what was said after a crash, too', async (context) => {
    const { runtime, parent, touched, clock } = await parentOf(context)
    await parent.prompt('the task').result
    const told = scriptedModel([calls('c', 'look'), 'I know'])
    const tokenCounter = crashingCounter({ crashes: 1 })
    const fork = defineAgent({ name: 'knower', model: told, compaction: false, tools: [look], tokenCounter })
    const child = await parent.spawn({ definition: fork, context: 'fork' }, { incognito: true })
    assert.is((await child.prompt('and?').result).stopReason, 'error')
    await passes(clock)
    const next = runtime.agent(child.id)!
    assert.equal([next.state, next === child], ['idle', false])
    assert.equal(
      told.requests.map(({ messages }) => JSON.stringify(messages).includes('the task')),
      [true, true],
    )
    assert.equal([...new Set(touched)], ['p'])
  })

  it('has no log but that in memory, which its holder can read', async (context) => {
    const { parent, store } = await parentOf(context)
    const child = await parent.spawn(agentOf('hidden', ['fine']), { incognito: true })
    await child.prompt('go').result
    const types: string[] = []
    for await (const { type } of child.readLog()) types.push(type)
    assert.equal([types.at(0), types.at(-1), types.length], ['agent.created', 'run.end', child.lastSeq])
    assert.equal(await recordsOf(store, child.id), [])
    const later: number[] = []
    for await (const { seq } of parent.readLog(2)) later.push(seq)
    assert.is(later[0], 2)
  })

  it('refuses options that are none', async (context) => {
    const { parent } = await parentOf(context)
    const options = { incognito: 1 } as unknown as { incognito: boolean }
    await assert.rejects(parent.spawn(agentOf('one', []), options), withCode('INVALID_OPTION', 'incognito'))
  })
})
