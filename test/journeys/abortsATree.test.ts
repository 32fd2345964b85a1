import { policyModel } from '../../packages/models/src/policyModel.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import type { Model } from '../../src/protocol/ports/model.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import type { Run } from '../../src/protocol/runs/run.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import { simulatedClock, type SimulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { counter, delta, never, quiet, tool } from '../support/agentHarness.ts'
import { checkLog } from '../support/journeyRules.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { logsOf } from '../tree/chaosResume.ts'

const delegating = (name: string, below: AgentDefinition, count: number): AgentDefinition =>
  defineAgent({
    name,
    agents: [below],
    model: policyModel(({ messages }) =>
      messages.at(-1)!.role === 'toolResult'
        ? 'all is done'
        : { toolCalls: Array.from({ length: count }, (_, n) => ({ name: below.name, input: { task: `part ${n}` } })) },
    ),
  })

/** Says a word each time the gate is opened; every tenth one ignores aborts. */
function talking(signals: AbortSignal[], words: (() => void)[]): Model {
  return {
    id: 'test:talking',
    async *stream(_, { signal }) {
      const isDeaf = signals.push(signal) % 10 === 0
      for (;;) {
        yield delta('word ')
        await new Promise<void>((resolve) => {
          words.push(resolve)
          if (!isDeaf) signal.addEventListener('abort', () => resolve(), { once: true })
        })
        if (signal.aborted && !isDeaf) return
      }
    },
  }
}

/** Kinds of leaves: some in the middle of a reply, others of a tool. */
const leaves = {
  talking: (signals: AbortSignal[], words: (() => void)[]) =>
    defineAgent({ name: 'leaf', model: talking(signals, words) }),
  working: (signals: AbortSignal[]) =>
    defineAgent({
      name: 'leaf',
      model: policyModel(() => ({ toolCalls: [{ name: 'work', input: {} }] })),
      tools: [
        tool('work', (_, { signal }) => {
          signals.push(signal)
          return never
        }),
      ],
    }),
}

interface Forest {
  readonly runtime: Runtime
  readonly root: Agent
  readonly run: Run
  readonly store: Store
  readonly clock: SimulatedClock
  readonly signals: readonly AbortSignal[]
  /** Events that a listener at the root heard of the whole tree. */
  readonly events: AgentEvent[]
  /** Lets every leaf say one more word. */
  speak(): void
}

/** A root with ten children with ten children each, all of which run. */
async function forest({ cleanup }: Pick<CaseContext, 'cleanup'>, kind: keyof typeof leaves): Promise<Forest> {
  const signals: AbortSignal[] = []
  const words: (() => void)[] = []
  const clock = simulatedClock()
  const store = memoryStore()
  const runtime = await createRuntime({ store, clock, newId: counter('q') })
  cleanup(() => runtime.close())
  const middle = delegating('middle', leaves[kind](signals, words), 10)
  const root = await runtime.spawn(delegating('root', middle, 10), { id: 'r' })
  const events: AgentEvent[] = []
  root.subscribe((event) => void events.push(event), { descendants: true })
  const run = root.prompt('go')
  for (let left = 200; signals.length < 100 && left > 0; left -= 1) await quiet()
  assert.is(signals.length, 100)
  return {
    runtime,
    root,
    run,
    store,
    clock,
    signals,
    events,
    speak: () => {
      for (const speak of words.splice(0)) speak()
    },
  }
}

const ends: { readonly [how: string]: (forest: Forest) => Promise<void> | void } = {
  'agent.abort()': ({ root }) => root.abort(),
  'agent.stop()': ({ root }) => root.stop(),
  'agent.close()': ({ root }) => root.close(),
  'runtime.close()': ({ runtime }) => runtime.close(),
}

describe('a root with a hundred descendants that run', (it) => {
  for (const [how, end] of Object.entries(ends))
    for (const kind of ['talking', 'working'] as const)
      it(
        `takes them all with it at ${how}, in the same tick: they are ${kind}`,
        { timeoutMs: 10_000 },
        async (context) => {
          const tree = await forest(context, kind)
          tree.speak()
          await quiet()
          assert.is(tree.signals.filter(({ aborted }) => aborted).length, 0)
          const before = tree.events.length
          const ended = end(tree)
          // The runtime closes its servers first: the event loop has not turned all the same.
          if (how === 'runtime.close()') await after(20, () => {})
          assert.is(tree.signals.filter(({ aborted }) => aborted).length, 100, 'in the same tick')
          tree.speak()
          await ended
          assert.is((await tree.run.result).stopReason, 'aborted')
          for (let left = 5; left > 0; left -= 1) {
            tree.speak()
            await quiet()
          }
          assert.equal(
            tree.events.slice(before).filter(({ type }) => type.endsWith('.delta')),
            [],
            'no delta follows',
          )
          await tree.runtime.close()
          assert.is(tree.clock.pending, 0)
          const logs = await logsOf(tree.store)
          assert.is(logs.size, 111)
          for (const [id, records] of logs) {
            assert.equal(checkLog(records, { isWhole: true }), [], id)
            const runs = records.filter((record) => record.type === 'run.end')
            assert.equal(
              runs.map(({ stopReason }) => stopReason),
              ['aborted'],
              id,
            )
          }
        },
      )

  it('works on after an abort, with none of them left', { timeoutMs: 10_000 }, async (context) => {
    const tree = await forest(context, 'working')
    tree.root.abort()
    await tree.run.result
    assert.equal(tree.root.tree().children, [])
    assert.equal(tree.runtime.agents(), [tree.root])
    assert.is(tree.runtime.agent('r.1'), undefined)
    const again = tree.root.prompt('once more')
    for (let left = 200; tree.signals.length < 200 && left > 0; left -= 1) await quiet()
    assert.is(tree.signals.length, 200)
    tree.root.abort()
    assert.is((await again.result).stopReason, 'aborted')
  })

  it('loses only one branch when the abort is that of a child', { timeoutMs: 10_000 }, async (context) => {
    const tree = await forest(context, 'working')
    const [first] = tree.root.children()
    first!.abort()
    assert.is(tree.signals.filter(({ aborted }) => aborted).length, 10)
    await quiet()
    assert.is(tree.root.children().length, 9)
    assert.is(tree.root.state, 'executing')
    const logs = await logsOf(tree.store)
    const [answer] = logs.get('r')!.filter((record) => record.type === 'tool.end')
    assert.ok(answer?.message.isError)
    tree.root.abort()
    await tree.run.result
  })
})

describe('children that wait for their turn', (it) => {
  it('are not begun after an abort, and their calls say so', async (context) => {
    const signals: AbortSignal[] = []
    const store = memoryStore()
    const runtime = await createRuntime({ store, clock: simulatedClock() })
    context.cleanup(() => runtime.close())
    const leaf = leaves.working(signals)
    const definition = defineAgent({
      name: 'root',
      agents: [leaf],
      maxChildren: 2,
      model: policyModel(() => ({
        toolCalls: Array.from({ length: 5 }, () => ({ name: 'leaf', input: { task: 'x' } })),
      })),
    })
    const root = await runtime.spawn(definition, { id: 'r' })
    const run = root.prompt('go')
    for (let left = 50; signals.length < 2 && left > 0; left -= 1) await quiet()
    root.abort()
    assert.is((await run.result).stopReason, 'aborted')
    await quiet()
    assert.is(signals.length, 2)
    assert.equal(await store.list(), ['r', 'r.1', 'r.2'])
    const log = (await logsOf(store)).get('r')!
    assert.equal(
      log.filter((record) => record.type === 'tool.end').map(({ message }) => message.synthetic),
      Array.from({ length: 5 }, () => 'aborted'),
    )
  })

  /** The moments of a child's opening, in turns of the microtask queue. */
  const moments = Array.from({ length: 30 }, (_, moment) => moment)

  it('may be opening at that very moment, whenever that is', { timeoutMs: 10_000 }, async (context) => {
    for (const end of ['abort', 'stop', 'close'] as const)
      for (const moment of moments) {
        const inner = memoryStore()
        const held = new Set<string>()
        const born: { root?: Agent } = {}
        const store: Store = {
          ...inner,
          open: async (agentId) => {
            const lease = await inner.open(agentId)
            held.add(agentId)
            if (agentId === 'r.1') void after(moment, () => born.root![end]())
            const release = async (): Promise<void> => {
              held.delete(agentId)
              await lease.release()
            }
            return { agentId, lastSeq: 0, repairedBytes: 0, release }
          },
        }
        const runtime = await createRuntime({ store, clock: simulatedClock() })
        context.cleanup(() => runtime.close())
        born.root = await runtime.spawn(delegating('root', leaves.working([]), 1), { id: 'r' })
        const run = born.root.prompt('go')
        for (let left = 20; left > 0; left -= 1) await quiet()
        if (end === 'abort') born.root.abort()
        const { stopReason } = await run.result
        assert.is(stopReason, 'aborted', `${end} ${moment} microtasks after the log was opened`)
        await runtime.close()
        assert.equal([...held], [], `${end} after ${moment}: logs left open`)
      }
  })
})

async function after(microtasks: number, act: () => unknown): Promise<void> {
  for (let left = microtasks; left > 0; left -= 1) await Promise.resolve()
  await act()
}
