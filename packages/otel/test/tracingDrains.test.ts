import { llmStrategy } from '../../policies/src/llmStrategy.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { calls, delta, done, gate, quiet, tool, usageOf } from '../../../test/support/agentHarness.ts'
import type { ModelPart } from '../../../src/protocol/ports/model.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { startTraced, startTracing } from './tracingProbe.ts'

const seen = tool('look', () => 'seen')
const back = (step: string, more: object = {}): readonly [string, unknown] => [
  'revert_to_state',
  { category: 'failure', step, summary: 's-note', ...more },
]

describe('the span of a drain', (it) => {
  it('lasts from what was asked for to the answer, inside the turn', async (test) => {
    const { tracer, paths, span } = startTracing(test)
    const { agent } = await startTraced(test, {
      tracer,
      braking: { revert: true },
      tools: [seen],
      replies: [calls('a', 'look'), calls('b', back('n1')), 'done'],
    })
    await agent.prompt('go').result
    assert.ok(paths().includes('drain < turn < invoke_agent a'))
    const { events, attributes } = span('drain')
    assert.equal(events, [
      {
        name: 'revert.requested',
        attributes: { 'escapement.revert.by': 'model', 'escapement.revert.category': 'failure' },
      },
      {
        name: 'revert.applied',
        attributes: {
          'escapement.revert.applied': true,
          'escapement.revert.category': 'failure',
          'escapement.revert.target': 'n1',
          'escapement.revert.abandoned': 4,
        },
      },
    ])
    assert.is(attributes['gen_ai.agent.id'], 'a1')
  })

  it('says why a revert was refused, unless that quotes the model', async (test) => {
    const { tracer, spans } = startTracing(test)
    const { agent } = await startTraced(test, {
      tracer,
      braking: { revert: true },
      tools: [seen],
      replies: [calls('a', 'look'), calls('b', back('n99')), calls('c', back('s-secret')), 'done'],
    })
    await agent.prompt('go').result
    const reasons = spans()
      .filter(({ name }) => name === 'drain')
      .map(({ events }) => events[1]!.attributes)
    assert.equal(
      reasons.map((attributes) => attributes['escapement.revert.applied']),
      [false, false],
    )
    assert.match(String(reasons[0]!['escapement.revert.reason']), /n99 not found/)
    assert.is(reasons[1]!['escapement.revert.reason'], undefined)
    assert.not.match(JSON.stringify(spans()), /s-secret|s-note/)
  })

  it('is the active one while a model writes the summary, and has its usage', async (test) => {
    const { tracer, api, paths, span } = startTracing(test)
    const summaryModel = {
      id: 'openai:small',
      async *stream() {
        await quiet()
        api.startSpan('POST summary').end()
        yield done([{ type: 'text', text: 'it was wrong' }], { usage: usageOf(40, 4) })
      },
    }
    const { agent } = await startTraced(test, {
      tracer,
      braking: { revert: { summaryModel } },
      tools: [seen],
      replies: [calls('a', 'look'), calls('b', ['revert_to_state', { category: 'failure', step: 'n1' }]), 'done'],
    })
    await agent.prompt('go').result
    assert.ok(paths().includes('POST summary < drain < turn < invoke_agent a'))
    assert.is(span('drain').attributes['gen_ai.usage.input_tokens'], 40)
  })

  it('of a person at rest hangs on what surrounded the command', async (test) => {
    const { tracer, api, paths, open } = startTracing(test)
    const { agent, until } = await startTraced(test, {
      tracer,
      braking: { revert: true },
      tools: [seen],
      replies: [calls('a', 'look'), 'wrong'],
    })
    await agent.prompt('go').result
    api.startActiveSpan('POST /revert', (span) => {
      agent.revert('n3', { category: 'failure', summary: 'no' })
      span.end()
    })
    await until('revert.applied')
    assert.ok(paths().includes('drain < POST /revert'))
    assert.equal(open(), [])
  })

  it('covers grafts too', async (test) => {
    const { tracer, span } = startTracing(test)
    const { agent } = await startTraced(test, {
      tracer,
      braking: { revert: true, graft: true },
      tools: [seen],
      replies: [
        calls('a', 'look'),
        calls('b', ['revert_to_state', { category: 'failure', step: 'n1' }], ['graft', { steps: ['n3'] }]),
        'done',
      ],
    })
    await agent.prompt('go').result
    const { events } = span('drain')
    assert.equal(
      events.map(({ name }) => name).filter((name) => name.startsWith('graft')),
      ['graft.requested', 'graft.applied'],
    )
    const { attributes } = events.find(({ name }) => name === 'graft.applied')!
    assert.equal(
      [attributes?.['escapement.graft.applied'], attributes?.['escapement.graft.from']],
      [true, ['n2', 'n3']],
    )
  })

  it('covers prunes too', async (test) => {
    const { tracer, span } = startTracing(test)
    const { agent } = await startTraced(test, {
      tracer,
      braking: { prune: true },
      tools: [seen],
      replies: [calls('a', 'look'), calls('b', 'look'), calls('c', ['prun', { steps: ['n3'] }]), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(
      span('drain').events.map(({ name }) => name),
      ['prune.requested', 'prune.applied'],
    )
  })

  it('follows a stall, which is an event of its turn and quotes no call', async (test) => {
    const { tracer, span, spans } = startTracing(test)
    const { agent } = await startTraced(test, {
      tracer,
      braking: { stall: { note: false } },
      tools: [tool('look', () => 'seen', { effects: 'none' })],
      replies: [...['a', 'b', 'c'].map((id) => calls(id, ['look', { at: 's-secret' }])), 'done'],
    })
    await agent.prompt('go').result
    const found = spans().flatMap(({ events }) => events.filter(({ name }) => name === 'stall.detected'))
    assert.equal(
      found.map(({ attributes }) => [attributes['escapement.stall.rule'], attributes['escapement.stall.rung']]),
      [['repeat', 'revert']],
    )
    assert.is(span('drain').events[0]?.attributes['escapement.revert.by'], 'runtime')
    assert.not.match(JSON.stringify(spans()), 's-secret')
  })

  it('covers pins too', async (test) => {
    const { tracer, span } = startTracing(test)
    const { agent, until } = await startTraced(test, { tracer, replies: ['done'] })
    await agent.prompt('go').result
    agent.pin('n2')
    await until('pin.applied')
    assert.equal(
      span('drain').events.map(({ name, attributes }) => [name, attributes['escapement.pin.step']]),
      [
        ['pin.requested', undefined],
        ['pin.applied', 'n2'],
      ],
    )
  })

  it('outlives a run that fails before the drain', async (test) => {
    const { tracer, paths, open } = startTracing(test)
    const held = gate()
    const failing = async function* (): AsyncGenerator<ModelPart> {
      yield delta('half')
      await held.promise
      yield { type: 'error', error: { kind: 'auth', message: 'bad key' } }
    }
    const { agent, untilState, until } = await startTraced(test, {
      tracer,
      braking: { revert: true },
      tools: [seen],
      replies: [calls('a', 'look'), 'fine', { parts: failing() }],
    })
    await agent.prompt('go').result
    const run = agent.prompt('again')
    await untilState('replying.streaming')
    agent.revert('n3', { category: 'failure', summary: 'no' })
    held.resolve()
    await run.result
    await until('revert.applied')
    assert.equal(open(), [])
    assert.equal(paths().slice(-2), ['invoke_agent a', 'drain < turn < invoke_agent a'])
  })
})

describe('the span of a compaction', (it) => {
  it('is inside its turn, around the model that summarises, and says what was saved', async (test) => {
    const { tracer, api, paths, spans } = startTracing(test)
    const long = 'long words '.repeat(40)
    const model = {
      id: 'openai:small',
      async *stream() {
        await quiet()
        api.startSpan('POST summary').end()
        yield done([{ type: 'text', text: 's-summary' }], { usage: usageOf(300, 9) })
      },
    }
    const looking = Array.from({ length: 8 }, (_, turn) => calls(`t${turn}-`, ['look', { turn }]))
    const { agent } = await startTraced(test, {
      tracer,
      tools: [tool('look', (input) => `${JSON.stringify(input)} ${long}`)],
      compaction: {
        contextWindow: 1_000,
        keepFirst: 1,
        keepRecent: 2,
        maxSummaryTokens: 100,
        strategy: llmStrategy({ model }),
      },
      model: scriptedModel([...looking, 'the end'], { id: 'openai:m-1' }),
    })
    await agent.prompt('go').result
    assert.ok(paths().includes('POST summary < compaction < turn < invoke_agent a'))
    const { attributes } = spans().find(
      ({ name, attributes: { 'escapement.compaction.applied': applied } }) => name === 'compaction' && applied === true,
    )!
    assert.is(attributes['escapement.compaction.cause'], 'headroom')
    assert.is(attributes['gen_ai.usage.output_tokens'], 9)
    const [before, after] = ['before', 'after'].map((when) => attributes[`escapement.compaction.tokens_${when}`])
    assert.ok(Number(after) < Number(before))
    assert.not.match(JSON.stringify(spans()), /s-summary/)
  })

  it('after an overflow follows the failed call, and the next call is an attempt of its own', async (test) => {
    const { tracer, spans } = startTracing(test)
    const overflow = { error: { kind: 'overflow', message: 'prompt is too long' } } as const
    const looking = Array.from({ length: 4 }, (_, turn) => calls(`t${turn}-`, ['look', { turn }]))
    const { agent } = await startTraced(test, {
      tracer,
      tools: [tool('look', () => 'long words '.repeat(40))],
      compaction: { contextWindow: 100_000, keepFirst: 1, keepRecent: 1, maxSummaryTokens: 100 },
      replies: [...looking, overflow, 'the end'],
    })
    await agent.prompt('go').result
    const last = spans().slice(-5)
    assert.equal(
      last.map(({ name }) => name),
      ['chat m-1', 'compaction', 'chat m-1', 'turn', 'invoke_agent a'],
    )
    assert.is(last[0]!.attributes['error.type'], 'MODEL_OVERFLOW')
    assert.is(last[1]!.attributes['escapement.compaction.cause'], 'overflow')
    assert.is(last[2]!.attributes['escapement.attempt'], 2)
  })
})
