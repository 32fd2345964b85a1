import { policyModel } from '../../packages/models/src/policyModel.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import { quiet, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const calls = (...names: readonly string[]): ScriptedReply => ({
  toolCalls: names.map((name) => ({ name, input: { task: `for ${name}` } })),
})

const leaf = (name = 'leaf'): AgentDefinition =>
  defineAgent({ name, model: policyModel(() => `the ${name} says some words`) })

const middle = (...below: readonly AgentDefinition[]): AgentDefinition =>
  defineAgent({
    name: 'middle',
    agents: below,
    model: policyModel(({ messages }) =>
      messages.at(-1)!.role === 'toolResult'
        ? 'the middle is done'
        : { toolCalls: below.map(({ name }) => ({ name, input: { task: 'x' } })) },
    ),
  })

const rooted = {
  replies: [calls('middle', 'middle'), 'done'],
  agents: [middle(leaf('one'), leaf('two'))],
  check: false,
}

const byAgent = (events: readonly AgentEvent[]): ReadonlyMap<string, AgentEvent[]> =>
  Map.groupBy(events, ({ agentId }) => agentId)

describe('events of a tree', (it) => {
  it('carry the path at every level, and come to a listener above as the very same objects, once', async (context) => {
    const { agent, runtime } = await startAgent(context, rooted)
    const atRoot: AgentEvent[] = []
    const below = new Map<string, AgentEvent[]>()
    const hears = (id: string): void => {
      const heard: AgentEvent[] = []
      below.set(id, heard)
      runtime.agent(id)!.subscribe((event) => void heard.push(event), { descendants: true })
    }
    agent.subscribe(
      (event) => {
        atRoot.push(event)
        if (event.type === 'agent.created') hears(event.agentId)
      },
      { descendants: true },
    )
    await agent.prompt('go').result
    const ids = ['a1', 'a1.1', 'a1.1.1', 'a1.1.2', 'a1.2', 'a1.2.1', 'a1.2.2']
    assert.equal([...byAgent(atRoot).keys()].toSorted(), ids)
    for (const { agentId, path } of atRoot)
      assert.equal(
        path,
        agentId
          .split('.')
          .slice(0, -1)
          .map((_, n) =>
            agentId
              .split('.')
              .slice(0, n + 1)
              .join('.'),
          ),
      )
    assert.is(new Set(atRoot).size, atRoot.length, 'each once')
    for (const id of ids.slice(1)) {
      const mine = atRoot.filter((event) => event.agentId === id || event.path.includes(id))
      const heard = below.get(id)!
      // It was listened to from its first step on.
      const missed = mine.filter((event) => !heard.includes(event))
      assert.ok(
        missed.every(({ agentId, seq }) => agentId === id && seq <= 1),
        `${id} misses ${missed.map(({ type }) => type).join()}`,
      )
      assert.equal(heard.length + missed.length, mine.length)
      assert.ok(
        heard.every((event) => mine.includes(event)),
        'by reference',
      )
    }
  })

  it('keep the order of each agent, and of what caused what', async (context) => {
    const { agent } = await startAgent(context, rooted)
    const events: AgentEvent[] = []
    agent.subscribe((event) => void events.push(event), { descendants: true })
    await agent.prompt('go').result
    for (const [id, own] of byAgent(events)) {
      const seqs = own.map(({ seq }) => seq)
      assert.equal(
        seqs,
        seqs.toSorted((a, b) => a - b),
        id,
      )
    }
    const at = (type: AgentEvent['type'], agentId: string): number =>
      events.findIndex((event) => event.type === type && event.agentId === agentId)
    for (const child of ['a1.1', 'a1.2']) {
      const call = events.findIndex((event) => event.type === 'tool.start' && event.childId === child)
      const end = events.findIndex(
        (event) => event.type === 'tool.end' && event.key === (events[call] as { key?: string }).key,
      )
      assert.ok(call < at('agent.created', child), 'begun after its call')
      assert.ok(at('run.end', child) < end, 'ended before its answer')
    }
  })

  it('come through an iterator as well, which ends with the agent', async (context) => {
    const { agent } = await startAgent(context, rooted)
    const listened: AgentEvent[] = []
    const read: AgentEvent[] = []
    const iterator = agent.events({ descendants: true })
    agent.subscribe((event) => void listened.push(event), { descendants: true })
    const reading = (async () => {
      for await (const event of iterator) read.push(event)
    })()
    await agent.prompt('go').result
    await agent.stop()
    await reading
    assert.is(read.length, listened.length)
    assert.ok(
      read.every((event, index) => event === listened[index]),
      'the same objects in the same order',
    )
    assert.ok(read.some(({ path }) => path.length === 2))
  })

  it('stay with their agent for listeners that did not ask for descendants, but for approvals', async (context) => {
    const guarded = defineAgent({
      name: 'guarded',
      model: scriptedModel([{ toolCalls: [{ name: 'lock', input: {} }] }, 'ok']),
      tools: [tool('lock', () => 'open', { needsApproval: true })],
    })
    const { agent, events } = await startAgent(context, {
      replies: [calls('guarded'), 'done'],
      agents: [guarded],
      check: false,
    })
    const run = agent.prompt('go')
    await quiet()
    agent.decide(agent.approvals()[0]!.key, 'approve')
    await run.result
    const foreign = events.filter(({ agentId }) => agentId !== 'a1')
    assert.equal(
      foreign.map(({ type }) => type),
      ['approval.requested', 'approval.decided'],
    )
  })

  it('stop when the listener has left, while the tree works on', async (context) => {
    const { agent } = await startAgent(context, rooted)
    const heard: AgentEvent[] = []
    const leave = agent.subscribe(
      (event) => {
        heard.push(event)
        if (event.path.length === 2) leave()
      },
      { descendants: true },
    )
    assert.is((await agent.prompt('go').result).text, 'done')
    assert.is(heard.filter(({ path }) => path.length === 2).length, 1)
    assert.is(heard.at(-1)!.path.length, 2)
  })

  it('reach the others when one listener throws, rejects, or commands its agents', async (context) => {
    const { agent, runtime } = await startAgent(context, rooted)
    const before: AgentEvent[] = []
    const after: AgentEvent[] = []
    agent.subscribe((event) => void before.push(event), { descendants: true })
    agent.subscribe(
      () => {
        throw new Error('a bad listener')
      },
      { descendants: true },
    )
    agent.subscribe(() => Promise.reject(new Error('another')), { descendants: true })
    agent.subscribe(
      (event) => {
        if (event.type === 'run.start' && event.agentId === 'a1.2.1') runtime.agent(event.agentId)!.abort()
      },
      { descendants: true },
    )
    agent.subscribe((event) => void after.push(event), { descendants: true })
    assert.is((await agent.prompt('go').result).text, 'done')
    await quiet()
    assert.equal(before, after)
    const failures = before.filter((event) => event.type === 'error')
    assert.equal(
      failures.map(({ agentId, error }) => [agentId, error.code]),
      [
        ['a1', 'SUBSCRIBER_FAILED'],
        ['a1', 'SUBSCRIBER_FAILED'],
      ],
      'each is told of once, by the agent it listens to',
    )
    assert.ok(
      before.some((event) => event.type === 'run.end' && event.agentId === 'a1.2.1' && event.stopReason === 'aborted'),
    )
  })
})
