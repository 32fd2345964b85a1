import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { createRuntime, type Runtime } from '../../src/createRuntime.ts'
import type { RuntimeOptions } from '../../../runtime/src/runtimeOptions.ts'
import type { AgentSummary, ServerFrame } from '../../../wire/src/frames.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { Roster } from '../../src/server/roster.ts'
import { summaryOf } from '../../src/server/snapshots.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { gate, tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

const said = policyModel(() => 'yes')
const priced = { input: 1_000_000, output: 1_000_000 }

/** A watched runtime; `agree` polls and compares what the watcher knows with how all agents are. */
async function watched({ cleanup }: CaseContext, options: RuntimeOptions = {}) {
  const clock = simulatedClock()
  const runtime = await createRuntime({ clock, ...options })
  cleanup(() => runtime.close())
  const roster = new Roster(() => runtime.agents(), clock)
  cleanup(() => roster.close())
  const known = new Map<string, AgentSummary>()
  const frames: Extract<ServerFrame, { type: 'agents' }>[] = []
  const watcher = {
    reach: () => true,
    view: 'all' as const,
    isFull: false,
    send(frame: ServerFrame) {
      assert.ok(frame.type === 'agents')
      frames.push(frame)
      for (const id of frame.gone) known.delete(id)
      for (const agent of frame.agents) known.set(agent.agentId, agent)
    },
  }
  roster.watch(watcher)
  const agree = async (what: string): Promise<void> => {
    await clock.advance(250)
    const all = allOf(runtime).map((agent): [string, AgentSummary] => [agent.id, summaryOf(agent)])
    assert.equal(Object.fromEntries(known), Object.fromEntries(all), what)
  }
  return { runtime, clock, frames, known, watcher, agree }
}

function allOf(runtime: Runtime): Agent[] {
  const below = (agent: Agent): Agent[] => [agent, ...agent.children().flatMap(below)]
  return runtime.agents().flatMap(below)
}

const next = (agent: Agent, type: string): Promise<void> =>
  new Promise((resolve) => {
    const forget = agent.subscribe(
      (event) => {
        if (event.type !== type) return
        forget()
        resolve()
      },
      { descendants: true },
    )
  })

/** A boss whose one call waits for a worker, whose one call waits for a person and then for `open`. */
function team(open: Promise<void>): AgentDefinition {
  const worker = defineAgent({
    name: 'worker',
    description: 'works',
    pricing: priced,
    tools: [tool('look', async () => (await open, 'seen'), { needsApproval: true })],
    model: policyModel(({ messages }) =>
      messages.length === 1 ? { toolCalls: [{ name: 'look', input: {} }] } : 'done',
    ),
  })
  return defineAgent({
    name: 'boss',
    pricing: priced,
    agents: [worker],
    model: policyModel(({ messages }) =>
      messages.length === 1 ? { toolCalls: [{ name: 'worker', input: { task: 'x' } }] } : 'fine',
    ),
  })
}

describe('the list of running agents', (it) => {
  it('misses no change of an agent, of what is below it, or of which there are', async (context) => {
    const open = gate()
    const { runtime, agree, known } = await watched(context)
    const echo = defineAgent({ name: 'echo', model: said })
    await agree('of none')
    const boss = await runtime.spawn(team(open.promise), { id: 'b' })
    await agree('of one')
    const asked = next(boss, 'approval.requested')
    const run = boss.prompt('go')
    await asked
    await agree('while a call of a sub-agent waits')
    assert.is(known.get('b')!.pending!.length, 1)
    const started = next(boss, 'tool.start')
    boss.decide(boss.approvals()[0]!.key, 'approve')
    await started
    await agree('after the decision')
    assert.equal(known.get('b')!.pending, [])
    open.resolve()
    await run.result
    await agree('at the end')
    const child = await boss.spawn(echo)
    const below = await child.spawn(echo)
    await agree('after two were started by code')
    await below.prompt('x').result
    await agree('after one below has run')
    assert.is(known.get('b')!.treeSpent!.turns, known.get('b')!.spent.turns + 1)
    await child.close()
    await agree('after one was closed')
    assert.equal([...known.keys()], ['b'])
    await boss.stop()
    await runtime.spawn(echo, { id: 'b' }).catch(() => runtime.spawn(echo, { id: 'c' }))
    await agree('after another came in the place of one')
  })

  it('misses nothing of an agent that is unloaded and loaded again', async (context) => {
    const { runtime, clock, agree } = await watched(context, { idleUnloadMs: 1_000 })
    const agent = await runtime.spawn(defineAgent({ name: 'echo', model: said }), { id: 'e' })
    await agent.prompt('x').result
    await agree('at rest')
    await clock.advance(2_000)
    assert.not.ok(agent.isLoaded)
    await agree('unloaded')
    await agent.wake()
    await agree('loaded')
    await agent.prompt('y').result
    await agree('after another run')
  })

  it('says nothing while nothing changes, and once what a full watcher has missed', async (context) => {
    const { runtime, clock, frames, watcher, agree } = await watched(context)
    const agents: Agent[] = []
    for (const id of ['a', 'b', 'c'])
      agents.push(await runtime.spawn(defineAgent({ name: 'echo', model: said }), { id }))
    await agree('at rest')
    const before = frames.length
    await clock.advance(2_000)
    assert.is(frames.length, before)
    watcher.isFull = true
    for (const agent of agents) {
      await agent.prompt('x').result
      await clock.advance(250)
    }
    await agents[2]!.stop()
    await clock.advance(250)
    assert.is(frames.length, before)
    watcher.isFull = false
    await agree('after it has read')
    assert.is(frames.length, before + 1)
    assert.equal(frames.at(-1)!.gone, ['c'])
    await agents[1]!.stop()
    await agree('after one has gone, and nothing else has changed')
  })
})

describe('the cost of a tree', (it) => {
  it('counts what sub-agents that still run have used, once, and is that of the agent when they have ended', async (context) => {
    const open = gate()
    const { runtime, known, agree } = await watched(context)
    const boss = await runtime.spawn(team(open.promise), { id: 'b' })
    const asked = next(boss, 'approval.requested')
    const run = boss.prompt('go')
    await asked
    await agree('while the sub-agent waits')
    const [own, child] = [known.get('b')!, known.get('b.1')!]
    assert.ok(child.spent.costUsd > 0)
    assert.is(own.treeSpent!.costUsd, own.spent.costUsd + child.spent.costUsd)
    assert.is(own.treeSpent!.turns, 2)
    assert.is(child.treeSpent, undefined)
    const started = next(boss, 'tool.start')
    boss.decide(boss.approvals()[0]!.key, 'approve')
    await started
    open.resolve()
    await run.result
    await agree('at the end')
    const { spent, treeSpent } = known.get('b')!
    assert.equal([spent.turns, treeSpent], [4, undefined])
    assert.ok(spent.costUsd > own.treeSpent!.costUsd)
  })

  it('adds up over every floor, also of agents that nobody lists', async (context) => {
    const echo = defineAgent({ name: 'echo', model: said, pricing: priced })
    const { runtime } = await watched(context)
    const root = await runtime.spawn(echo, { id: 'r' })
    const child = await root.spawn(echo)
    const below = await child.spawn(echo)
    const hidden = await root.spawn(echo, { incognito: true })
    for (const agent of [child, below, hidden]) await agent.prompt('x').result
    const sum = child.spent.costUsd + below.spent.costUsd + hidden.spent.costUsd
    assert.ok(Math.abs(summaryOf(root).treeSpent!.costUsd - sum) < 1e-9)
    assert.is(summaryOf(root).treeSpent!.turns, 3)
    await child.close()
    assert.is(summaryOf(root).treeSpent!.turns, 3)
    assert.is(summaryOf(root).spent.turns, 2)
  })
})
