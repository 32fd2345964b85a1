import { z } from 'zod'
import { context, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { fallback } from '../../models/src/fallback.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { calls, never, quiet, stalled, tool } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { startTraced, startTracing } from './tracingProbe.ts'

const usage = { input: 100, output: 20, cacheRead: 30, cacheWrite: 7, reasoning: 5 }
const seen = tool('look', () => 'seen')

describe('the spans of a run', (it) => {
  it('are run, turn, model call and tool call, each inside the other', async (test) => {
    const { tracer, paths } = startTracing(test)
    const { agent } = await startTraced(test, { tracer, tools: [seen], replies: [calls('c', 'look', 'look'), 'done'] })
    await agent.prompt('go').result
    assert.equal(paths(), [
      'chat m-1 < turn < invoke_agent a',
      'execute_tool look < turn < invoke_agent a',
      'execute_tool look < turn < invoke_agent a',
      'turn < invoke_agent a',
      'chat m-1 < turn < invoke_agent a',
      'turn < invoke_agent a',
      'invoke_agent a',
    ])
  })

  it('carry the attributes of the GenAI conventions', async (test) => {
    const { tracer, spans, span } = startTracing(test)
    const { agent } = await startTraced(test, {
      tracer,
      settings: { maxTokens: 500, temperature: 0.5, topP: 0.9, seed: 3, stopSequences: ['END'], thinkingLevel: 'low' },
      pricing: { input: 1, output: 1 },
      tools: [seen],
      replies: [
        { toolCalls: [{ name: 'look', input: {}, callId: 'c0' }], usage },
        { text: 'done', usage },
      ],
    })
    const result = await agent.prompt('go').result
    const [chat] = spans()
    const request = {
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm-1',
      'gen_ai.request.max_tokens': 500,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.top_p': 0.9,
      'gen_ai.request.seed': 3,
      'gen_ai.request.stop_sequences': ['END'],
      'escapement.request.thinking_level': 'low',
    }
    const who = { site: 'test', 'gen_ai.agent.id': 'a1', 'gen_ai.agent.name': 'a', 'gen_ai.conversation.id': 'a1' }
    const { 'gen_ai.response.time_to_first_chunk': waited, ...rest } = chat!.attributes
    assert.ok(typeof waited === 'number' && waited >= 0)
    assert.equal(rest, {
      ...who,
      ...request,
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.stream': true,
      'gen_ai.response.finish_reasons': ['tool_call'],
      'gen_ai.response.model': 'm-1',
      'gen_ai.usage.input_tokens': 137,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.cache_read.input_tokens': 30,
      'gen_ai.usage.cache_creation.input_tokens': 7,
      'gen_ai.usage.reasoning.output_tokens': 5,
      'escapement.attempt': 1,
      'escapement.cost_usd': result.costUsd / 2,
    })
    assert.is(chat!.kind, SpanKind.CLIENT)
    assert.equal(
      chat!.events.map(({ name }) => name),
      ['reply.start'],
    )
    assert.equal(span('execute_tool look').attributes, {
      ...who,
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'look',
      'gen_ai.tool.call.id': 'c0',
      'gen_ai.tool.type': 'function',
    })
    assert.equal(span('invoke_agent a').attributes, {
      ...who,
      ...request,
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.usage.input_tokens': 274,
      'gen_ai.usage.output_tokens': 40,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'gen_ai.usage.cache_creation.input_tokens': 14,
      'gen_ai.usage.reasoning.output_tokens': 10,
      'escapement.run.id': 'a1/r0',
      'escapement.run.cause': 'prompt',
      'escapement.run.stop_reason': 'stop',
      'escapement.run.turns': 2,
      'escapement.cost_usd': result.costUsd,
    })
    assert.ok(spans().every(({ status }) => status.code === SpanStatusCode.UNSET))
  })

  it('hold nothing of what was said, unless content is asked for', async (test) => {
    const secrets = ['s-system', 's-user', 's-thought', 's-input', 's-result', 's-answer', 's-describe']
    const look = tool('look', () => 's-result', { description: 's-describe' })
    const whole = async (content: boolean): Promise<string> => {
      const { tracer, spans } = startTracing(test, { content })
      const { agent } = await startTraced(test, {
        tracer,
        instructions: 's-system',
        tools: [look],
        replies: [{ thinking: 's-thought', toolCalls: [{ name: 'look', input: { at: 's-input' } }] }, 's-answer'],
      })
      await agent.prompt('s-user').result
      return JSON.stringify(spans())
    }
    const without = await whole(false)
    assert.equal(
      secrets.filter((secret) => without.includes(secret)),
      [],
    )
    context.disable()
    const within = await whole(true)
    assert.equal(
      secrets.filter((secret) => !within.includes(secret)),
      [],
    )
  })

  it('hold messages in the form of the conventions', async (test) => {
    const { tracer, spans, span } = startTracing(test, { content: true })
    const { agent } = await startTraced(test, {
      tracer,
      tools: [seen],
      replies: [calls('c', ['look', { at: 1 }]), 'ok'],
    })
    await agent.prompt('go').result
    const second = spans().findLast(({ name }) => name === 'chat m-1')!.attributes
    const call = { type: 'tool_call', id: 'c0', name: 'look', arguments: { at: 1 } }
    assert.equal(JSON.parse(String(second['gen_ai.input.messages'])), [
      { role: 'user', parts: [{ type: 'text', content: 'go' }] },
      { role: 'assistant', parts: [call] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c0', response: 'seen' }] },
    ])
    assert.equal(JSON.parse(String(second['gen_ai.output.messages'])), [
      { role: 'assistant', parts: [{ type: 'text', content: 'ok' }], finish_reason: 'stop' },
    ])
    assert.is(span('execute_tool look').attributes['gen_ai.tool.call.arguments'], '{"at":1}')
    assert.is(span('execute_tool look').attributes['gen_ai.tool.call.result'], 'seen')
  })
})

describe('spans of what goes wrong', (it) => {
  it('a retry is a model call of its own, and the failed one says why', async (test) => {
    const { tracer, spans } = startTracing(test)
    const { agent, clock, untilState } = await startTraced(test, {
      tracer,
      replies: [{ error: { kind: 'rateLimited', message: 'slow down', retryAfterMs: 2_000 } }, 'done'],
    })
    const run = agent.prompt('go')
    await untilState('backoff')
    await clock.advance(2_000)
    await run.result
    const [failed, turn, fine] = [spans()[0]!, spans()[2]!, spans()[1]!]
    assert.equal([failed.name, fine.name, turn.name], ['chat m-1', 'chat m-1', 'turn'])
    assert.equal([failed.attributes['error.type'], failed.status.code], ['MODEL_RATE_LIMITED', SpanStatusCode.ERROR])
    assert.match(failed.status.message!, /slow down/)
    assert.equal([fine.attributes['escapement.attempt'], fine.status.code], [2, SpanStatusCode.UNSET])
    assert.equal(turn.events, [
      { name: 'retry', attributes: { 'escapement.attempt': 2, 'escapement.retry.wait_ms': 2_000 } },
    ])
  })

  it('of a turn that was prepared say by whom, and name the model and settings that were chosen', async (test) => {
    const { tracer, span, spans } = startTracing(test)
    const { agent } = await startTraced(test, {
      tracer,
      tools: [seen],
      settings: { temperature: 1 },
      models: { smart: scriptedModel(['done'], { id: 'openai:m-2' }) },
      beforeTurn: ({ turn }) => (turn === 2 ? { model: 'smart', tools: [], settings: { temperature: 0 } } : undefined),
      replies: [calls('c', 'look')],
    })
    await agent.prompt('go').result
    const asked = [
      'gen_ai.request.model',
      'gen_ai.provider.name',
      'gen_ai.request.temperature',
      'gen_ai.response.model',
    ]
    assert.equal(
      asked.map((name) => span('chat m-2').attributes[name]),
      ['m-2', 'openai', 0, 'm-2'],
    )
    assert.is(span('chat m-1').attributes['gen_ai.request.temperature'], 1)
    const turns = spans().filter(({ name }) => name === 'turn')
    assert.equal(
      turns.map(({ attributes: { 'escapement.turn.prepared_by': by, 'escapement.turn.tools': tools } }) => [by, tools]),
      [
        [undefined, undefined],
        [['beforeTurn'], []],
      ],
    )
  })

  it('a model that takes over has a call of its own, with its own name', async (test) => {
    const { tracer, spans } = startTracing(test)
    const broken = scriptedModel([{ error: { kind: 'network', message: 'down' } }], { id: 'openai:m-1' })
    const backup = scriptedModel(['done'], { id: 'anthropic:m-2' })
    const { agent } = await startTraced(test, { tracer, model: fallback([broken, backup]) })
    await agent.prompt('go').result
    const [failed, fine] = spans()
    assert.equal([failed!.name, fine!.name], ['chat m-1', 'chat m-2'])
    assert.equal([failed!.attributes['error.type'], fine!.status.code], ['MODEL_NETWORK', SpanStatusCode.UNSET])
    assert.equal(
      ['gen_ai.provider.name', 'gen_ai.response.model', 'escapement.attempt'].map((name) => fine!.attributes[name]),
      ['anthropic', 'm-2', 2],
    )
  })

  it('a run that fails has the code of its error', async (test) => {
    const { tracer, span } = startTracing(test)
    const { agent } = await startTraced(test, { tracer, replies: [{ error: { kind: 'auth', message: 'bad key' } }] })
    await agent.prompt('go').result
    for (const name of ['chat m-1', 'invoke_agent a']) {
      assert.equal([name, span(name).attributes['error.type']], [name, 'MODEL_AUTH'])
      assert.is(span(name).status.code, SpanStatusCode.ERROR)
    }
    assert.equal(span('turn').events, [])
  })

  it('an error that quotes the conversation is told without its text', async (test) => {
    const { tracer, spans } = startTracing(test)
    const { agent } = await startTraced(test, {
      tracer,
      replies: [{ error: { kind: 'badRequest', message: 'cannot read "s-secret"' } }],
    })
    await agent.prompt('go').result
    assert.not.match(JSON.stringify(spans()), /s-secret/)
  })

  it('a tool that throws is an error; one that was denied is an event of its turn', async (test) => {
    const { tracer, span, spans } = startTracing(test)
    const bad = tool('bad', () => {
      throw new Error('s-secret')
    })
    const risky = tool('risky', () => 'did it', { needsApproval: true })
    const { agent, untilState } = await startTraced(test, {
      tracer,
      tools: [bad, risky],
      replies: [calls('c', 'bad', 'risky'), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c1', 'deny', 's-reason')
    await run.result
    const failed = span('execute_tool bad')
    assert.equal([failed.attributes['error.type'], failed.status.code], ['tool_error', SpanStatusCode.ERROR])
    const turn = spans().find(({ name }) => name === 'turn')!
    assert.equal(
      turn.events.map(({ name }) => name),
      ['approval.requested', 'approval.decided', 'tool.end'],
    )
    assert.is(turn.events[1]!.attributes['escapement.approval.decision'], 'deny')
    assert.not.match(JSON.stringify(spans()), /s-secret|s-reason/)
  })

  it('a question and its answer are marks, without their words', async (test) => {
    const { tracer, spans } = startTracing(test)
    const { agent, untilState, runtime } = await startTraced(test, {
      tracer,
      tools: [tool('poll', (_, { ask }) => ask(z.string(), 'the s-question'))],
      replies: [calls('c', 'poll'), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', { value: 's-answer' })
    await run.result
    await runtime.close()
    const turn = spans().find(({ name }) => name === 'turn')!
    assert.equal(
      turn.events.map(({ name }) => name),
      ['question.asked', 'question.answered'],
    )
    assert.is(turn.events[1]!.attributes['escapement.question.decision'], 'answer')
    assert.not.match(JSON.stringify(spans()), /s-question|s-answer/)
  })

  it('a run that answers because of a limit says which, and no pause', async (test) => {
    const { tracer, span } = startTracing(test)
    const replies = [calls('c', 'look'), 'what I know', calls('d', 'look')]
    const { agent } = await startTraced(test, { tracer, tools: [seen], replies })
    await agent.prompt('go', { limits: { turns: 1, onLimit: 'answer' } }).result
    const reached = ({ attributes }: ReturnType<typeof span>): unknown[] => [
      attributes['escapement.run.stop_reason'],
      attributes['escapement.run.limit'],
      attributes['escapement.run.pause'],
    ]
    assert.equal(reached(span('invoke_agent a')), ['stop', 'turns', undefined])
  })

  it('an abort ends every open span, and is no error', async (test) => {
    const { tracer, spans, open } = startTracing(test)
    const { agent, until, runtime } = await startTraced(test, {
      tracer,
      tools: [tool('slow', () => never)],
      replies: [calls('c', 'slow')],
    })
    const run = agent.prompt('go')
    await until('tool.start')
    agent.abort()
    await run.result
    assert.equal(open(), [])
    const cut = spans().find(({ name }) => name === 'execute_tool slow')!
    assert.equal([cut.attributes['escapement.cut_off'], cut.status.code], [true, SpanStatusCode.UNSET])
    assert.is(spans().at(-1)!.attributes['escapement.run.stop_reason'], 'aborted')
    await runtime.close()
  })

  it('an abort in the middle of a reply ends the model call', async (test) => {
    for (const words of [[], ['half a ']]) {
      const probe = startTracing(test)
      const { agent, untilState, runtime } = await startTraced(test, {
        tracer: probe.tracer,
        replies: [stalled(words, never)],
      })
      const run = agent.prompt('go')
      await untilState(words.length === 0 ? 'replying.requesting' : 'replying.streaming')
      await quiet()
      agent.abort()
      await run.result
      assert.equal(probe.open(), [])
      assert.is(probe.span('chat m-1').attributes['escapement.cut_off'], true)
      await runtime.close()
      context.disable()
    }
  })

  it('closing an agent that waits for approvals ends its spans', async (test) => {
    const { tracer, spans, open } = startTracing(test)
    const { agent, untilState, runtime } = await startTraced(test, {
      tracer,
      tools: [tool('risky', () => 'did it', { needsApproval: true })],
      replies: [calls('c', 'risky')],
    })
    void agent.prompt('go')
    await untilState('paused')
    assert.equal(open(), ['invoke_agent a', 'turn'])
    await runtime.close()
    assert.equal(open(), [])
    assert.ok(spans().every(({ name, attributes }) => name === 'chat m-1' || attributes['escapement.cut_off'] === true))
  })

  it('a log of another process that is resumed ends nothing that never began', async (test) => {
    const { tracer, paths } = startTracing(test)
    const store = memoryStore()
    const old = await startTraced(test, {
      store: { ...store, close: async () => {} },
      tools: [tool('risky', () => 'did it', { needsApproval: true })],
      replies: [calls('c', 'risky')],
    })
    void old.agent.prompt('go')
    await old.untilState('paused')
    await old.runtime.close()
    const runtime = await createRuntime({ store, tracer })
    test.cleanup(() => runtime.close())
    const again = defineAgent({
      name: 'a',
      model: scriptedModel(['done'], { id: 'openai:m-1' }),
      tools: [tool('risky', () => 'did it', { needsApproval: true })],
    })
    const agent = await runtime.resume('a1', again)
    agent.decide('c0', 'approve')
    while (agent.state !== 'idle') await quiet()
    assert.equal(paths(), [
      'execute_tool risky < turn < invoke_agent a',
      'turn < invoke_agent a',
      'chat m-1 < turn < invoke_agent a',
      'turn < invoke_agent a',
      'invoke_agent a',
    ])
  })
})

describe('the spans of an incognito agent', (it) => {
  it('are marked and carry no content, though the tracer was told to keep it', async (test) => {
    const probe = startTracing(test, { content: true })
    const { runtime } = await startTraced(test, { tracer: probe.tracer, replies: [] })
    const look = tool('look', () => 's-result')
    const model = scriptedModel([calls('c', ['look', { at: 's-input' }]), 's-reply'])
    const definition = defineAgent({ name: 'hidden', model, tools: [look], instructions: 's-system' })
    const agent = await runtime.spawn(definition, { incognito: true })
    await agent.prompt('s-prompt').result
    await agent.stop()
    assert.ok(probe.spans().length >= 5)
    for (const { name, attributes } of probe.spans()) assert.is(attributes['escapement.agent.incognito'], true, name)
    assert.not.match(JSON.stringify(probe.spans()), 's-')
  })
})
