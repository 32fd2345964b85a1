import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { scriptedModel, type ScriptedReply } from '../../evaluation/src/testing/scriptedModel.ts'
import { pipeline } from '../src/pipeline.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { never, quiet, saidIn, startAgent, usageOf, withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'

/** An agent and what it was asked. */
function scripted(name: string, ...replies: readonly ScriptedReply[]) {
  const model = scriptedModel(replies)
  const entry = defineAgent({ name, model, pricing: { input: 1_000_000, output: 0 } })
  return { entry, said: () => model.requests.map(saidIn) }
}

const failing: ScriptedReply = { error: { kind: 'auth', message: 'no key' } }
const says = (text: string, dollars: number): ScriptedReply => ({ text, usage: usageOf(dollars, 1) })

describe('a pipeline', (it) => {
  it('gives each answer to the next agent, one alive at a time', async (context) => {
    const { agent } = await startAgent(context, { maxChildren: 1 })
    const [draft, review, polish] = [
      scripted('draft', says('a draft', 1)),
      scripted('review', says('a review', 2)),
      scripted('polish', says('a poem', 3)),
    ]
    const entries = [draft, review, polish].map(({ entry }) => entry)
    const { text, steps, stopped, usage, costUsd } = await pipeline(agent, entries, 'write')
    assert.is(text, 'a poem')
    assert.is(stopped, null)
    assert.equal(
      steps.map(({ definition }) => definition),
      ['draft', 'review', 'polish'],
    )
    assert.equal(
      [draft, review, polish].map(({ said }) => said()),
      [[['write']], [['a draft']], [['a review']]],
    )
    assert.equal(usage, usageOf(6, 3))
    assert.is(costUsd, 6)
    assert.equal(agent.children(), [])
  })

  it('has functions make other prompts of answers, which may be blank then', async ({ cleanup }) => {
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    const [first, second, third] = [scripted('first', 'one'), scripted('second', '', ''), scripted('third', 'three')]
    const seen: unknown[] = []
    const { text, steps } = await pipeline(
      runtime,
      [
        first.entry,
        (answer) => `${answer} and two`,
        second.entry,
        async (answer, step) => {
          seen.push(answer, step.agentId)
          return [{ type: 'text', text: 'go on' }]
        },
        third.entry,
      ],
      'go',
    )
    assert.is(text, 'three')
    assert.equal(second.said()[0], ['one and two'])
    assert.equal(third.said(), [['go on']])
    assert.equal(seen, ['', steps[1]!.agentId])
    assert.is((await store.list()).length, 3)
    assert.equal(runtime.agents(), [])
  })

  it('stops at the first agent that does not end well, and says which', async (context) => {
    const { agent } = await startAgent(context)
    const [first, last] = [scripted('first', says('one', 1)), scripted('last')]
    for (const [reply, stopReason, text] of [
      [failing, 'error', ''],
      [{ text: 'cut', stopReason: 'length' }, 'length', 'cut'],
      [' ', 'stop', ' '],
    ] as const) {
      const [before, middle] = [scripted('before', 'x'), scripted('middle', reply, reply)]
      const result = await pipeline(agent, [before.entry, middle.entry, last.entry], 'go', { keep: true })
      assert.equal(result.stopped, { index: 1, definition: 'middle', stopReason })
      assert.is(result.text, text)
      assert.is(result.steps.length, 2)
      assert.equal(agent.children(), [])
    }
    assert.equal(last.said(), [])
    assert.is((await pipeline(agent, [first.entry], 'go')).costUsd, 1)
  })

  it('ends well when the last answer is blank', async (context) => {
    const { agent } = await startAgent(context)
    const { text, stopped } = await pipeline(agent, [scripted('silent', '', '').entry], 'go')
    assert.equal([text, stopped], ['', null])
  })

  it('is aborted by its signal, in an agent, in a function and before the first', async (context) => {
    const { agent, store } = await startAgent(context)
    const abort = new AbortController()
    const [first, second] = [scripted('first', () => never), scripted('second')]
    const running = pipeline(agent, [first.entry, second.entry], 'go', { signal: abort.signal })
    while (first.said().length === 0) await quiet()
    abort.abort()
    assert.equal((await running).stopped, { index: 0, definition: 'first', stopReason: 'aborted' })

    const later = new AbortController()
    const mapping = pipeline(agent, [scripted('first', 'one').entry, () => never, second.entry], 'go', {
      signal: later.signal,
    })
    for (let i = 0; i < 10; i += 1) await quiet()
    later.abort()
    const mapped = await mapping
    assert.equal(mapped.stopped, { index: 1, definition: 'second', stopReason: 'aborted' })
    assert.is(mapped.text, 'one')
    assert.is(mapped.steps.length, 1)

    const opening = new AbortController()
    const opened = pipeline(agent, [second.entry], 'go', { signal: opening.signal })
    for (let i = 0; i < 3; i += 1) await Promise.resolve()
    opening.abort()
    assert.equal((await opened).stopped, { index: 0, definition: 'second', stopReason: 'aborted' })

    const before = await store.list()
    const unbegun = await pipeline(agent, [second.entry], 'go', { signal: AbortSignal.abort() })
    assert.equal(unbegun.stopped, { index: 0, definition: 'second', stopReason: 'aborted' })
    assert.equal(unbegun.steps, [])
    assert.equal(await store.list(), before)
    assert.equal(second.said(), [])
    assert.equal(agent.children(), [])
  })

  it('keeps the agent of the last answer alive when asked to', async (context) => {
    const { agent } = await startAgent(context)
    const { steps } = await pipeline(agent, [scripted('a', 'a').entry, scripted('b', 'b', 'more').entry], 'go', {
      keep: true,
    })
    const [kept, ...others] = agent.children()
    assert.equal([kept?.id, others], [steps[1]!.agentId, []])
    assert.is((await kept!.prompt('more').result).text, 'more')
  })

  it('rejects with what a function throws, or for a prompt that is blank, and leaves nothing open', async (context) => {
    const { agent } = await startAgent(context)
    const last = scripted('last')
    const from = (mapper: () => never | string) => pipeline(agent, [scripted('a', 'a').entry, mapper, last.entry], 'go')
    const defect = new Error('cannot map')
    await assert.rejects(
      from(() => {
        throw defect
      }),
      (thrown: unknown) => thrown === defect,
    )
    await assert.rejects(
      from(() => ''),
      withCode('INVALID_CONTENT', 'the prompt of agent 2'),
    )
    assert.equal(last.said(), [])
    assert.equal(agent.children(), [])
  })

  it('gives each agent the limits', async (context) => {
    const { agent } = await startAgent(context)
    const looping = scripted(
      'looping',
      ...Array.from({ length: 5 }, () => ({ toolCalls: [{ name: 'no_such_tool', input: {} }] })),
    )
    const { stopped } = await pipeline(agent, [looping.entry], 'go', { limits: { turns: 2 } })
    assert.equal(stopped, { index: 0, definition: 'looping', stopReason: 'paused' })
    assert.is(looping.said().length, 2)
  })
})
