import { z } from 'zod'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import type { AgentEvent, EventOf } from '../../src/protocol/events.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { quiet, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const calls = (...names: readonly string[]): ScriptedReply => ({
  toolCalls: names.map((name) => ({ name, input: { task: 'x' } })),
})

const echo = (name: string): AgentDefinition =>
  defineAgent({ name, model: policyModel(({ messages }) => `${name} did: ${textOf(messages.at(-1)!.content)}`) })

const ends = (events: readonly AgentEvent[]): EventOf<'tool.end'>[] =>
  events.filter((event): event is EventOf<'tool.end'> => event.type === 'tool.end')
/** Texts of the results, in the order of their calls. */
const results = (events: readonly AgentEvent[]): string[] =>
  ends(events)
    .toSorted((a, b) => a.nodeId - b.nodeId)
    .map(({ message }) => textOf(message.content))

async function recordsOf(store: Store, agentId: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read(agentId)) records.push(record)
  return records
}

const bad = withCode('INVALID_DEFINITION')

describe('a definition with agents', (it) => {
  const model = scriptedModel([])

  it('names the agent that is there twice, and the one that has the name of a tool', () => {
    assert.throws(
      () => defineAgent({ name: 'a', model, agents: [echo('x'), echo('x')] }),
      withCode('INVALID_DEFINITION', '"x"'),
    )
    assert.throws(
      () => defineAgent({ name: 'a', model, agents: [echo('x')], tools: [tool('x', () => '')] }),
      withCode('INVALID_DEFINITION', 'an agent and a tool are both named "x"'),
    )
  })

  it('runs at least one call of a reply, and a bounded number', () => {
    for (const maxCallsPerReply of [0, -1, 1.5, 10_001, Infinity])
      assert.throws(() => defineAgent({ name: 'a', model, maxCallsPerReply }), bad)
    assert.is(defineAgent({ name: 'a', model, maxCallsPerReply: 1 }).policy.maxCallsPerReply, 1)
    assert.is(defineAgent({ name: 'a', model }).policy.maxCallsPerReply, 128)
  })

  it('allows at most a hundred children at once, and at least one', () => {
    for (const maxChildren of [101, 0, -1, 1.5])
      assert.throws(() => defineAgent({ name: 'a', model, maxChildren }), bad)
    assert.is(defineAgent({ name: 'a', model, maxChildren: 100 }).policy.maxChildren, 100)
    for (const maxDepth of [-1, 0.5, 51]) assert.throws(() => defineAgent({ name: 'a', model, maxDepth }), bad)
  })

  it('takes nothing but what defineAgent made', () => {
    const looksAlike = { ...echo('x') }
    for (const agents of [[looksAlike], [null], ['x'], [{ definition: looksAlike }], 'x'] as unknown[])
      assert.throws(() => defineAgent({ name: 'a', model, agents: agents as [] }), bad)
  })

  it('checks how each is to be used', () => {
    const definition = echo('x')
    for (const options of [
      { restart: 'sometimes' },
      { maxRestarts: -1 },
      { maxRestarts: 1_001 },
      { windowMs: -1 },
      { backoffMs: Number.NaN },
      { stallMs: 0 },
      { context: 'shared' },
      { detach: 'yes' },
      { limit: 1 },
    ])
      assert.throws(() => defineAgent({ name: 'a', model, agents: [{ definition, ...options } as never] }), bad)
  })

  it('lets code ask for no more than maxChildren, also in the middle of a step', async (context) => {
    const { agent } = await startAgent(context, { maxChildren: 1, replies: ['done'] })
    const asked = new Promise<PromiseSettledResult<unknown>[]>((resolve) => {
      const leave = agent.subscribe(({ type }) => {
        if (type !== 'run.start') return
        leave()
        resolve(Promise.allSettled([agent.spawn(echo('x')), agent.spawn(echo('x'))]))
      })
    })
    await agent.prompt('go').result
    const [first, second] = await asked
    assert.is(first?.status, 'fulfilled')
    assert.ok(second?.status === 'rejected' && withCode('CHILD_REFUSED', '1')(second.reason))
    assert.is(agent.children().length, 1)
  })

  it('has no place for a second task', async (context) => {
    const input = z.object({ task: z.number() })
    const worker = defineAgent({ name: 'worker', model, input })
    const { agent } = await startAgent(context, { replies: ['x'], agents: [worker] })
    const { stopReason, error } = await agent.prompt('go').result
    assert.is(stopReason, 'error')
    assert.match(error!.message, 'input has a field "task"')
    assert.throws(() => defineAgent({ name: 'a', model, input: z.string() as never }), bad)
  })

  it('may list itself, through a function, and is bounded by depth', async (context) => {
    let deepest = 0
    const self: AgentDefinition = defineAgent({
      name: 'self',
      model: policyModel(({ messages }) => {
        const last = messages.at(-1)!
        if (last.role === 'toolResult') return `told: ${textOf(last.content)}`
        return { toolCalls: [{ name: 'self', input: { task: 'go deeper' } }] }
      }),
      agents: () => [self],
    })
    const { agent, events } = await startAgent(context, { replies: [calls('self'), 'done'], agents: [self] })
    agent.subscribe(({ path }) => void (deepest = Math.max(deepest, path.length)), { descendants: true })
    await agent.prompt('go').result
    assert.is(deepest, 5)
    assert.match(results(events)[0]!, /told: told: .*at depth 6; 5 is the most allowed/)
  })

  it('may be a circle of two', async (context) => {
    const swap = (name: string, other: () => AgentDefinition): AgentDefinition =>
      defineAgent({
        name,
        agents: () => [other()],
        model: policyModel(({ messages }) => {
          const last = messages.at(-1)!
          if (last.role === 'toolResult') return textOf(last.content)
          return { toolCalls: [{ name: other().name, input: { task: 'your turn' } }] }
        }),
      })
    const ping: AgentDefinition = swap('ping', () => pong)
    const pong: AgentDefinition = swap('pong', () => ping)
    const { agent, events, store } = await startAgent(context, { replies: [calls('ping'), 'done'], agents: [ping] })
    await agent.prompt('go').result
    assert.match(results(events)[0]!, 'depth 6')
    assert.is((await store.list()).length, 6)
  })
})

describe('the output of a sub-agent', (it) => {
  const worker = (...replies: string[]) => {
    const model = scriptedModel(replies)
    return { model, definition: defineAgent({ name: 'worker', model, output: z.object({ n: z.number() }) }) }
  }

  it('is mended by its model, which is told what is wrong', async (context) => {
    const { model, definition } = worker('{"n": "x"}', '{"n": 1}')
    const { agent, events } = await startAgent(context, { replies: [calls('worker'), 'done'], agents: [definition] })
    assert.is((await agent.prompt('go').result).text, 'done')
    assert.equal(results(events), ['{"n": 1}'])
    assert.is(model.requests.length, 2)
    assert.match(textOf(model.requests[1]!.messages.at(-1)!.content), /n: give a number, not a string/)
  })

  it('that does not fit a third time is an error the caller can read', async (context) => {
    const { model, definition } = worker('not json', '[]', '{"n": "x"}', '{"n": 1}')
    const { agent, events } = await startAgent(context, {
      replies: [calls('worker'), 'done'],
      agents: [definition],
    })
    assert.is((await agent.prompt('go').result).text, 'done')
    assert.ok(ends(events)[0]!.message.isError)
    assert.match(results(events)[0]!, /The agent "worker" did not finish: .*does not fit the output schema: n:/)
    assert.is(model.requests.length, 3)
  })
})

describe('a sub-agent that has ended', (it) => {
  it('takes no prompt, no steering and no child, and ending it again does nothing', async (context) => {
    const { agent } = await startAgent(context, { replies: [] })
    for (const how of ['stop', 'close'] as const) {
      const child = await agent.spawn(echo('helper'))
      await child[how]()
      const over = withCode('AGENT_STOPPED')
      assert.throws(() => child.prompt('x'), over)
      assert.throws(() => child.steer('x'), over)
      assert.throws(() => child.abort(), over)
      await assert.rejects(child.spawn(echo('deeper')), over)
      await child[how]()
    }
    assert.equal(agent.children(), [])
  })

  it('is not begun anew when it was stopped for good, and goes on when it was closed', async (context) => {
    const { agent } = await startAgent(context, { replies: [] })
    const stopped = await agent.spawn(echo('helper'), { id: 'one' })
    await stopped.stop()
    await assert.rejects(
      agent.spawn(echo('helper'), { id: 'one' }),
      (thrown) => withCode('AGENT_STOPPED')(thrown) || withCode('CHILD_REFUSED')(thrown),
    )
    const closed = await agent.spawn(echo('helper'), { id: 'two' })
    await closed.prompt('remember').result
    await closed.close()
    const again = await agent.spawn(echo('helper'), { id: 'two' })
    await again.prompt('more').result
    assert.is(again.conversation.trunk().length, 4)
  })

  it('counts once, however often it was closed and begun again', async (context) => {
    const usage = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0 }
    const { agent, store } = await startAgent(context, { replies: [] })
    const helper = defineAgent({
      name: 'helper',
      model: scriptedModel(['a', 'b', 'c'].map((text) => ({ text, usage }))),
    })
    for (let life = 0; life < 3; life += 1) {
      const child = await agent.spawn(helper, { id: 'two' })
      await child.prompt('go').result
      await child.close()
    }
    const told = (await recordsOf(store, 'a1')).filter((record) => record.type === 'child.ended')
    assert.equal(
      told.map(({ spent }) => spent.usage.input),
      [10, 10, 10],
    )
  })
})

describe('a decision', (it) => {
  it('about a call that nobody asked of, or that is decided, is refused by every agent of the tree', async (context) => {
    const leaf = defineAgent({
      name: 'leaf',
      model: scriptedModel([{ toolCalls: [{ name: 'guarded', input: {}, callId: 'c0' }] }, 'done']),
      tools: [tool('guarded', () => 'ok', { needsApproval: true })],
    })
    const { agent, runtime } = await startAgent(context, {
      replies: [calls('leaf'), 'done'],
      agents: [leaf],
      check: false,
    })
    const run = agent.prompt('go')
    await quiet()
    const child = runtime.agent('a1.1')!
    const { key } = agent.approvals()[0]!
    const notPending = withCode('CALL_NOT_PENDING', 'waiting:')
    for (const unknown of ['c0', 'nope', '', `${key}x`]) assert.throws(() => agent.decide(unknown, 'approve'))
    assert.throws(() => child.decide('c1', 'deny'), withCode('CALL_NOT_PENDING', 'c0'))
    child.decide('c0', 'approve')
    for (const decided of [key, 'c0']) {
      assert.throws(() => agent.decide(decided, 'deny'), notPending)
      assert.throws(() => child.decide(decided, 'approve'), notPending)
    }
    assert.is((await run.result).text, 'done')
    assert.throws(() => agent.decide(key, 'approve'), notPending)
    assert.throws(() => child.decide('c0', 'approve'), withCode('AGENT_STOPPED'))
  })
})

describe('spawning a child from code', (it) => {
  it('refuses ids that are none, that are taken, and that calls get', async (context) => {
    const { agent, runtime } = await startAgent(context, { replies: [] })
    for (const id of ['', '../up', 'a b', 'x'.repeat(129), 5 as never])
      await assert.rejects(
        agent.spawn(echo('helper'), { id }),
        withCode(typeof id === 'string' ? 'INVALID_ID' : 'INVALID_OPTION'),
      )
    await assert.rejects(agent.spawn(echo('helper'), { id: 'a1.7' }), withCode('INVALID_ID'))
    await agent.spawn(echo('helper'), { id: 'mine' })
    await runtime.spawn(echo('other'), { id: 'theirs' })
    for (const id of ['a1', 'mine', 'theirs'])
      await assert.rejects(agent.spawn(echo('helper'), { id }), withCode('AGENT_EXISTS', `"${id}"`))
    assert.equal(
      agent.children().map(({ id }) => id),
      ['mine'],
    )
  })

  it('gives each an id of its own, also at the same time, and never that of a call', async (context) => {
    const { agent, store } = await startAgent(context, {
      replies: [calls('helper', 'helper'), 'done'],
      agents: [echo('helper')],
    })
    const spawned = Promise.all(Array.from({ length: 5 }, () => agent.spawn(echo('helper'))))
    const run = agent.prompt('go')
    const children = await spawned
    assert.is(new Set(children.map(({ id }) => id)).size, 5)
    assert.is((await run.result).text, 'done')
    assert.is((await store.list()).length, 8)
  })

  it('refuses the log of another agent', async (context) => {
    const { agent, runtime } = await startAgent(context, { replies: [] })
    const other = await runtime.spawn(echo('helper'), { id: 'other' })
    await other.close()
    await assert.rejects(agent.spawn(echo('helper'), { id: 'other' }), withCode('CHILD_REFUSED', 'that of another'))
    const child = await agent.spawn(echo('helper'), { id: 'mine' })
    await child.close()
    await assert.rejects(agent.spawn(echo('writer'), { id: 'mine' }), withCode('CHILD_REFUSED', 'that of another'))
  })

  it('refuses what is no definition, and options it does not know', async (context) => {
    const { agent } = await startAgent(context, { replies: [] })
    for (const entry of [null, 'x', {}, { definition: {} }]) await assert.rejects(agent.spawn(entry as never), bad)
    for (const options of [{ idd: 'x' }, null, 'x'])
      await assert.rejects(agent.spawn(echo('helper'), options as never), withCode('INVALID_OPTION'))
    assert.equal(agent.children(), [])
  })

  it('allows as many as maxChildren, at once or one by one, and one more when one has ended', async (context) => {
    const { agent } = await startAgent(context, { replies: [], maxChildren: 4 })
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => agent.spawn(echo('helper'))))
    assert.equal(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'],
    )
    await assert.rejects(agent.spawn(echo('helper')), withCode('CHILD_REFUSED', '4 sub-agents alive'))
    await agent.children()[0]!.stop()
    await agent.spawn(echo('helper'))
    assert.is(agent.children().length, 4)
  })

  it('is bounded by the depth of the root', async (context) => {
    const { agent } = await startAgent(context, { replies: [], maxDepth: 2 })
    const child = await agent.spawn(defineAgent({ name: 'helper', model: scriptedModel([]), maxDepth: 50 }))
    const grandchild = await child.spawn(echo('helper'))
    assert.equal(grandchild.path, ['a1', child.id])
    await assert.rejects(grandchild.spawn(echo('helper')), withCode('CHILD_REFUSED', 'depth 3'))
  })

  it('is refused by an agent that has stopped, is stopping, or stops meanwhile', async (context) => {
    const { agent, runtime } = await startAgent(context, { replies: [], check: false })
    const meanwhile = agent.spawn(echo('helper'))
    const refused = assert.rejects(meanwhile, withCode('AGENT_STOPPED'))
    const stopping = agent.stop()
    await assert.rejects(agent.spawn(echo('helper')), withCode('AGENT_STOPPED'))
    await stopping
    await refused
    await assert.rejects(agent.spawn(echo('helper')), withCode('AGENT_STOPPED'))
    assert.equal(runtime.agents(), [])
  })
})

describe('a call of a sub-agent', (it) => {
  it('is refused in words while code’s children hold every place, whatever the order of calls', async (context) => {
    for (const toolExecution of ['parallel', 'sequential', { batch: 2 }] as const) {
      const id = typeof toolExecution === 'string' ? toolExecution : 'batch'
      const { agent, events } = await startAgent(context, {
        id,
        toolExecution,
        replies: [calls('helper', 'look', 'helper', 'helper'), 'done'],
        agents: [echo('helper')],
        tools: [tool('look', () => 'seen')],
        maxChildren: 1,
      })
      const child = await agent.spawn(echo('helper'))
      assert.is((await agent.prompt('go').result).text, 'done')
      const refusal = 'No sub-agent was started: 1 are alive, the most allowed.'
      assert.equal(results(events), [refusal, 'seen', refusal, refusal])
      await child.stop()
    }
  })

  it('of an agent that is not there, and with arguments that do not fit, is answered so that the model can mend it', async (context) => {
    const replies = [
      { toolCalls: [{ name: 'nobody', input: { task: 'x' } }] },
      { toolCalls: ['', null, 5, ' '].map((task) => ({ name: 'helper', input: { task } })) },
      { toolCalls: [null, 'x', [], { task: 'x', and: 1 }].map((input) => ({ name: 'helper', input })) },
      'done',
    ]
    const { agent, events, store } = await startAgent(context, { replies, agents: [echo('helper')] })
    assert.is((await agent.prompt('go').result).text, 'done')
    assert.match(results(events)[0]!, 'There is no tool "nobody"')
    for (const text of results(events).slice(1)) assert.match(text, /^Invalid arguments: /)
    assert.ok(ends(events).every(({ message }) => message.isError))
    assert.equal(await store.list(), ['a1'])
  })
})
