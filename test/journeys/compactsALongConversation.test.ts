import { heuristicStrategy, type CompactionStrategy } from '../../src/actors/brakes/compaction/summariseSpan.ts'
import { llmStrategy } from '../../packages/policies/src/llmStrategy.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { textIn } from '../support/brakeLog.ts'
import {
  calls,
  never,
  saidIn,
  stalled,
  startAgent,
  tool,
  usageOf,
  type Harness,
  type HarnessOptions,
} from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const overflow = { error: { kind: 'overflow', message: 'prompt is too long' } } as const
const long = 'long words '.repeat(40)
const policy = { contextWindow: 1_000, keepFirst: 1, keepRecent: 2, maxSummaryTokens: 100 }

/** An agent whose tool output fills its small window within a few turns. */
const startLong = (
  context: CaseContext,
  options: HarnessOptions & { strategy?: CompactionStrategy; turns?: number; last?: readonly ScriptedReply[] } = {},
): Promise<Harness> => {
  const { strategy = heuristicStrategy, turns = 16, last = ['the end'], ...rest } = options
  const looking = Array.from({ length: turns }, (_, turn) => calls(`t${turn}-`, ['look', { turn }]))
  return startAgent(context, {
    tools: [tool('look', (input) => `${JSON.stringify(input)} ${long}`, { effects: 'none' })],
    compaction: { ...policy, strategy },
    replies: [...looking, ...last],
    ...rest,
  })
}

describe('a conversation that fills its window', (it) => {
  it('is compacted between turns, keeps what the user said, and goes on', async (context) => {
    const { agent, ofType, script } = await startLong(context)
    const result = await agent.prompt('remember the number 42').result
    assert.is(result.text, 'the end')
    const ends = ofType('compaction.end').filter(({ applied }) => applied)
    assert.ok(ends.length >= 1)
    for (const { tokensBefore, tokensAfter } of ends) assert.ok(tokensAfter <= tokensBefore * 0.8)
    const last = script.requests.at(-1)!
    assert.match(saidIn(last)[0]!, /42/)
    assert.match(JSON.stringify(last), /<conversation-summary span=/)
    assert.ok(last.messages.length < agent.conversation.trunk().length)
    assert.is(agent.conversation.trunk().length, agent.conversation.log().length)
    assert.ok(script.requests.every((request) => JSON.stringify(request.messages).length / 3.5 < 1_100))
  })

  it('shows user messages of the middle word for word', async (context) => {
    const { agent, script, ofType } = await startLong(context, {
      replies: [
        ...Array.from({ length: 3 }, (_, n) => calls(`a${n}-`, 'look')),
        'one',
        ...Array.from({ length: 12 }, (_, n) => calls(`b${n}-`, 'look')),
        'two',
      ],
    })
    await agent.prompt('first wish').result
    await agent.prompt('second wish, word for word').result
    assert.ok(ofType('compaction.end').some(({ overlay }) => overlay !== undefined && overlay.kept.length > 0))
    assert.ok(saidIn(script.requests.at(-1)).includes('second wish, word for word'))
  })

  it('is summarised by a model that is told the focus, and its usage counts', async (context) => {
    const summary = scriptedModel(
      Array.from({ length: 4 }, () => ({ text: 'All looks were fine.', usage: usageOf(500, 7) })),
    )
    const { agent, script, ofType } = await startLong(context, {
      strategy: llmStrategy({ model: summary, focus: 'the port numbers' }),
    })
    const { usage, stopReason } = await agent.prompt('go').result
    assert.is(stopReason, 'stop')
    assert.match(summary.requests[0]!.system, /the port numbers/)
    assert.equal(summary.requests[0]!.tools, [])
    assert.match(saidIn(summary.requests[0])[0]!, /<transcript>[^]*look[^]*<\/transcript>/)
    assert.match(JSON.stringify(script.requests.at(-1)), /All looks were fine\./)
    const ends = ofType('compaction.end')
    assert.equal(ends[0]!.usage, usageOf(500, 7))
    const replies = ofType('reply.end').reduce((sum, { message }) => sum + message.usage.output, 0)
    assert.is(usage.output, replies + 7 * ends.length)
  })

  it('is summarised with its earlier summary, if its own model is asked where it sees it', async (context) => {
    const model = policyModel(({ messages }) => {
      const isQuestion = textIn(messages.slice(-1)).includes('kind="question"')
      if (isQuestion) questions.push(textIn(messages.slice(-1)))
      return isQuestion ? 'All looks were fine.' : { toolCalls: [{ name: 'look', input: { at: messages.length } }] }
    })
    const questions: string[] = []
    const { agent, ofType } = await startLong(context, {
      model,
      strategy: llmStrategy(),
      compaction: { ...policy, contextWindow: 12_000, strategy: llmStrategy() },
      tools: [tool('look', () => long.repeat(8), { effects: 'none' })],
      limits: { turns: 24 },
      reframes: true,
    })
    await agent.prompt('go').result
    assert.ok(ofType('compaction.end').filter(({ applied }) => applied).length > 1)
    assert.equal(
      questions.slice(0, 2).map((text) => text.includes('summary of what came earlier')),
      [false, true],
    )
  })

  for (const [what, replies] of [
    ['fails', [{ error: { kind: 'auth', message: 'no key' } }]],
    ['answers nothing', ['']],
    ['is cut off', [{ text: 'Goal: fix the par', stopReason: 'length', usage: usageOf(5_000, 7) }]],
    ['refuses', [{ text: 'I cannot help with that.', stopReason: 'refusal', usage: usageOf(5_000, 7) }]],
    ['calls a tool', [{ toolCalls: [{ name: 'look', input: {} }], usage: usageOf(5_000, 7) }]],
    [
      'throws',
      [
        () => {
          throw new Error('boom')
        },
      ],
    ],
  ] as const satisfies readonly (readonly [string, readonly ScriptedReply[]])[]) {
    it(`falls back on the heuristic when the summary's model ${what}`, async (context) => {
      const summary = scriptedModel(replies)
      const { agent, ofType } = await startLong(context, { strategy: llmStrategy({ model: summary }), turns: 7 })
      assert.is((await agent.prompt('go').result).text, 'the end')
      const [end] = ofType('compaction.end')
      assert.is(end!.applied, true)
      assert.match(end!.reason!, /"llm" failed, so the heuristic was used/)
      assert.match(end!.overlay!.summary, /look/)
      // What a summary used that cannot be taken is counted.
      assert.is(end!.usage?.input, /cut off|refuses|calls/.test(what) ? 5_000 : end!.usage?.input)
    })
  }

  it('falls back on the heuristic when the summary takes too long, even if its model ignores the signal', async (context) => {
    const deaf = scriptedModel([stalled(['x'], never)])
    const { agent, ofType, clock, untilState } = await startLong(context, {
      strategy: llmStrategy({ model: deaf, timeoutMs: 5_000 }),
      turns: 7,
    })
    const run = agent.prompt('go')
    await untilState('compacting')
    await clock.advance(4_999)
    assert.is(agent.state, 'compacting')
    await clock.advance(1)
    assert.is((await run.result).text, 'the end')
    assert.match(ofType('compaction.end')[0]!.reason!, /heuristic was used/)
  })

  it('survives a strategy that returns nothing', async (context) => {
    const strategy = { name: 'nothing', summarise: async () => undefined as never }
    const { agent, ofType } = await startLong(context, { strategy, turns: 8 })
    assert.is((await agent.prompt('go').result).text, 'the end')
    assert.ok(ofType('compaction.end').every(({ applied, reason }) => !applied && reason !== undefined))
  })

  it('pays no model for a summary that could not save enough, and plans again only once the trunk has grown', async (context) => {
    const unpaid = scriptedModel([])
    const strategy = llmStrategy({ model: unpaid })
    const { agent, ofType } = await startLong(context, { compaction: { ...policy, strategy, minShrink: 0.95 } })
    assert.is((await agent.prompt('go').result).text, 'the end')
    const ends = ofType('compaction.end')
    assert.ok(
      ends.length >= 2 && ends.every(({ applied, reason }) => !applied && /could save [\d.]+ %/.test(reason ?? '')),
    )
    assert.equal([unpaid.requests.length, ends[0]?.usage], [0, undefined])
    for (const [index, { tokensBefore }] of ends.slice(1).entries())
      assert.ok(tokensBefore > ends[index]!.tokensBefore + 100)
  })

  it('refuses a summary that saves too little because it is long', async (context) => {
    const strategy = { name: 'chatty', summarise: async () => ({ text: 'blah '.repeat(200) }) }
    const { agent, ofType } = await startLong(context, { compaction: { ...policy, strategy, minShrink: 0.55 } })
    assert.is((await agent.prompt('go').result).text, 'the end')
    assert.match(
      ofType('compaction.end')[0]?.reason ?? '',
      /^it would save only [\d.]+ % of the request, less than 55 %$/,
    )
  })

  it('is left alone when compaction is off', async (context) => {
    const { agent, ofType } = await startLong(context, { compaction: false })
    assert.is((await agent.prompt('go').result).text, 'the end')
    assert.equal(ofType('compaction.start'), [])
  })

  it('can be aborted while it is compacted', async (context) => {
    const summary = scriptedModel([stalled(['x'], never)])
    const { agent, ofType, untilState } = await startLong(context, {
      strategy: llmStrategy({ model: summary }),
      turns: 7,
      last: ['after'],
    })
    const run = agent.prompt('go')
    await untilState('compacting')
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.equal(
      ofType('compaction.end').map(({ applied, reason }) => [applied, reason]),
      [[false, 'aborted']],
    )
    assert.is(agent.state, 'idle')
  })

  it('takes steering that came while it was compacted', async (context) => {
    const open = Promise.withResolvers<{ text: string }>()
    const strategy = { name: 'slow', summarise: () => open.promise }
    const { agent, untilState, script } = await startLong(context, { strategy, turns: 7 })
    const run = agent.prompt('go')
    await untilState('compacting')
    agent.steer('hurry up')
    open.resolve({ text: 'short' })
    await run.result
    assert.ok(script.requests.some((request) => saidIn(request).includes('hurry up')))
  })
})

describe('a request that is too large for the model', (it) => {
  const startOverflowing = (context: CaseContext, last: readonly ScriptedReply[], options: HarnessOptions = {}) =>
    startLong(context, { turns: 6, compaction: { ...policy, contextWindow: 1_000_000 }, last, ...options })

  it('is compacted and sent once more, and observers see the request that was sent', async (context) => {
    const { agent, ofType, script } = await startOverflowing(context, [overflow, 'the end'])
    const result = await agent.prompt('go').result
    assert.equal([result.text, result.turns], ['the end', 7])
    assert.equal(
      ofType('compaction.start').map(({ cause }) => cause),
      ['overflow'],
    )
    assert.is(ofType('compaction.end')[0]!.applied, true)
    assert.equal(
      ofType('reply.reset').map(({ error, retryAt }) => [error.code, retryAt]),
      [['MODEL_OVERFLOW', undefined]],
    )
    assert.is(script.requests.length, 8)
    assert.ok(script.requests[7]!.messages.length < script.requests[6]!.messages.length)
    assert.equal(ofType('turn.request').at(-1)!.request.messages, script.requests[7]!.messages)
  })

  it('ends the run when it is still too large', async (context) => {
    const { agent, script, ofType } = await startOverflowing(context, [overflow, overflow, 'after'])
    const { stopReason, error } = await agent.prompt('go').result
    assert.equal([stopReason, error?.code, script.requests.length], ['error', 'MODEL_OVERFLOW', 8])
    assert.is(ofType('compaction.start').length, 1)
    assert.is((await agent.prompt('again').result).text, 'after')
  })

  it('ends the run when there is nothing to compact', async (context) => {
    const { agent, ofType } = await startAgent(context, { replies: [overflow, 'short'] })
    const { stopReason, error } = await agent.prompt(long).result
    assert.equal([stopReason, error?.code], ['error', 'MODEL_OVERFLOW'])
    assert.match(ofType('compaction.end')[0]!.reason!, /no middle/)
    assert.is((await agent.prompt('short').result).text, 'short')
  })

  it('ends the run when compaction is off', async (context) => {
    const { agent, ofType } = await startOverflowing(context, [overflow], { compaction: false })
    assert.is((await agent.prompt('go').result).error?.code, 'MODEL_OVERFLOW')
    assert.equal(ofType('compaction.start'), [])
  })
})
