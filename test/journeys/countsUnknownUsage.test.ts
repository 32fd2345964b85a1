import { askModel } from '../../src/actors/turn/askModel.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { noUsage, type Usage } from '../../src/protocol/messages.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { delta, done, quiet, startAgent, tool, usageOf } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const words = 'word '.repeat(120)
const saying = (usage: unknown, text = words) => ({
  parts: [delta(text), done([{ type: 'text', text }], { usage: usage as Usage })],
})
const calling = (callId: string, usage: unknown) => ({
  parts: [
    done([{ type: 'toolCall', callId, name: 'look', input: {} }], { stopReason: 'toolUse', usage: usage as Usage }),
  ],
})

describe('usage that a provider does not report', (it) => {
  for (const [what, usage] of [
    ['is all zero', noUsage],
    ['is missing', undefined],
    ['is null', null],
    ['is not a number', { input: Number.NaN, output: Number.NaN, cacheRead: Number.NaN, cacheWrite: Number.NaN }],
    ['is there in name only', {}],
  ] as const) {
    it(`is estimated when it ${what}, and said to be`, async (context) => {
      const { agent, ofType } = await startAgent(context, {
        pricing: { input: 1_000_000, output: 1_000_000 },
        replies: [saying(usage)],
      })
      const result = await agent.prompt(words).result
      const [reply] = ofType('reply.end')
      const { input, output, estimated } = reply!.message.usage
      assert.is(estimated, true)
      assert.ok(input > 150 && input < 250, `${input} in`)
      assert.ok(output > 150 && output < 250, `${output} out`)
      assert.is(result.costUsd, input + output)
      assert.equal(result.usage, reply!.message.usage)
      assert.is(agent.spent.usage.estimated, true)
    })
  }

  it('counts for the limit of tokens', async (context) => {
    const { agent } = await startAgent(context, {
      tools: [tool('look', () => 'x')],
      limits: { tokens: 300 },
      replies: [calling('a', noUsage), calling('b', noUsage), 'not asked'],
    })
    const { stopReason, reason } = await agent.prompt(words).result
    assert.equal([stopReason, reason?.type, reason?.type === 'limit' && reason.limit], ['paused', 'limit', 'tokens'])
  })

  it('counts for the limit of cost', async (context) => {
    const { agent } = await startAgent(context, {
      tools: [tool('look', () => 'x')],
      limits: { costUsd: 1 },
      pricing: { input: 10_000, output: 10_000 },
      replies: [calling('a', noUsage), calling('b', noUsage), 'not asked'],
    })
    const { reason } = await agent.prompt(words).result
    assert.equal([reason?.type, reason?.type === 'limit' && reason.limit], ['limit', 'costUsd'])
  })

  it('is estimated only where it is missing', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      replies: [saying(usageOf(1_000, 0)), saying(usageOf(0, 77)), saying({ ...noUsage, cacheRead: 900, output: 5 })],
    })
    for (const prompt of ['1', '2', '3']) await agent.prompt(prompt).result
    const [first, second, third] = ofType('reply.end').map(({ message }) => message.usage)
    assert.equal([first!.input, first!.estimated], [1_000, true])
    assert.ok(first!.output > 100)
    assert.equal([second!.output, second!.estimated], [77, true])
    assert.ok(second!.input > 100)
    assert.equal(third, { ...noUsage, cacheRead: 900, output: 5 })
  })

  it('is no measure for later estimates', async (context) => {
    const { agent, records } = await startAgent(context, {
      replies: [saying(usageOf(400, 200)), saying(noUsage), 'fine'],
    })
    await agent.prompt(words).result
    const { correction } = rebuildConversation(await records())
    await agent.prompt('2').result
    assert.ok(correction > 1.5)
    assert.is(rebuildConversation(await records()).correction, correction)
  })

  it('is said once of an agent, with what to do, and never of one whose provider counts', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      tools: [tool('look', () => 'x')],
      replies: [calling('a', usageOf(9, 9)), calling('b', noUsage), saying(noUsage), saying(noUsage)],
    })
    await agent.prompt('1').result
    await agent.prompt('2').result
    const errors = ofType('error').map(({ error }) => error)
    assert.equal(
      errors.map(({ code }) => code),
      ['USAGE_UNKNOWN'],
    )
    assert.match(errors[0]!.message, /embedded:scripted does not report .* includeUsage: true/)
  })

  it('is marked in what an abort leaves, but that is not held against the provider', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      replies: [{ parts: [delta('half')] }, saying(usageOf(5, 5))],
      model: {
        id: 'test:slow',
        async *stream(_, { signal }) {
          yield delta('half')
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
        },
      },
    })
    const run = agent.prompt('go')
    await quiet()
    agent.abort()
    await run.result
    assert.is(ofType('reply.end')[0]!.message.usage.estimated, true)
    await quiet()
    assert.equal(ofType('error'), [])
  })

  it('of a question beside the conversation, as for a summary, is estimated too', async ({ signal }) => {
    const model = scriptedModel([{ parts: [done([{ type: 'text', text: words }], { usage: noUsage })] }])
    const answer = await askModel(model, {
      system: words,
      text: words,
      maxTokens: 100,
      timeoutMs: 1_000,
      clock: simulatedClock(),
      signal,
    })
    assert.ok(answer.ok)
    const { input, output, estimated } = answer.usage
    assert.ok(input > 300 && output > 150, `${input}, ${output}`)
    assert.is(estimated, true)
  })

  it('of a sub-agent is marked in what its caller spent', async ({ cleanup }) => {
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    const worker = defineAgent({ name: 'worker', description: 'Works.', model: scriptedModel([saying(noUsage)]) })
    const caller = defineAgent({
      name: 'caller',
      agents: [worker],
      model: scriptedModel([
        { toolCalls: [{ name: 'worker', input: { task: 'go' } }] },
        { text: 'done', usage: usageOf(1, 1) },
      ]),
    })
    const agent = await runtime.spawn(caller)
    assert.is((await agent.prompt('go').result).usage.estimated, true)
  })
})
