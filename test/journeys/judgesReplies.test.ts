import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { Block, Usage } from '../../src/protocol/messages.ts'
import type { ModelPart, ModelReply } from '../../src/protocol/ports/model.ts'
import { calls, delta, done, never, quiet, resultsOf, startAgent, tool, usageOf } from '../support/agentHarness.ts'
import { runtimeOver } from './cutLogs.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const text = (words: string): Block => ({ type: 'text', text: words })
const call = (callId: string, name = 'look'): Block => ({ type: 'toolCall', callId, name, input: {} })
const ends = (
  content: readonly Block[],
  reply: Partial<ModelReply> = {},
): { readonly parts: readonly ModelPart[] } => ({
  parts: [done(content, reply)],
})
const cut = { stopReason: 'length', usage: usageOf(10, 77) } as const
const broken = { stopReason: 'other', endReason: 'insufficient_system_resource' } as const

describe('a reply that was cut off', (it) => {
  it('has no call that runs or waits for people, and each is answered with why', async (context) => {
    const ran: string[] = []
    const { agent, script, types } = await startAgent(context, {
      replies: [ends([text('I begin'), call('c0'), call('c1', 'erase')], cut), 'I try again'],
      tools: [
        tool('look', () => void ran.push('look')),
        tool('erase', () => void ran.push('erase'), { needsApproval: true }),
      ],
    })
    const { stopReason, text: said } = await agent.prompt('go').result
    assert.equal([stopReason, said, ran], ['stop', 'I try again', []])
    const [first, second] = resultsOf(script.requests[1])
    assert.match(first ?? '', /^Not run: your reply was cut off at 77 tokens/)
    assert.is(second, first)
    for (const type of ['approval.requested', 'tool.start'] as const) assert.not.ok(types().includes(type), type)
  })

  it('delegates nothing, reverts nothing, and asks no function about an approval', async (context) => {
    const asked: string[] = []
    const { agent, script } = await startAgent(context, {
      replies: [
        calls('a', 'look'),
        ends([call('c0', 'helper'), call('c1', 'revert_to_state'), call('c2', 'erase')], cut),
        'well',
      ],
      braking: {},
      agents: [defineAgent({ name: 'helper', description: 'Helps.', model: scriptedModel([]) })],
      tools: [
        tool('look', () => 'ok'),
        tool('erase', () => 'gone', { needsApproval: () => (asked.push('erase'), false) }),
      ],
    })
    assert.is((await agent.prompt('go').result).text, 'well')
    assert.equal(agent.children(), [])
    assert.equal(asked, [])
    assert.is(resultsOf(script.requests[2]).filter((said) => said.startsWith('Not run')).length, 3)
  })

  it('ends the run when the third in a row is cut off in its calls', async (context) => {
    const { agent, script } = await startAgent(context, {
      replies: [0, 1, 2].map((n) => ends([call(`c${n}`)], cut)),
      tools: [tool('look', () => 'ok')],
    })
    assert.is((await agent.prompt('go').result).stopReason, 'length')
    assert.is(script.requests.length, 3)
  })

  it('is not gone on with where it was a refusal, and the next prompt is', async (context) => {
    const ran: string[] = []
    const { agent, script } = await startAgent(context, {
      replies: [ends([text('no'), call('c0')], { stopReason: 'refusal' }), 'hello'],
      tools: [tool('look', () => void ran.push('look'))],
    })
    assert.is((await agent.prompt('go').result).stopReason, 'refusal')
    assert.equal([script.requests.length, ran], [1, []])
    assert.is((await agent.prompt('hi').result).text, 'hello')
    assert.match(resultsOf(script.requests[1])[0] ?? '', 'refusal')
  })

  it('runs nothing either after a crash between the reply and its results', async (context) => {
    for (const stopReason of ['length', 'refusal'] as const) {
      const { agent, records } = await startAgent(context, {
        replies: [ends([call('c0')], { stopReason }), 'well'],
        tools: [tool('look', () => 'ok')],
      })
      await agent.prompt('go').result
      const log = await records()
      const until = log.findIndex(({ type }) => type === 'reply.end') + 1
      const { runtime } = await runtimeOver(context, { a1: log.slice(0, until) })
      const ran: string[] = []
      const definition = defineAgent({
        name: 'tester',
        model: scriptedModel(['well']),
        tools: [tool('look', () => void ran.push('look'))],
      })
      const again = await runtime.resume('a1', definition)
      await again.settled()
      assert.equal(ran, [])
      const results = again.conversation.trunk().filter(({ message }) => message.role === 'toolResult')
      assert.is(results.length, 1)
    }
  })
})

describe('a reply that did not end well', (it) => {
  it('fails, is asked for again, and what it used is counted', async (context) => {
    const { agent, clock, ofType } = await startAgent(context, {
      replies: [ends([text('The answer is fort')], { ...broken, usage: usageOf(100, 20) }), 'The answer is forty-two'],
    })
    const run = agent.prompt('go')
    await quiet()
    await clock.advance(60_000)
    const { text: said, usage } = await run.result
    assert.is(said, 'The answer is forty-two')
    assert.match(ofType('reply.reset')[0]?.error.message ?? '', 'insufficient_system_resource')
    assert.ok(usage.input >= 100 && usage.output >= 20)
  })

  it('is counted by what had come of it where nobody says what it used', async (context) => {
    const parts = [
      delta('Half an answer, of some length'),
      { type: 'error', error: { kind: 'network', message: 'cut' } },
    ]
    const { agent, clock, ofType } = await startAgent(context, {
      replies: [{ parts: parts as ModelPart[] }, 'whole'],
    })
    const run = agent.prompt('go')
    await quiet()
    await clock.advance(60_000)
    await run.result
    const usage = ofType('reply.reset')[0]?.usage as Usage
    assert.ok(usage.input > 0 && usage.output > 0)
    assert.is(usage.estimated, true)
    // The model is not to be blamed for that.
    assert.not.ok(ofType('error').some(({ error }) => error.code === 'USAGE_UNKNOWN'))
  })

  it('compacts where the window was full, and asks again', async (context) => {
    const long = 'word '.repeat(4_000)
    const { agent, ofType } = await startAgent(context, {
      replies: [
        ...Array.from({ length: 8 }, (_, n) => calls(`c${n}`, 'read')),
        ends([text('I have now read the files, next I')], {
          stopReason: 'length',
          endReason: 'model_context_window_exceeded',
        }),
        'done',
      ],
      tools: [tool('read', () => long)],
    })
    const { stopReason, text: said } = await agent.prompt('go').result
    assert.equal([stopReason, said], ['stop', 'done'])
    assert.equal(
      ofType('compaction.end').map(({ applied }) => applied),
      [true],
    )
  })

  it('counts as lost when the model says nothing for five minutes, however long it had to wait before', async (context) => {
    const { agent, clock, ofType } = await startAgent(context, {
      replies: [
        {
          parts: (async function* () {
            yield delta('Half an ans')
            yield await never
          })(),
        },
        'whole',
      ],
    })
    const run = agent.prompt('go')
    await quiet()
    await clock.advance(299_999)
    await quiet()
    assert.equal(ofType('reply.reset'), [])
    await clock.advance(60_001)
    assert.is((await run.result).text, 'whole')
    assert.is(ofType('reply.reset')[0]?.error.code, 'MODEL_NETWORK')
  })

  it('is asked for once more when it says nothing, with a warning', async (context) => {
    const { agent, script, ofType } = await startAgent(context, {
      replies: [ends([{ type: 'thinking', text: 'I should call the tool' }], { usage: usageOf(30, 3) }), 'here'],
    })
    const { text: said, usage } = await agent.prompt('go').result
    assert.is(said, 'here')
    assert.is(script.requests.length, 2)
    assert.match(ofType('model.warning')[0]?.message ?? '', 'once more')
    assert.ok(usage.input >= 30)
  })
})

describe('a reply that the provider pauses', (it) => {
  const searching: Block = {
    type: 'provider',
    provider: 'test',
    kind: 'call',
    name: 'web_search',
    data: { type: 'tool-call', toolCallId: 's1' },
  }
  const paused = { stopReason: 'stop', endReason: 'pause_turn', usage: usageOf(10, 5) } as const

  it('is gone on with from where it is, and is one reply', async ({ cleanup }) => {
    const { agent, script } = await plainAgent(cleanup, [
      ends([text('Let me search.'), searching], paused),
      ends([text('FOUND')], { usage: usageOf(20, 7) }),
    ])
    const { stopReason, usage, turns } = await agent.prompt('go').result
    assert.equal([stopReason, usage.input, usage.output, turns], ['stop', 30, 12, 1])
    const { content } = agent.conversation.trunk()[1]!.message
    assert.equal(content, [text('Let me search.'), searching, text('FOUND')])
    assert.equal(script.requests[1]?.messages.at(-1), {
      role: 'assistant',
      content: [text('Let me search.'), searching],
    })
  })

  it('is given up after eight pauses, with a warning', async ({ cleanup }) => {
    const { agent, script } = await plainAgent(
      cleanup,
      Array.from({ length: 20 }, () => ends([searching], paused)),
    )
    const warnings: string[] = []
    agent.subscribe((event) => void (event.type === 'model.warning' && warnings.push(event.message)))
    assert.is((await agent.prompt('go').result).stopReason, 'length')
    assert.is(script.requests.length, 9)
    assert.match(warnings[0] ?? '', 'paused 9 times')
  })
})

/** One whose requests are not looked at: what a pause is gone on with ends with what the model said. */
async function plainAgent(cleanup: CaseContext['cleanup'], replies: readonly ScriptedReply[]) {
  const runtime = await createRuntime()
  cleanup(() => runtime.close())
  const script = scriptedModel(replies)
  return { script, agent: await runtime.spawn(defineAgent({ name: 'tester', model: script })) }
}
