import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import type { Model } from '../../src/protocol/ports/model.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { delta, done, never, quiet, withCode } from '../support/agentHarness.ts'
import { lateStore } from '../support/lateStore.ts'
import { assert, type CaseContext, describe } from '../support/suite.ts'

/** Made anew by every request, as careless servers do. */
const talker = (name = 'talker') =>
  defineAgent({ name, model: policyModel(({ messages }) => `answer ${messages.length}`) })

async function start({ cleanup }: CaseContext, store: Store = lateStore(), rest: object = {}): Promise<Runtime> {
  const runtime = await createRuntime({ store, ...rest })
  cleanup(() => runtime.close().catch(() => {}))
  return runtime
}

/** A store that outlives the runtime that closes it. */
const lasting = (inner: Store): Store => ({ ...inner, close: async () => {} })

describe('runtime.open', (it) => {
  it('has an agent that owes an answer wait for listeners, however fast its model is', async (context) => {
    const store = lasting(memoryStore())
    const words = ['one ', 'two ', 'three']
    let isFirst = true
    const model: Model = {
      id: 'fast',
      async *stream() {
        if (isFirst) await never
        for (const word of words) yield delta(word)
        yield done([{ type: 'text', text: words.join('') }])
      },
    }
    const definition = defineAgent({ name: 'fast', model })
    const first = await start(context, store)
    ;(await first.open('u1', definition)).prompt('go')
    await quiet()
    await first.close({ detach: true })

    isFirst = false
    const agent = await (await start(context, store)).open('u1', definition)
    const heard: string[] = []
    agent.subscribe((event) => event.type === 'reply.delta' && heard.push(event.text))
    await agent.settled()
    assert.is(heard.join(''), words.join(''))
  })

  it('starts an agent, then gives the one that runs, then brings it back from its log', async (context) => {
    const store = lasting(memoryStore())
    const first = await start(context, store)
    const agent = await first.open('u1', talker())
    assert.is((await agent.prompt('hello').result).text, 'answer 1')
    assert.is(await first.open('u1', talker()), agent)
    assert.is(first.agent('u1'), agent)
    await first.close()

    const second = await start(context, store)
    const again = await second.open('u1', talker())
    assert.is((await again.prompt('and now?').result).text, 'answer 3')
  })

  it('gives one agent to all who ask at the same time, whether it is new or in the store', async (context) => {
    const store = lasting(lateStore())
    for (let life = 0; life < 2; life += 1) {
      const runtime = await start(context, store)
      const agents = await Promise.all(Array.from({ length: 8 }, () => runtime.open('u1', talker())))
      assert.is(new Set(agents).size, 1)
      await agents[0]!.prompt('hello').result
      await runtime.close()
    }
  })

  it('waits for a spawn or a resume of the same agent', async (context) => {
    const store = lasting(lateStore())
    const first = await start(context, store)
    const [spawned, opened] = await Promise.all([first.spawn(talker(), { id: 'u1' }), first.open('u1', talker())])
    assert.is(opened, spawned)
    await first.close()
    const second = await start(context, store)
    const [resumed, again] = await Promise.all([second.resume('u1', talker()), second.open('u1', talker())])
    assert.is(again, resumed)
  })

  it('tries by itself when a call before it failed', async (context) => {
    const runtime = await start(context, lateStore())
    const failing = runtime.resume('u1', talker())
    const [agent] = await Promise.all([
      runtime.open('u1', talker()),
      assert.rejects(failing, withCode('AGENT_NOT_FOUND')),
    ])
    assert.is(runtime.agent('u1'), agent)
  })

  it('waits until an agent that is closing has let go of its log', async (context) => {
    const runtime = await start(context)
    const agent = await runtime.open('u1', talker())
    await agent.prompt('hello').result
    const closing = agent.close()
    const again = await runtime.open('u1', talker())
    assert.is.not(again, agent)
    assert.is((await again.prompt('and now?').result).text, 'answer 3')
    await closing
    const stopping = again.stop()
    await assert.rejects(runtime.open('u1', talker()), withCode('AGENT_STOPPED'))
    await stopping
  })

  it('gives an unloaded agent as it is', async (context) => {
    const clock = simulatedClock()
    const runtime = await start(context, memoryStore(), { clock, idleUnloadMs: 1_000 })
    const agent = await runtime.open('u1', talker())
    await clock.advance(2_000)
    assert.not.ok(agent.isLoaded)
    assert.is(await runtime.open('u1', talker()), agent)
    const closing = agent.close()
    const again = await runtime.open('u1', talker())
    await closing
    assert.is.not(again, agent)
    assert.ok(again.isLoaded)
  })

  it('refuses another definition, whether the agent runs, is being opened or is in the store', async (context) => {
    const store = lasting(lateStore())
    const first = await start(context, store)
    const opening = first.open('u1', talker())
    const other = withCode('INVALID_DEFINITION', 'Agent "u1" is of definition "talker", not "other"')
    await assert.rejects(first.open('u1', talker('other')), other)
    await opening
    await assert.rejects(first.open('u1', talker('other')), other)
    await first.close()
    const second = await start(context, store)
    await assert.rejects(second.open('u1', talker('other')), other)
    assert.is((await second.open('u1', talker())).id, 'u1')
  })

  it('holds back what waits with { continue: false }', async (context) => {
    const store = lasting(memoryStore())
    const first = await start(context, store)
    const hung = defineAgent({ name: 'talker', model: policyModel(() => new Promise(() => {})) })
    const agent = await first.open('u1', hung)
    agent.prompt('one')
    agent.prompt('two')
    await quiet()
    await first.close()
    const second = await start(context, store)
    const held = await second.open('u1', talker(), { continue: false })
    assert.equal(held.pause, { type: 'interrupted' })
  })

  it('refuses what cannot be meant', async (context) => {
    const runtime = await start(context)
    await assert.rejects(runtime.open('a/b', talker()), withCode('INVALID_ID'))
    await assert.rejects(runtime.open('u1', {} as never), withCode('INVALID_DEFINITION', 'open takes'))
    await assert.rejects(runtime.open('u1', talker(), { id: 'u2' } as never), withCode('INVALID_OPTION', 'open'))
    await runtime.close()
    await assert.rejects(runtime.open('u1', talker()), withCode('RUNTIME_CLOSED'))
  })

  it('is what an agent that was closed advises', async (context) => {
    const runtime = await start(context)
    const agent = await runtime.spawn(talker(), { id: 'u1' })
    await agent.close()
    assert.throws(() => agent.steer('one'), withCode('AGENT_STOPPED', 'runtime.open(id, definition)'))
    assert.is((await runtime.open('u1', talker())).state, 'idle')
  })
})

describe('two who begin one agent at once', (it) => {
  it('are told of each other, and how both have it', async (context) => {
    const runtime = await start(context)
    const spawning = runtime.spawn(talker(), { id: 'u1' })
    const advice = withCode('AGENT_EXISTS', 'runtime.open(id, definition)')
    await assert.rejects(runtime.spawn(talker(), { id: 'u1' }), advice)
    await assert.rejects(runtime.resume('u1', talker()), advice)
    await (await spawning).close()
    const resuming = runtime.resume('u1', talker())
    await assert.rejects(runtime.resume('u1', talker()), advice)
    await resuming
    await assert.rejects(runtime.spawn(talker(), { id: 'u1' }), advice)
  })

  it('in two runtimes of one process are not advised to delete the lock', async (context) => {
    const dir = await mkdtemp(join(tmpdir(), 'escapement-open-'))
    context.cleanup(() => rm(dir, { recursive: true, force: true }))
    const one = await start(context, fileStore(dir))
    const two = await start(context, fileStore(dir))
    await one.open('u1', talker())
    const refusal = await two.open('u1', talker()).catch((thrown: unknown) => thrown)
    assert.ok(withCode('AGENT_ELSEWHERE', '(this one)')(refusal))
    assert.not.match(String(refusal), /delete/)
  })
})
