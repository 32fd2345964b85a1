import { join } from 'node:path'
import { maxContentChars, type Content } from '../../src/protocol/text/saidContent.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { startAgent, stalled, never, withCode } from '../support/agentHarness.ts'
import { storeFolder } from '../../packages/stores/test/storeFolder.ts'
import { startStoreChild } from '../../packages/stores/test/startStoreChild.ts'
import { assert, describe } from '../support/suite.ts'

const definition = () => defineAgent({ name: 'tester', model: scriptedModel([]) })

describe('what is said to an agent', (it) => {
  const bad: readonly (readonly [string, unknown])[] = [
    ['empty', ''],
    ['blank', ' \n\t '],
    ['no blocks', []],
    [
      'blank blocks',
      [
        { type: 'text', text: ' ' },
        { type: 'text', text: '' },
      ],
    ],
    ['undefined', undefined],
    ['null', null],
    ['a number', 7],
    ['an object', { text: 'hello' }],
    ['a block of unknown type', [{ type: 'video', data: 'x' }]],
    ['a tool call', [{ type: 'toolCall', callId: 'c', name: 'x', input: {} }]],
    ['an image without a type', [{ type: 'image', data: 'x' }]],
    ['an image without data', [{ type: 'image', data: '', mimeType: 'image/png' }]],
    ['huge', 'x'.repeat(maxContentChars + 1)],
  ]
  for (const [what, content] of bad) {
    it(`is refused when it is ${what}, and nothing happens`, async (context) => {
      const { agent, events } = await startAgent(context, { replies: ['fine'] })
      for (const say of ['prompt', 'steer', 'followUp', 'interrupt'] as const) {
        assert.throws(() => agent[say](content as Content), withCode('INVALID_CONTENT'))
      }
      assert.equal(events, [])
      assert.is(agent.state, 'idle')
      assert.is((await agent.prompt('hello').result).text, 'fine')
    })
  }

  it('does not end a run when a bad interrupt is refused', async (context) => {
    const { agent, untilState } = await startAgent(context, { replies: [stalled(['a'], never)] })
    const run = agent.prompt('go')
    await untilState('replying.streaming')
    assert.throws(() => agent.interrupt(''), withCode('INVALID_CONTENT'))
    assert.is(agent.state, 'replying.streaming')
    agent.abort()
    await run.result
  })

  it('may be a megabyte', async (context) => {
    const { agent, script } = await startAgent(context, { compaction: false, replies: ['long'] })
    await agent.prompt('x'.repeat(1_000_000)).result
    const block = script.requests[0]!.messages[0]!.content[0]!
    assert.is(block.type === 'text' && block.text.length, 1_000_000)
  })

  it('takes no limits that make no sense', async (context) => {
    const { agent, events } = await startAgent(context)
    for (const limits of [
      { turns: 0 },
      { turns: 1.5 },
      { tokens: -1 },
      { ms: 0 },
      { costUsd: Number.NaN },
      { trns: 3 },
      'three',
    ]) {
      assert.throws(() => agent.prompt('go', { limits: limits as never }), withCode('INVALID_OPTION', 'limits'))
    }
    assert.equal(events, [])
  })

  it('may leave limits undefined', async (context) => {
    const { agent } = await startAgent(context, { replies: ['a'] })
    assert.is((await agent.prompt('go', { limits: undefined }).result).text, 'a')
  })

  it('as a command is checked like a stranger’s, and changes nothing when it is bad', async (context) => {
    const { agent, events } = await startAgent(context)
    const commands: unknown[] = [
      undefined,
      null,
      'abort',
      7,
      {},
      { type: 'agent.fly', agentId: 'a1' },
      { type: 'xstate.stop', agentId: 'a1' },
      { type: 'agent.abort' },
      { type: 'agent.abort', agentId: 'a1', extra: 1 },
      { type: 'agent.decide', agentId: 'a1', callId: 'c0', decision: 'maybe' },
    ]
    for (const command of commands)
      assert.throws(() => agent.dispatch(command as never), withCode('INVALID_OPTION'), JSON.stringify(command))
    assert.equal(events, [])
  })

  it('as a command for another agent is refused', async (context) => {
    const { agent, events } = await startAgent(context, { replies: ['never'] })
    assert.throws(
      () => agent.dispatch({ type: 'agent.prompt', agentId: 'b2', content: 'hello' }),
      withCode('INVALID_OPTION', 'b2'),
    )
    assert.equal(events, [])
  })
})

describe('a spawn', (it) => {
  const ids = ['', '.', '..', '-a', '.hidden', 'a/b', '../a', 'a b', 'ä', 'a\n', 'x'.repeat(129), 'a\0']
  for (const id of ids) {
    it(`under the id ${JSON.stringify(id.slice(0, 12))} of ${id.length} characters is refused`, async ({ cleanup }) => {
      const runtime = await createRuntime()
      cleanup(() => runtime.close())
      await assert.rejects(runtime.spawn(definition(), { id }), withCode('INVALID_ID'))
      assert.equal(runtime.agents(), [])
    })
  }

  it('under an id that runs is refused', async (context) => {
    const { runtime } = await startAgent(context)
    await assert.rejects(runtime.spawn(definition(), { id: 'a1' }), withCode('AGENT_EXISTS', 'a1'))
  })

  it('twice at once under one id gives one agent', async ({ cleanup }) => {
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    const tries = await Promise.allSettled([
      runtime.spawn(definition(), { id: 'a1' }),
      runtime.spawn(definition(), { id: 'a1' }),
    ])
    assert.equal(tries.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    const refused = tries.find((attempt) => attempt.status === 'rejected')
    assert.ok(
      ['AGENT_EXISTS', 'STORE_LOCKED'].includes(String((refused?.reason as { code?: string } | undefined)?.code)),
    )
  })

  it('under an id that has a log is refused, and the log stays as it was', async (context) => {
    const { agent, runtime, store, records } = await startAgent(context, { replies: ['a'], store: keptOpen() })
    await agent.prompt('go').result
    await agent.stop()
    const before = await records()
    await assert.rejects(
      runtime.spawn(definition(), { id: 'a1' }),
      withCode('AGENT_EXISTS', 'a1', String(before.length)),
    )
    assert.equal(await records(), before)
    await (await store.open('a1')).release()
  })

  it('of something that defineAgent did not make is refused and leaves nothing locked', async ({ cleanup }) => {
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    for (const bad of [undefined, null, {}, { name: 'tester' }, 'tester']) {
      await assert.rejects(runtime.spawn(bad as never, { id: 'a1' }), withCode('INVALID_DEFINITION'))
    }
    assert.is((await runtime.spawn(definition(), { id: 'a1' })).id, 'a1')
  })

  it('in a folder where another runtime runs the agent is refused, naming the holder', async (context) => {
    const folder = await storeFolder(context)
    const first = await createRuntime({ store: fileStore(folder.dir) })
    const second = await createRuntime({ store: fileStore(folder.dir) })
    context.cleanup(() => Promise.all([first.close(), second.close()]))
    const agent = await first.spawn(definition(), { id: 'a1' })
    await assert.rejects(second.spawn(definition(), { id: 'a1' }), withCode('AGENT_ELSEWHERE', String(process.pid)))
    await second.spawn(definition(), { id: 'a2' })
    await agent.stop()
    await assert.rejects(second.spawn(definition(), { id: 'a1' }), withCode('AGENT_EXISTS'))
  })

  it('in a folder where another process holds the log is refused, naming it', async (context) => {
    const folder = await storeFolder(context)
    const child = await startStoreChild(folder.dir, context)
    await child.ask({ do: 'open', ids: ['a1'] })
    const runtime = await createRuntime({ store: fileStore(folder.dir) })
    context.cleanup(() => runtime.close())
    await assert.rejects(runtime.spawn(definition(), { id: 'a1' }), withCode('AGENT_ELSEWHERE', String(child.pid)))
    assert.equal(runtime.agents(), [])
    await child.end()
    assert.is((await runtime.spawn(definition(), { id: 'a1' })).state, 'idle')
  })

  it('in a folder that is a file is refused', async (context) => {
    const folder = await storeFolder(context)
    await folder.write('file', 'x')
    const runtime = await createRuntime({ store: fileStore(join(folder.dir, 'file')) })
    context.cleanup(() => runtime.close())
    await assert.rejects(runtime.spawn(definition()), withCode('STORE_OPEN_FAILED'))
  })

  it('without an id makes one of the name', async ({ cleanup }) => {
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    const [one, two] = await Promise.all([runtime.spawn(definition()), runtime.spawn(definition())])
    assert.match(one.id, /^tester-/)
    assert.is.not(one.id, two.id)
    assert.equal(runtime.agents(), [one, two])
    assert.is(runtime.agent(one.id), one)
    assert.is(runtime.agent('nobody'), undefined)
  })
})

/** A store that outlives its runtime. */
const keptOpen = () => ({ ...memoryStore(), close: async () => {} })
