import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { quiet, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

const many = (name: string, below: AgentDefinition, count: number): AgentDefinition =>
  defineAgent({
    name,
    agents: [{ definition: below, stallMs: 60_000 }],
    maxChildren: 10,
    limits: { ms: 3_600_000 },
    model: policyModel(({ messages }) =>
      messages.at(-1)!.role === 'toolResult'
        ? 'done'
        : { toolCalls: Array.from({ length: count }, () => ({ name: below.name, input: { task: 'x' } })) },
    ),
  })

describe('a thousand sub-agent calls', (it) => {
  it('leave no agent, no log open, no timer and no listener behind', { timeoutMs: 60_000 }, async ({ cleanup }) => {
    const signals = new Set<AbortSignal>()
    const warnings: string[] = []
    const warn = (warning: Error): void => void warnings.push(warning.message)
    process.on('warning', warn)
    cleanup(() => process.off('warning', warn))
    const worker = defineAgent({
      name: 'worker',
      model: {
        id: 'test:worker',
        async *stream(request, { signal }) {
          signals.add(signal)
          yield* policyModel(({ messages }) =>
            messages.at(-1)!.role === 'toolResult' ? 'worked' : { toolCalls: [{ name: 'look', input: {} }] },
          ).stream(request, { signal })
        },
      },
      tools: [
        tool('look', (_, { signal }) => {
          signals.add(signal)
          return 'seen'
        }),
      ],
    })
    const clock = simulatedClock()
    const inner = memoryStore()
    const held = new Set<string>()
    const born: WeakRef<object>[] = []
    const store = {
      ...inner,
      open: async (agentId: string) => {
        const lease = await inner.open(agentId)
        held.add(agentId)
        const release = async (): Promise<void> => {
          held.delete(agentId)
          await lease.release()
        }
        return { agentId, lastSeq: lease.lastSeq, repairedBytes: 0, release }
      },
    }
    const runtime = await createRuntime({ clock, store })
    cleanup(() => runtime.close())
    const root = await runtime.spawn(many('root', many('middle', worker, 10), 10), { id: 'r' })
    const unsubscribe = root.subscribe(
      ({ type, agentId }) => {
        if (type !== 'agent.created') return
        const agent = runtime.agent(agentId)
        if (agent !== undefined) born.push(new WeakRef(agent))
      },
      { descendants: true },
    )
    for (let round = 0; round < 10; round += 1) {
      const run = root.prompt('go')
      for (let left = 2_000; root.state !== 'idle' && left > 0; left -= 1) await quiet()
      assert.is((await run.result).stopReason, 'stop')
      assert.is(clock.pending, 0, 'timers')
      assert.equal([...held], ['r'])
      assert.equal(root.tree().children, [])
      assert.equal(runtime.agents(), [root])
    }
    assert.is(born.length, 1_100)
    unsubscribe()
    assert.is((await inner.list()).length, 1_101)
    assert.is(runtime.agent('r.1'), undefined)
    assert.equal([...signals].filter((signal) => getEventListeners(signal, 'abort').length > 0).length, 0, 'listeners')
    assert.equal(warnings, [])
    signals.clear()
    for (let round = 0; round < 5; round += 1) {
      await quiet()
      gc()
    }
    const kept = born.filter((ref) => ref.deref() !== undefined).length
    assert.ok(kept <= 20, `${kept} of 1100 agents are still in memory`)
  })

  it('of children that code attached and stopped leave nothing either', { timeoutMs: 60_000 }, async ({ cleanup }) => {
    const clock = simulatedClock()
    const runtime = await createRuntime({ clock })
    cleanup(() => runtime.close())
    const helper = defineAgent({ name: 'helper', model: policyModel(() => 'yes') })
    const root = await runtime.spawn(defineAgent({ name: 'root', model: policyModel(() => 'x') }), { id: 'r' })
    const born: WeakRef<object>[] = []
    for (let round = 0; round < 200; round += 1) {
      await (async () => {
        const child = await root.spawn({ definition: helper, stallMs: 60_000 })
        born.push(new WeakRef(child))
        assert.is((await child.prompt('go').result).text, 'yes')
        await child[round % 2 === 0 ? 'stop' : 'close']()
      })()
      assert.equal(root.children(), [])
      assert.is(clock.pending, 0)
    }
    for (let round = 0; round < 5; round += 1) {
      await quiet()
      gc()
    }
    const kept = born.filter((ref) => ref.deref() !== undefined).length
    assert.ok(kept <= 10, `${kept} of 200 agents are still in memory`)
  })
})
