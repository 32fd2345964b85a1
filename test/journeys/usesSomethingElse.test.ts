import { defineAgent, memoryStore } from '../../src/index.ts'
import { capturedRequests } from '../../src/conversation/request/captureRequest.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { calls, gate, quiet, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { cutStore, recordsOf } from './cutLogs.ts'

const look = tool('look', () => 'seen')
const find = tool('find', () => 'found')
const saying = (id: string) => policyModel(({ system }) => `${id} was told ${system}`, { id })
const fast = saying('test:fast')

/** An agent that can be started again from its log, with other models known. */
const talker = (models: Record<string, ReturnType<typeof saying>> = { fast }) =>
  defineAgent({ name: 'talker', model: saying('test:own'), models, instructions: 'base', tools: [look, find] })

async function spoken(context: CaseContext, store = memoryStore()) {
  const runtime = await createRuntime({ store })
  context.cleanup(() => runtime.close())
  return { agent: await runtime.spawn(talker(), { id: 't1' }), runtime, store }
}

describe('what an agent is told to use', (it) => {
  it('holds from the next turn on, and is recorded', async (context) => {
    const open = gate()
    const { agent, script, untilState, records } = await startAgent(context, {
      tools: [look, find],
      instructions: 'base',
      reframes: true,
      replies: [{ parts: stalledCall(open.promise) }, 'the end', 'more'],
    })
    const { result } = agent.prompt('go')
    await untilState('replying.streaming')
    agent.use({ instructions: 'other', tools: [look] })
    open.resolve()
    await result
    assert.equal(
      script.requests.map(({ system, tools }) => [system, tools.map(({ name }) => name)]),
      [
        ['base', ['look', 'find']],
        ['other', ['look']],
      ],
    )
    assert.equal(agent.inUse, { instructions: 'other', tools: ['look'] })
    agent.use(null)
    await agent.prompt('go').result
    assert.equal([script.requests[2]!.system, script.requests[2]!.tools.length], ['base', 2])
    const changed = (await records()).filter((record) => record.type === 'use.changed')
    assert.equal(
      changed.map(({ use }) => use),
      [{ instructions: 'other', tools: ['look'] }, null],
    )
    const prepared = (await records()).filter((record) => record.type === 'turn.prepared')
    assert.equal(
      prepared.map(({ by, sameInstructions, instructions, tools, turnIndex }) => [
        by,
        sameInstructions,
        instructions,
        tools,
        turnIndex,
      ]),
      [[['use'], true, undefined, ['look'], 1]],
    )
  })

  it('changes field by field, and a field can go back', async (context) => {
    const { agent } = await spoken(context)
    agent.use({ model: 'fast' })
    agent.use({ instructions: 'other' })
    assert.equal((await agent.prompt('go').result).text, 'test:fast was told other')
    agent.use({ model: null })
    assert.equal(agent.inUse, { instructions: 'other' })
    agent.use({ instructions: null })
    assert.equal([agent.inUse, (await agent.prompt('go').result).text], [null, 'test:own was told base'])
  })

  it('is there again after a restart: the model by its name', async (context) => {
    const { agent, runtime, store } = await spoken(context)
    agent.use({ model: 'fast', instructions: 'other' })
    await agent.prompt('go').result
    const left = await cutStore('t1', await recordsOf(store, 't1'))
    await runtime.close()
    const again = await createRuntime({ store: left })
    context.cleanup(() => again.close())
    const later = await again.resume('t1', talker())
    assert.equal(later.inUse, { model: { id: 'test:fast', name: 'fast' }, instructions: 'other' })
    assert.is((await later.prompt('again').result).text, 'test:fast was told other')
  })

  it('holds after a process died at any record since', async (context) => {
    const { agent, runtime, store } = await spoken(context)
    await agent.prompt('one').result
    agent.use({ model: 'fast', tools: ['look'] })
    await agent.prompt('two').result
    const records = await recordsOf(store, 't1')
    await runtime.close()
    const from = records.findIndex(({ type }) => type === 'use.changed') + 1
    for (let cut = from; cut < records.length; cut++) {
      const left = await cutStore('t1', records.slice(0, cut))
      const again = await createRuntime({ store: left })
      const later = await again.resume('t1', talker(), { continue: false })
      assert.equal(later.inUse, { model: { id: 'test:fast', name: 'fast' }, tools: ['look'] }, `cut at ${cut}`)
      const { text } = await (later.pause === null ? later.prompt('go') : later.resume()).result
      assert.is(text, 'test:fast was told base', `cut at ${cut}`)
      await again.close()
    }
  })

  it('may be a model object, which a restart does not know: the definition’s takes its place, and that is said', async (context) => {
    const { agent, runtime, store } = await spoken(context)
    agent.use({ model: saying('test:other'), instructions: 'other' })
    assert.is((await agent.prompt('go').result).text, 'test:other was told other')
    const left = await cutStore('t1', await recordsOf(store, 't1'))
    await runtime.close()
    const later = await createRuntime({ store: left })
    context.cleanup(() => later.close())
    const errors: string[] = []
    later.onAgent((started) =>
      started.subscribe((event) => void (event.type === 'error' && errors.push(event.error.code))),
    )
    const again = await later.resume('t1', talker())
    assert.equal(again.inUse, { instructions: 'other' })
    assert.is((await again.prompt('again').result).text, 'test:own was told other')
    assert.equal(errors, ['MODEL_NOT_FOUND'])
  })

  it('is kept while the agent is unloaded, a model object too', async (context) => {
    const clock = simulatedClock()
    const runtime = await createRuntime({ idleUnloadMs: 1_000, clock })
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(talker(), { id: 't1' })
    agent.use({ model: saying('test:other') })
    await agent.prompt('go').result
    for (let waits = 0; agent.isLoaded && waits < 100; waits++) {
      await quiet()
      await clock.advance(1_000)
    }
    assert.not.ok(agent.isLoaded)
    assert.equal(agent.inUse, { model: { id: 'test:other' } })
    assert.is((await agent.prompt('again').result).text, 'test:other was told base')
  })

  it('is refused when it cannot be, and changes nothing', async (context) => {
    const { agent } = await spoken(context)
    const before = agent.lastSeq
    for (const [options, code, ...texts] of [
      [{ model: 'fest' }, 'MODEL_NOT_FOUND', '"fest"', 'only fast'],
      [{ tools: ['lok'] }, 'INVALID_OPTION', 'did you mean "look"?'],
      [{ tool: ['look'] }, 'INVALID_OPTION', 'tool'],
      [{ model: { id: 'x' } }, 'INVALID_DEFINITION', 'stream'],
      [{ instructions: 7 }, 'INVALID_OPTION', 'instructions'],
      ['fast', 'INVALID_OPTION', 'use'],
      [undefined, 'INVALID_OPTION', 'use'],
    ] as const)
      assert.throws(() => agent.use(options as never), withCode(code, ...texts), JSON.stringify(options))
    assert.equal([agent.inUse, agent.lastSeq], [null, before])
    await agent.stop()
    assert.throws(() => agent.use({ model: 'fast' }), withCode('AGENT_STOPPED'))
  })

  it('is what captured requests say, and what the code of the definition may overrule', async (context) => {
    const { agent, records, script } = await startAgent(context, {
      tools: [look, find],
      captureTurnRequests: true,
      models: { fast: scriptedModel(['quick'], { id: 'test:fast' }) },
      instructions: ({ turnIndex }) => `turn ${turnIndex}`,
      beforeTurn: ({ turn, model, tools }) =>
        turn === 2 ? { tools: [], instructions: `${model} ${tools.join()}` } : {},
      replies: [calls('a', 'look'), 'two', 'three'],
    })
    agent.use({ tools: [look] })
    await agent.prompt('go').result
    agent.use({ model: 'fast', tools: null })
    await agent.prompt('go').result
    assert.is(script.requests.length, 2)
    const captured = [...capturedRequests(await records())]
    assert.equal(
      captured.map(({ model, request: { system, tools } }) => [model, system, tools.map(({ name }) => name)]),
      [
        ['embedded:scripted', 'turn 0', ['look']],
        ['embedded:scripted', 'embedded:scripted look', []],
        ['test:fast', 'turn 2', ['look', 'find']],
      ],
    )
  })

  it('is told without secrets, also while the agent is unloaded', async (context) => {
    const secret = 'sk-very-secret-123'
    const clock = simulatedClock()
    const runtime = await createRuntime({ clock, redact: { secrets: { key: secret } }, idleUnloadMs: 1_000 })
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(talker())
    agent.use({ instructions: `The key is ${secret}.` })
    assert.equal(agent.inUse, { instructions: 'The key is [redacted:key].' })
    await agent.prompt('go').result
    while (agent.isLoaded) {
      await clock.advance(1_000)
      await quiet()
    }
    assert.equal(agent.inUse, { instructions: 'The key is [redacted:key].' })
  })

  it('does not reach a sub-agent, nor one that takes the conversation over', async (context) => {
    const { agent } = await spoken(context)
    agent.use({ model: 'fast', instructions: 'other' })
    await agent.prompt('go').result
    const successor = await agent.handOver(
      defineAgent({ name: 'next', model: saying('test:next'), instructions: 'its own' }),
    )
    assert.is((await successor.prompt('go').result).text, 'test:next was told its own')
  })
})

/** Streams, waits, and then calls `look`. */
async function* stalledCall(open: Promise<void>) {
  yield { type: 'text.delta', text: 'I look' } as const
  await open
  const content = [{ type: 'toolCall', callId: 'a0', name: 'look', input: {} }] as const
  yield {
    type: 'done',
    reply: { content, stopReason: 'toolUse', usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } },
  } as const
}
