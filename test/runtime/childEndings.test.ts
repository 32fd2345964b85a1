import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import type { TokenCounter } from '../../src/conversation/limits/tokenCounter.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock, type SimulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { quiet, tool, withCode } from '../support/agentHarness.ts'
import { crashingCounter } from '../support/crashingCounter.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

async function start({ cleanup }: CaseContext): Promise<{ runtime: Runtime; clock: SimulatedClock }> {
  const clock = simulatedClock()
  const runtime = await createRuntime({ clock })
  cleanup(() => runtime.close().catch(() => {}))
  return { runtime, clock }
}

/** Calls a tool of this name once, then is done. */
const caller = (name: string, input: object = {}) =>
  policyModel(({ messages }) => (messages.at(-1)?.role === 'toolResult' ? 'done' : { toolCalls: [{ name, input }] }))

/** An agent whose machine fails at the first result that it records. */
const failing = (name: string) => {
  const look = tool('look', () => 'seen', { effects: 'none' })
  return defineAgent({ name, model: caller('look'), tools: [look], tokenCounter: crashingCounter({ crashes: 1 }) })
}

const idle = (name: string) => defineAgent({ name, model: scriptedModel([]) })

describe('a child that its agent began by code', (it) => {
  for (const how of ['stop', 'close'] as const)
    it(`ends with a ${how} of its agent in the middle of a run, though it is begun anew whenever it ends`, async (context) => {
      const { runtime, clock } = await start(context)
      const asks = tool('held', () => 'ok', { needsApproval: true })
      const worker = defineAgent({ name: 'worker', description: 'Works.', model: caller('held'), tools: [asks] })
      const model = caller('worker', { task: 'x' })
      const root = await runtime.spawn(defineAgent({ name: 'root', agents: [worker], model }), { id: 'r' })
      await root.spawn({ definition: worker, restart: 'permanent', backoffMs: 20 }, { id: 'w' })
      root.prompt('go')
      await quiet()
      assert.is(root.children().length, 2)
      await root[how]()
      assert.equal([root.state, clock.pending], ['stopped', 0])
    })

  for (const how of ['stop', 'close'] as const)
    it(`is no longer waited for once a ${how} has ended its agent before it began, from wherever it was asked for`, async (context) => {
      const worker = idle('worker')
      const ways = ['outside', 'inside a listener', 'inside a listener, after the end'] as const
      for (const [nth, where] of ways.entries()) {
        const { runtime } = await start(context)
        const root = await runtime.spawn(defineAgent({ name: 'root', model: policyModel(() => 'ok') }), {
          id: `r${nth}`,
        })
        let asked: Promise<unknown> | undefined
        let ended: Promise<void> | undefined
        const askAndEnd = (): void => {
          if (where === 'inside a listener, after the end') ended = root[how]()
          asked = root.spawn(worker, { id: 'w' })
          asked.catch(() => {})
          ended ??= root[how]()
        }
        if (where === 'outside') askAndEnd()
        else {
          root.subscribe(({ type }) => {
            if (type === 'run.start') askAndEnd()
          })
          root.prompt('go')
        }
        await ended
        await assert.rejects(asked!, withCode('AGENT_STOPPED'), where)
        assert.equal(
          runtime.agents().map(({ id }) => id),
          [],
        )
      }
    })

  it('is no longer waited for when its agent crashes in the step in which it was asked for', async (context) => {
    const { runtime } = await start(context)
    let asked: Promise<unknown> | undefined
    const counter = crashingCounter({ crashes: 1 })
    const tokenCounter: TokenCounter = {
      text: (text) => counter.text(text),
      message: (message) => {
        // What is frozen comes from a record: the machine is in the middle of a step.
        if (message.role === 'toolResult' && Object.isFrozen(message)) asked ??= root.spawn(idle('worker'), { id: 'w' })
        asked?.catch(() => {})
        return counter.message(message)
      },
    }
    const tools = [tool('look', () => 'seen')]
    const root = await runtime.spawn(defineAgent({ name: 'root', model: caller('look'), tools, tokenCounter }), {
      id: 'r',
    })
    await root.prompt('go').result
    await assert.rejects(asked!, withCode('AGENT_STOPPED'))
  })

  it('keeps its id while it waits to be begun anew', async (context) => {
    const { runtime, clock } = await start(context)
    const root = await runtime.spawn(idle('root'), { id: 'r' })
    const entry = { definition: failing('worker'), restart: 'permanent', backoffMs: 1_000 } as const
    const child = await root.spawn(entry, { id: 'w' })
    await child.prompt('go').result
    await quiet()
    await assert.rejects(root.spawn(entry, { id: 'w' }), withCode('AGENT_EXISTS'))
    await clock.advance(1_000)
    await quiet()
    assert.equal(
      root.children().map(({ id }) => id),
      ['w'],
    )
  })

  it('can be stopped after its agent has crashed', async (context) => {
    const { runtime } = await start(context)
    const root = await runtime.spawn(failing('root'), { id: 'r' })
    const child = await root.spawn(idle('worker'), { id: 'w' })
    assert.is((await root.prompt('go').result).stopReason, 'error')
    await quiet()
    await child.stop()
    assert.is(runtime.agent('w'), undefined)
  })
})

describe('a called child that has crashed', (it) => {
  it('begins anew once its log is free, however long that takes', async ({ cleanup }) => {
    const clock = simulatedClock()
    const inner = memoryStore()
    const freed = Promise.withResolvers<void>()
    const store: Store = {
      ...inner,
      open: async (agentId, options) => {
        const lease = await inner.open(agentId, options)
        if (agentId !== 'r.1') return lease
        return { ...lease, lastSeq: lease.lastSeq, release: () => freed.promise.then(() => lease.release()) }
      },
    }
    const runtime = await createRuntime({ clock, store })
    cleanup(() => runtime.close().catch(() => {}))
    const agents = [{ definition: failing('worker'), backoffMs: 20 }]
    const root = await runtime.spawn(defineAgent({ name: 'root', agents, model: caller('worker', { task: 'x' }) }), {
      id: 'r',
    })
    const { result } = root.prompt('go')
    await quiet()
    await clock.advance(1_000)
    await quiet()
    freed.resolve()
    await quiet()
    await clock.advance(1_000)
    assert.is((await result).stopReason, 'stop')
    const answers = root.conversation.trunk().flatMap(({ message }) => (message.role === 'toolResult' ? [message] : []))
    assert.equal(
      answers.map(({ isError, content }) => [isError, content]),
      [[false, [{ type: 'text', text: 'done' }]]],
    )
  })
})

describe('a runtime that closes', (it) => {
  it('closes a server that was on its way, and says so', async (context) => {
    const { runtime } = await start(context)
    const serving = runtime.serve({ port: 0 })
    const closing = runtime.close()
    await assert.rejects(serving, withCode('RUNTIME_CLOSED'))
    await closing
  })
})
