import { policyModel } from '../../packages/models/src/policyModel.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import type { SubAgentOptions } from '../../src/actors/define/subAgents.ts'
import { estimateTokens } from '../../src/conversation/limits/tokenCounter.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import { simulatedClock, type SimulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { quiet, tool } from '../support/agentHarness.ts'
import { crashingCounter } from '../support/crashingCounter.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

/** Looks and then says what it saw; `onLook` hears of each look. */
const looker = (name: string, onLook: () => void, counter = estimateTokens): AgentDefinition =>
  defineAgent({
    name,
    compaction: false,
    tokenCounter: counter,
    tools: [
      tool(
        'look',
        () => {
          onLook()
          return 'seen'
        },
        { effects: 'none' },
      ),
    ],
    model: policyModel(({ messages }) =>
      messages.some(({ role }) => role === 'toolResult')
        ? `${name} saw it`
        : { toolCalls: [{ name: 'look', input: {} }] },
    ),
  })

const defective = crashingCounter()

interface World {
  readonly runtime: Runtime
  readonly clock: SimulatedClock
  readonly store: Store
  /** When the crashing child looked, in milliseconds from the start: once in each of its lives. */
  readonly looks: number[]
}

async function world({ cleanup }: Pick<CaseContext, 'cleanup'>): Promise<World> {
  const clock = simulatedClock(0)
  const store = memoryStore()
  const runtime = await createRuntime({ clock, store })
  cleanup(() => runtime.close())
  return { runtime, clock, store, looks: [] }
}

const root = (agents: readonly (AgentDefinition | SubAgentOptions)[]): AgentDefinition =>
  defineAgent({
    name: 'root',
    agents,
    model: policyModel(({ messages }) => {
      const results = messages.filter(({ role }) => role === 'toolResult').map(({ content }) => textOf(content))
      if (results.length > 0) return results.join(' | ')
      const names = agents.map((entry) => ('definition' in entry ? entry.definition.name : entry.name))
      if (names.length === 0) return 'nothing to do'
      return { toolCalls: names.map((name) => ({ name, input: { task: 'x' } })) }
    }),
  })

async function pass(clock: SimulatedClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 50) {
    await clock.advance(50)
    await quiet()
  }
}

async function recordsOf(store: Store, agentId: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read(agentId)) records.push(record)
  return records
}

describe('a child that always crashes', (it) => {
  it(
    'lives as often as configured, at the times configured, and is then given up',
    { timeoutMs: 10_000 },
    async (context) => {
      const { runtime, clock, looks } = await world(context)
      const worker = looker('worker', () => looks.push(clock.now()), defective)
      const options = { restart: 'transient', maxRestarts: 3, windowMs: 60_000, backoffMs: 100 } as const
      const agent = await runtime.spawn(root([{ definition: worker, ...options }]), { id: 'r' })
      const run = agent.prompt('go')
      await pass(clock, 2_000)
      assert.match((await run.result).text, 'a defect')
      assert.equal(looks, [0, 100, 300, 700])
      await pass(clock, 100_000)
      assert.is(looks.length, 4)
      assert.is(clock.pending, 0)
      assert.equal(agent.tree().children, [])
      assert.equal((await agent.prompt('again').result).stopReason, 'stop', 'its caller works on')
    },
  )

  it(
    'does not touch its siblings: their logs are those of a tree without it',
    { timeoutMs: 10_000 },
    async (context) => {
      const logs = async (crashing: typeof estimateTokens): Promise<LogRecord[][]> => {
        const { runtime, clock, store, looks } = await world(context)
        const crasher = looker('crasher', () => looks.push(clock.now()), crashing)
        const siblings = ['one', 'two', 'three'].map((name) => looker(name, () => {}))
        const agents = [siblings[0]!, { definition: crasher, backoffMs: 50 }, siblings[1]!, siblings[2]!]
        const agent = await runtime.spawn(root(agents), { id: 'r' })
        const run = agent.prompt('go')
        await pass(clock, 2_000)
        assert.match((await run.result).text, /one saw it \| .* \| two saw it \| three saw it/)
        assert.is(looks.length > 1, crashing === defective)
        return Promise.all(['r.1', 'r.3', 'r.4'].map((id) => recordsOf(store, id)))
      }
      assert.equal(await logs(defective), await logs(estimateTokens))
    },
  )

  it(
    'is begun anew for code as well, under the same id, until it is given up; the others work on',
    { timeoutMs: 10_000 },
    async (context) => {
      const { runtime, clock, store, looks } = await world(context)
      const agent = await runtime.spawn(root([]), { id: 'r' })
      const worker = looker('worker', () => looks.push(clock.now()), defective)
      const child = await agent.spawn({ definition: worker, maxRestarts: 2, backoffMs: 100 })
      const other = await agent.spawn(looker('other', () => {}))
      const { stopReason, error } = await child.prompt('go').result
      assert.equal([stopReason, error?.code], ['error', 'INTERNAL'])
      await pass(clock, 2_000)
      assert.equal(looks, [0, 100, 300])
      assert.equal(agent.children(), [other])
      const ended = (await recordsOf(store, 'r')).filter((record) => record.type === 'child.ended')
      assert.is(ended[0]!.error!.code, 'CHILD_CRASHED')
      assert.match(ended[0]!.error!.message, 'a defect')
      assert.is((await other.prompt('go').result).text, 'other saw it')
    },
  )

  it('takes those below it along: none of them works on without it', { timeoutMs: 10_000 }, async (context) => {
    const { runtime, clock, store, looks } = await world(context)
    const hanging: AbortSignal[] = []
    const leaf = defineAgent({
      name: 'leaf',
      model: policyModel(() => ({ toolCalls: [{ name: 'hang', input: {} }] })),
      tools: [
        tool('hang', (_, { signal }) => {
          hanging.push(signal)
          return new Promise<never>(() => {})
        }),
      ],
    })
    const agent = await runtime.spawn(root([]), { id: 'r' })
    const worker = looker('worker', () => looks.push(clock.now()), defective)
    const middle = await agent.spawn({ definition: worker, restart: 'never' }, { id: 'middle' })
    const below = await middle.spawn(leaf, { id: 'leaf' })
    const lost = below.prompt('go')
    await quiet()
    assert.is(hanging.length, 1)
    await middle.prompt('go').result
    await pass(clock, 1_000)
    assert.ok(hanging[0]!.aborted)
    assert.is.not((await lost.result).stopReason, 'stop')
    assert.equal(agent.tree().children, [])
    assert.equal([runtime.agent('middle'), runtime.agent('leaf')], [undefined, undefined])
    // Their logs are free: another may go on with them.
    for (const id of ['middle', 'leaf']) await (await store.open(id)).release()
    assert.equal((await agent.prompt('again').result).stopReason, 'stop')
  })
})
