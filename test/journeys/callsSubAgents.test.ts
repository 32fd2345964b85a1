import { z } from 'zod'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { AgentEvent, EventOf } from '../../src/protocol/events.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { sessionOf } from '../../packages/sessions/src/sessionProjection.ts'
import { quiet, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const asks = (...tasks: readonly (readonly [string, string])[]): ScriptedReply => ({
  toolCalls: tasks.map(([name, task]) => ({ name, input: { task } })),
})

const recordsOf = async (store: Store, agentId: string): Promise<LogRecord[]> => {
  const records: LogRecord[] = []
  for await (const record of store.read(agentId)) records.push(record)
  return records
}

const results = (events: readonly AgentEvent[]): { text: string; isError: boolean }[] =>
  events
    .filter((event): event is EventOf<'tool.end'> => event.type === 'tool.end')
    .map(({ message }) => ({ text: textOf(message.content), isError: message.isError }))

const echo = (name: string) =>
  defineAgent({
    name,
    description: `Echoes as ${name}.`,
    model: policyModel(({ messages }) => `${name} did: ${textOf(messages.at(-1)!.content)}`),
  })

describe('an agent that calls sub-agents', (it) => {
  it('gives each a task and gets its answer, each with a log of its own and links both ways', async (context) => {
    const { agent, store, events, script, records } = await startAgent(context, {
      replies: [asks(['reader', 'read it'], ['writer', 'write it']), 'done'],
      agents: [echo('reader'), echo('writer')],
    })
    const result = await agent.prompt('go').result
    assert.is(result.text, 'done')
    assert.equal(results(events), [
      { text: 'reader did: read it', isError: false },
      { text: 'writer did: write it', isError: false },
    ])
    assert.equal(
      script.requests[0]!.tools.map(({ name, description }) => [name, description]),
      [
        ['reader', 'Echoes as reader.'],
        ['writer', 'Echoes as writer.'],
      ],
    )
    const starts = (await records()).filter((record) => record.type === 'tool.start')
    assert.equal(
      starts.map(({ childId }) => childId),
      ['a1.1', 'a1.2'],
    )
    const child = await recordsOf(store, 'a1.1')
    const [created] = child
    assert.ok(created?.type === 'agent.created')
    assert.equal(created.path, ['a1'])
    assert.equal(created.parent, { agentId: 'a1', runId: 'a1/r0', turnIndex: 0, callId: starts[0]!.callId })
    assert.is(sessionOf(child).status, 'completed')
    assert.equal(agent.children(), [])
    assert.equal((await store.list()).toSorted(), ['a1', 'a1.1', 'a1.2'])
  })

  it('counts what they used as its own', async (context) => {
    const model = scriptedModel([{ text: 'x', usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 } }])
    const { agent } = await startAgent(context, {
      replies: [asks(['worker', 'a']), 'done'],
      agents: [defineAgent({ name: 'worker', model, pricing: { input: 1_000_000, output: 0 } })],
    })
    const result = await agent.prompt('go').result
    const own = [...agent.conversation.log()].flatMap(({ message }) =>
      message.role === 'assistant' ? [message.usage.input] : [],
    )
    assert.is(result.usage.input, 10 + own[0]! + own[1]!)
    assert.is(result.costUsd, 10)
    assert.is(result.turns, 2)
  })

  it('nests them, and every event carries the path', async (context) => {
    const leaf = echo('leaf')
    const middle = defineAgent({
      name: 'middle',
      model: scriptedModel([asks(['leaf', 'deep']), 'middle is done']),
      agents: [leaf],
    })
    const { agent, events } = await startAgent(context, {
      replies: [asks(['middle', 'x']), 'done'],
      agents: [middle],
      check: false,
    })
    const family: AgentEvent[] = []
    agent.subscribe((event) => void family.push(event), { descendants: true })
    await agent.prompt('go').result
    await agent.stop()
    const paths = new Set(family.map(({ agentId, path }) => [...path, agentId].join('/')))
    assert.equal([...paths].toSorted(), ['a1', 'a1/a1.1', 'a1/a1.1/a1.1.1'])
    assert.ok(events.every(({ agentId }) => agentId === 'a1'))
    const own = family.filter(({ agentId }) => agentId === 'a1')
    assert.equal(own.length, events.length)
    assert.ok(
      own.every((event, index) => event === events[index]),
      'by reference',
    )
  })

  it('refuses what is too deep, and bad arguments, with an error the model can read', async (context) => {
    const self: ReturnType<typeof defineAgent> = defineAgent({
      name: 'self',
      model: policyModel(({ messages }) => {
        const last = messages.at(-1)!
        if (last.role === 'toolResult') return textOf(last.content)
        return { toolCalls: [{ name: 'self', input: { task: 'go deeper' } }] }
      }),
      agents: () => [self],
    })
    const { agent, events } = await startAgent(context, {
      replies: [asks(['self', 'dive']), { toolCalls: [{ name: 'self', input: { task: ' ', more: 1 } }] }, 'done'],
      agents: [self],
      maxDepth: 3,
    })
    await agent.prompt('go').result
    const [deep, bad] = results(events)
    assert.match(deep!.text, /at depth 4; 3 is the most allowed/)
    assert.ok(bad!.isError)
    assert.match(bad!.text, /Invalid arguments: task: .*more/)
  })

  it('takes their input by schema and shows it to the model', async (context) => {
    const model = scriptedModel(['ok'])
    const worker = defineAgent({
      name: 'worker',
      model,
      input: z.object({ file: z.string(), line: z.number().optional() }),
    })
    const { agent, script } = await startAgent(context, {
      replies: [{ toolCalls: [{ name: 'worker', input: { task: 'fix', file: 'a.ts' } }] }, 'done'],
      agents: [worker],
    })
    await agent.prompt('go').result
    const [spec] = script.requests[0]!.tools
    assert.equal((spec!.inputSchema as { required: string[] }).required, ['task', 'file'])
    assert.match(textOf(model.requests[0]!.messages[0]!.content), /^fix\n\n\{\n {2}"file": "a.ts"\n\}$/)
  })

  it('shares its trunk with a forked one, and copies nothing', async (context) => {
    const model = scriptedModel(['I know'])
    const { agent, store } = await startAgent(context, {
      replies: ['hello', asks(['twin', 'what was said?']), 'done'],
      agents: [{ definition: defineAgent({ name: 'twin', model }), context: 'fork' }],
    })
    await agent.prompt('remember 7').result
    await agent.prompt('go').result
    assert.equal(
      model.requests[0]!.messages.map(({ role, content }) => [role, textOf(content)]),
      [
        ['user', 'remember 7'],
        ['assistant', 'hello'],
        ['user', 'gowhat was said?'],
      ],
    )
    const own = await recordsOf(store, 'a1.1')
    assert.is(own.filter((record) => record.type === 'message.added').length, 1)
  })

  it('aborts them with itself, within a tick', async (context) => {
    const signals: AbortSignal[] = []
    const slow = tool('slow', (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    })
    const worker = defineAgent({
      name: 'worker',
      model: scriptedModel([{ toolCalls: [{ name: 'slow', input: {} }] }]),
      tools: [slow],
    })
    const { agent, store, events } = await startAgent(context, { replies: [asks(['worker', 'x'])], agents: [worker] })
    const run = agent.prompt('go')
    while (signals.length === 0) await quiet()
    assert.equal(
      agent.tree().children.map(({ id, state }) => [id, state]),
      [['a1.1', 'executing']],
    )
    agent.abort()
    assert.ok(signals[0]!.aborted, 'in the same tick')
    assert.is((await run.result).stopReason, 'aborted')
    assert.is(results(events)[0]!.isError, true)
    assert.is(sessionOf(await recordsOf(store, 'a1.1')).status, 'aborted')
    assert.equal(agent.children(), [])
  })

  it('decides the approvals of a grandchild by their key', async (context) => {
    const guarded = tool('guarded', () => 'opened', { needsApproval: true })
    const leaf = defineAgent({
      name: 'leaf',
      model: scriptedModel([{ toolCalls: [{ name: 'guarded', input: {} }] }, 'leaf done']),
      tools: [guarded],
    })
    const middle = defineAgent({
      name: 'middle',
      model: scriptedModel([asks(['leaf', 'x']), 'middle done']),
      agents: [leaf],
    })
    const { agent, events } = await startAgent(context, {
      replies: [asks(['middle', 'x']), 'done'],
      agents: [middle],
      check: false,
    })
    const run = agent.prompt('go')
    let asked: EventOf<'approval.requested'> | undefined
    for await (const event of run) {
      if (event.type !== 'approval.requested') continue
      asked = event
      assert.equal(
        agent.approvals().map(({ agentId, key }) => [agentId, key]),
        [['a1.1.1', event.key]],
      )
      agent.decide(event.key, 'approve')
      assert.throws(() => agent.decide(event.key, 'approve'), withCode('CALL_NOT_PENDING'))
    }
    assert.is(asked?.agentId, 'a1.1.1')
    assert.ok(
      events.some((event) => event === asked),
      'the root listener hears of it',
    )
    const decided = events.flatMap((event) => (event.type === 'approval.decided' ? [event.key] : []))
    assert.equal(decided, [asked?.key])
    assert.is((await run.result).text, 'done')
  })

  it('keeps children within its budget, with siblings in parallel', async (context) => {
    const usage = { input: 60, output: 40, cacheRead: 0, cacheWrite: 0 }
    const greedy = (name: string) =>
      defineAgent({
        name,
        model: scriptedModel(Array.from({ length: 50 }, () => ({ toolCalls: [{ name: 'again', input: {} }], usage }))),
        tools: [tool('again', () => 'more')],
      })
    const { agent, events } = await startAgent(context, {
      replies: [{ toolCalls: ['one', 'two'].map((name) => ({ name, input: { task: 'x' } })), usage }],
      agents: [greedy('one'), greedy('two')],
      limits: { tokens: 1_100 },
    })
    const result = await agent.prompt('go').result
    assert.is(result.stopReason, 'paused')
    const total = result.usage.input + result.usage.output
    assert.ok(total <= 1_100, `${total} tokens`)
    assert.match(results(events)[0]!.text, /did not finish: its limit of 500 tokens was reached/)
  })

  it('spawns a child from code, which is stopped with it', async (context) => {
    const { agent, runtime, records } = await startAgent(context, { replies: ['hello'] })
    const child = await agent.spawn(echo('helper'))
    assert.is((await child.prompt('one').result).text, 'helper did: one')
    assert.is((await child.prompt('two').result).text, 'helper did: two')
    assert.equal(agent.children(), [child])
    assert.equal(runtime.agents(), [agent])
    assert.is(child.parent, agent)
    await agent.stop()
    assert.throws(() => child.prompt('three'), withCode('AGENT_STOPPED'))
    assert.equal(
      (await records()).map(({ type }) => type).filter((type) => type.startsWith('child.')),
      ['child.spawned', 'child.ended'],
    )
  })

  it('leaves a detached one alone: the call is answered at once, and an abort does not reach it', async (context) => {
    const hold = Promise.withResolvers<string>()
    const loner = defineAgent({
      name: 'loner',
      model: scriptedModel([{ toolCalls: [{ name: 'wait', input: {} }] }, 'loner is done']),
      tools: [tool('wait', () => hold.promise)],
    })
    const { agent, runtime, records } = await startAgent(context, {
      replies: [asks(['loner', 'x']), 'done'],
      agents: [{ definition: loner, detach: true }],
    })
    assert.is((await agent.prompt('go').result).text, 'done')
    assert.match(results((await records()) as unknown as AgentEvent[])[0]!.text, /works on it on its own, as a1.1/)
    const detached = runtime.agent('a1.1')!
    assert.equal(
      runtime.agents().map(({ id }) => id),
      ['a1', 'a1.1'],
    )
    await agent.stop()
    assert.is(detached.state, 'executing')
    const ended = new Promise<void>((resolve) => detached.subscribe(({ type }) => type === 'run.end' && resolve()))
    hold.resolve('ok')
    await ended
    assert.match(textOf(detached.conversation.trunk().at(-1)!.message.content), 'loner is done')
  })

  it('hands the conversation over, and waits or ends', async (context) => {
    const heir = (name: string) =>
      defineAgent({
        name,
        model: policyModel(
          ({ messages }) => `${name} knows: ${messages.map(({ content }) => textOf(content)).join(' | ')}`,
        ),
      })
    const { agent, runtime } = await startAgent(context, { replies: ['hello'], check: false })
    await agent.prompt('remember 7').result
    const waiting = await agent.handOver(heir('billing'))
    assert.is((await waiting.prompt('what?').result).text, 'billing knows: remember 7 | hello | what?')
    assert.is(waiting.parent, agent)
    await waiting.stop()
    const alone = await agent.handOver(heir('support'), { afterwards: 'end' })
    assert.is(alone.parent, undefined)
    assert.equal(runtime.agents(), [alone])
    assert.is((await alone.prompt('and?').result).text, 'support knows: remember 7 | hello | and?')
  })

  it('aborts children begun in a step that it gives up, and says so in the evidence', async (context) => {
    const { agent, events, records } = await startAgent(context, {
      replies: [
        { toolCalls: [{ name: 'look', input: {} }] },
        { toolCalls: [{ name: 'begin', input: {} }] },
        { toolCalls: [{ name: 'revert_to_state', input: { category: 'failure', step: 'n3', summary: 'no use' } }] },
        'done',
      ],
      braking: { revert: true },
      tools: [tool('look', () => 'seen'), tool('begin', async () => (await begin()).id)],
    })
    const slow = defineAgent({
      name: 'slow',
      model: scriptedModel([{ toolCalls: [{ name: 'never', input: {} }] }]),
      tools: [tool('never', () => new Promise(() => {}))],
    })
    const begin = async () => {
      const child = await agent.spawn(slow)
      child.prompt('work')
      return child
    }
    await agent.prompt('go').result
    const applied = (await records()).find((record) => record.type === 'revert.applied')
    assert.equal(applied?.tag?.evidence.children, [{ agentId: 'a1.s1', name: 'slow', aborted: true }])
    assert.is(agent.children()[0]?.state, 'idle')
    const last = events.findLast((event) => event.type === 'turn.request')
    assert.match(JSON.stringify(last?.request), /sub-agents: slow a1.s1 \(aborted\)/)
  })

  it('holds the reply of a sub-agent to what is left of its budget, and does not make a request that would pass it', async (context) => {
    const asked: (number | undefined)[] = []
    const usage = { input: 100, output: 50, cacheRead: 0, cacheWrite: 0 }
    const again = tool('again', () => 'more')
    const model = scriptedModel(Array.from({ length: 9 }, () => ({ toolCalls: [{ name: 'again', input: {} }], usage })))
    const worker = defineAgent({
      name: 'worker',
      model: {
        id: model.id,
        stream: (request, options) => {
          asked.push(request.settings.maxTokens)
          return model.stream(request, options)
        },
      },
      tools: [again],
      limits: { tokens: 400 },
    })
    const { agent, records } = await startAgent(context, { replies: [asks(['worker', 'x']), 'done'], agents: [worker] })
    await agent.prompt('go').result
    const end = (await records()).find((record) => record.type === 'tool.end')
    const { input, output } = end!.spent!.usage
    assert.ok(input + output <= 400, `${input + output}`)
    assert.ok(asked.every((most, index) => most !== undefined && most > 0 && most <= 400 - 150 * index))
    assert.match(textOf(end!.message.content), 'its limit of 400 tokens was reached')
  })

  it('answers with data of its schema, after a repair if need be, and else with an error', async (context) => {
    const output = z.object({ score: z.number() })
    const good = scriptedModel(['{"score": 7}'])
    const careless = scriptedModel(['seven', '{"score": 7}'])
    const hopeless = scriptedModel(['seven', 'eight', 'nine'])
    const judge = (name: string, model: typeof good) => defineAgent({ name, model, output })
    const { agent, records } = await startAgent(context, {
      replies: [asks(['good', 'x'], ['careless', 'x'], ['hopeless', 'x']), 'done'],
      agents: [judge('good', good), judge('careless', careless), judge('hopeless', hopeless)],
    })
    await agent.prompt('go').result
    const ends = (await records())
      .filter((record) => record.type === 'tool.end')
      .toSorted((a, b) => a.nodeId - b.nodeId)
    const [first, second, third] = ends.map(({ message }) => ({
      text: textOf(message.content),
      isError: message.isError,
    }))
    assert.equal(first, { text: '{"score": 7}', isError: false })
    assert.equal(second, { text: '{"score": 7}', isError: false })
    assert.match(
      textOf(careless.requests[1]!.messages.at(-1)!.content),
      /Your last answer cannot be used: it is not JSON\.\nIt was:\nseven/,
    )
    assert.ok(third!.isError)
    assert.match(third!.text, /did not finish: .*"nine"/)
    hopeless.assertComplete()
  })
})
