import { askModel } from '../../src/actors/turn/askModel.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { Model } from '../../src/protocol/ports/model.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { done, never, quiet, usageOf } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const clock = simulatedClock()
const question = { system: 'Be brief.', text: 'why?', maxTokens: 9, timeoutMs: 1_000, clock }
const deaf: Model = {
  id: 'test:deaf',
  async *stream() {
    yield await never
  },
}

describe('a question to a model beside the conversation', (it) => {
  it('is one message under a limit of tokens, and leaves no timer', async ({ signal }) => {
    const model = scriptedModel(['because'])
    const answer = await askModel(model, { ...question, signal })
    assert.ok(answer.ok)
    const [{ system, messages, tools, settings }] = model.requests as [(typeof model.requests)[number]]
    assert.equal(
      [system, messages, tools, settings],
      ['Be brief.', [{ role: 'user', content: [{ type: 'text', text: 'why?' }] }], [], { maxTokens: 9 }],
    )
    assert.is(clock.pending, 0)
  })

  it('says what went wrong with the model', async ({ signal }) => {
    const model = scriptedModel([{ error: { kind: 'auth', message: 'no key' } }])
    const answer = await askModel(model, { ...question, signal })
    assert.match(answer.ok ? '' : answer.problem, 'no key')
  })

  it('has no answer in a reply that is not whole, and tells what that used', async ({ signal }) => {
    const text = { type: 'text', text: 'Goal: fix the par' } as const
    const call = { type: 'toolCall', callId: 'c', name: 'big', input: {} } as const
    const written = { type: 'text', text: '<tool_call>{"name":"big"}</tool_call>' } as const
    for (const [wrong, content, stopReason] of [
      ['cut off after 7 tokens', [text], 'length'],
      ['refused', [text], 'refusal'],
      ['wrote nothing', [], 'stop'],
      ['called a tool', [text, call], 'toolUse'],
      ['called a tool', [written], 'stop'],
      ['ended the reply without saying how', [text], 'other'],
    ] as const) {
      const model = scriptedModel([{ parts: [done(content, { stopReason, usage: usageOf(5_000, 7) })] }])
      const answer = await askModel(model, { ...question, signal })
      assert.match(answer.ok ? answer.text : answer.problem, wrong)
      assert.equal([answer.ok, answer.usage?.input, answer.usage?.output], [false, 5_000, 7])
    }
  })

  it('is given up when its time is over, and when it is aborted, and tells which', async () => {
    const slow = askModel(deaf, { ...question, signal: new AbortController().signal })
    await quiet()
    await clock.advance(1_000)
    assert.equal(await slow, { ok: false, problem: 'it took too long, over 1000 ms' })
    const abort = new AbortController()
    const aborted = askModel(deaf, { ...question, signal: abort.signal })
    await quiet()
    abort.abort(new Error('enough'))
    assert.equal(await aborted, { ok: false, problem: 'aborted' })
    assert.equal(await askModel(deaf, { ...question, signal: abort.signal }), { ok: false, problem: 'aborted' })
    assert.is(clock.pending, 0)
  })
})
