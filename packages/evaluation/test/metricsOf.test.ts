import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { createRuntime, type Runtime } from '../../bridge/src/createRuntime.ts'
import { metricsOf } from '../src/metrics/metricsOf.ts'
import { prefixBreaks } from '../src/metrics/prefixBreaks.ts'
import { repeatedAbandoned } from '../src/metrics/repeatedAbandoned.ts'
import type { TrialMetrics } from '../src/results.ts'
import type { Usage } from '../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { foldSpent, nothingYet, totalSpent } from '../../../src/log/spent.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { scriptedModel, type ScriptedReply } from '../src/testing/scriptedModel.ts'
import { simulatedClock } from '../src/testing/simulatedClock.ts'
import { calls, tool } from '../../../test/support/agentHarness.ts'
import { BrakeLog } from '../../../test/support/brakeLog.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

const look = tool('look', ({ at }: { at?: string }) => {
  if (at === 'nowhere') throw new Error('there is nothing')
  return `seen ${at}`
})

const used = (input: number, cacheRead: number, output: number): Usage => ({ input, output, cacheRead, cacheWrite: 0 })
/** A reply that says how many tokens it took. */
const reply = (shape: object | string, usage: Usage): ScriptedReply => ({
  ...(typeof shape === 'string' ? { text: shape } : shape),
  usage,
})

interface World {
  readonly runtime: Runtime
  logs(): Promise<LogRecord[][]>
}

async function recordsOf(store: Store, id: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read(id)) records.push(record)
  return records
}

async function world({ cleanup }: Pick<CaseContext, 'cleanup'>): Promise<World> {
  const store = memoryStore()
  const runtime = await createRuntime({ store, clock: simulatedClock(), random: () => 0 })
  cleanup(() => runtime.close())
  return {
    runtime,
    logs: async () => {
      const ids = (await store.list()).toSorted((a, b) => a.length - b.length)
      return await Promise.all(ids.map((id) => recordsOf(store, id)))
    },
  }
}

const pricing = { input: 1, output: 5, cacheRead: 0.1 }

const agentOf = (
  name: string,
  replies: readonly ScriptedReply[],
  options: Partial<Parameters<typeof defineAgent>[0]> = {},
): AgentDefinition =>
  defineAgent({ name, compaction: false, pricing, tools: [look], model: scriptedModel(replies), ...options })

async function metricsFor(
  context: CaseContext,
  agent: AgentDefinition,
  prompts: readonly string[],
  isPriced = true,
): Promise<{ metrics: TrialMetrics; logs: LogRecord[][] }> {
  const { runtime, logs } = await world(context)
  const root = await runtime.spawn(agent, { id: 'a' })
  for (const prompt of prompts) await root.prompt(prompt).result
  const all = await logs()
  return { metrics: metricsOf(all, { isPriced }), logs: all }
}

describe('metricsOf', (it) => {
  it('counts turns, requests, calls and tokens of an agent and of those below it, each once, and what they cost', async (context) => {
    const helper = agentOf('helper', [
      reply(calls('h', ['look', { at: 'nowhere' }]), used(100, 50, 10)),
      reply('helped', used(20, 150, 20)),
    ])
    const agent = agentOf(
      'asker',
      [
        reply(calls('a', ['helper', { task: 'x' }], ['look', { at: 'here' }]), used(1_000, 0, 40)),
        reply('first', used(100, 1_000, 5)),
        reply('second', used(200, 1_100, 6)),
      ],
      { agents: [helper] },
    )
    const { metrics, logs } = await metricsFor(context, agent, ['go', 'on'])
    const { turns, requests, calls: made, failedCalls, usage, costUsd, peakTokens, cachedShare } = metrics
    assert.is(logs.length, 2)
    assert.equal([turns, requests, made, failedCalls], [5, 5, 3, 1])
    assert.equal(usage, used(1_420, 2_300, 81))
    assert.ok(Math.abs(costUsd! - (1_420 + 230 + 405) / 1e6) < 1e-12)
    assert.is(peakTokens, 1_300)
    assert.is(cachedShare, 2_300 / 3_720)
    assert.is(metrics.prefixBreaks, null)
    // As the log of the agent itself has it, sub-agents included.
    const { usage: told, costUsd: cost } = totalSpent(logs[0]!.reduce(foldSpent, nothingYet))
    assert.equal(told, usage)
    assert.ok(Math.abs(cost - costUsd!) < 1e-12)
  })

  it('has no cost where nobody knows prices', async (context) => {
    const agent = defineAgent({
      name: 'cheap',
      compaction: false,
      model: scriptedModel([reply('done', used(10, 0, 1))]),
    })
    const { metrics } = await metricsFor(context, agent, ['go'], false)
    assert.is(metrics.costUsd, null)
  })

  it('counts what a sub-agent without a log used, by the word of who asked it', async (context) => {
    const { runtime, logs } = await world(context)
    const root = await runtime.spawn(agentOf('root', [reply('done', used(10, 0, 1))]), { id: 'a' })
    const child = await root.spawn(agentOf('beside', [reply('here', used(500, 0, 3))]), { incognito: true })
    await child.prompt('are you there?').result
    await child.stop()
    await root.prompt('go').result
    const all = await logs()
    assert.is(all.length, 1)
    assert.equal(metricsOf(all, { isPriced: true }).usage, used(510, 0, 4))
  })

  it('finds calls that were given up and are made again, recalls, reverts, and requests that begin otherwise', async (context) => {
    const agent = agentOf(
      'tried',
      [
        calls('a', ['look', { at: 'nowhere' }]),
        calls('b', ['revert_to_state', { category: 'failure', step: 'n1', summary: 'nothing there' }]),
        calls('c', ['look', { at: 'here' }]),
        calls('d', ['look', { at: 'nowhere' }]),
        calls('e', ['recall', { query: 'nothing' }]),
        'done',
      ],
      { braking: { revert: true, recall: true }, captureTurnRequests: true },
    )
    const { metrics } = await metricsFor(context, agent, ['go'])
    const { reverts, recalls, repeatedAbandoned: repeated, prefixBreaks: breaks, turns } = metrics
    assert.equal(
      { reverts, recalls, repeated, breaks, turns },
      { reverts: 1, recalls: 1, repeated: 1, breaks: 1, turns: 6 },
    )
  })

  it('counts a request that failed and was made again, and what it had used', async (context) => {
    const agent = agentOf('shaky', [{ error: { kind: 'badRequest', message: 'no' } }, reply('done', used(10, 0, 1))])
    const { metrics } = await metricsFor(context, agent, ['go', 'again'])
    assert.equal([metrics.turns, metrics.requests, metrics.usage], [2, 2, used(10, 0, 1)])
  })

  it('says nothing of no log', () => {
    const { turns, costUsd, cachedShare, prefixBreaks: breaks, runMs } = metricsOf([], { isPriced: true })
    assert.equal([turns, costUsd, cachedShare, breaks, runMs], [0, 0, 0, null, 0])
  })
})

describe('time at work', (it) => {
  const record = (seq: number, time: number, rest: object): LogRecord =>
    ({ v: 3, seq, time, runId: 'r', turnIndex: 0, ...rest }) as LogRecord
  const usage = used(0, 0, 0)

  it('is that of all runs, without what waited for people and what lay between them', () => {
    const log = [
      record(1, 1_000, { type: 'run.start', cause: 'prompt', requestId: 'p', limits: {} }),
      record(2, 1_400, { type: 'approval.requested', callId: 'c', key: 'k', name: 'look', input: {} }),
      record(3, 9_400, { type: 'approval.decided', callId: 'c', key: 'k', decision: 'approve' }),
      record(4, 9_500, { type: 'run.end', stopReason: 'stop', turns: 1, usage, costUsd: 0 }),
      record(5, 50_000, { type: 'run.start', cause: 'prompt', requestId: 'q', limits: {} }),
      record(6, 50_200, { type: 'run.end', stopReason: 'stop', turns: 1, usage, costUsd: 0 }),
    ]
    const isWork = ({ type }: LogRecord): boolean => !type.startsWith('approval')
    assert.is(metricsOf([log], { isPriced: true }).runMs, 500 + 200)
    const alone = log.filter(isWork).map((one, index) => ({ ...one, seq: index + 1 }))
    assert.is(metricsOf([alone], { isPriced: true }).runMs, 8_500 + 200)
  })
})

describe('prefix breaks', (it) => {
  const captured = (seq: number, kept: number, texts: readonly string[], more: object = {}): LogRecord =>
    ({
      v: 3,
      seq,
      time: 0,
      runId: 'r',
      turnIndex: seq,
      type: 'turn.captured',
      attempt: 1,
      model: 'm',
      kept,
      messages: [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }],
      provenance: [],
      ...more,
    }) as unknown as LogRecord
  const frame = { system: 's', tools: [], settings: {} }

  it('are requests that lack something of the one before, by its blocks: a message that grows is none', () => {
    assert.is(prefixBreaks([]), null)
    assert.is(prefixBreaks([captured(1, 0, ['a'], frame)]), 0)
    assert.is(prefixBreaks([captured(1, 0, ['a'], frame), captured(2, 0, ['a', 'b'])]), 0)
    assert.is(prefixBreaks([captured(1, 0, ['a', 'b'], frame), captured(2, 0, ['a', 'c', 'b'])]), 1)
    assert.is(prefixBreaks([captured(1, 0, ['a', 'b'], frame), captured(2, 0, ['a'])]), 1)
    assert.is(prefixBreaks([captured(1, 0, ['a'], frame), captured(2, 0, ['a', 'b'], { system: 't' })]), 1)
    assert.is(prefixBreaks([captured(1, 0, ['a'], frame), captured(2, 1, ['b']), captured(3, 2, ['c'])]), 0)
  })
})

describe('repeated abandoned calls', (it) => {
  it('are those of a failure or a tangent, with the same arguments in whatever order, and only once they were given up', () => {
    const log = new BrakeLog()
    log.user('the task')
    const call = (input: unknown) => [{ name: 'try', input, isIrreversible: true }] as const
    log.step(call({ a: 1, b: 2 }))
    log.step(call({ a: 1, b: 2 }))
    assert.is(repeatedAbandoned(log.records), 0)
    log.revert('n1', 'no', 'failure')
    log.step(call({ b: 2, a: 1 }))
    log.step(call({ a: 1, b: 3 }))
    assert.is(repeatedAbandoned(log.records), 1)
    log.revert('n1', 'done with it', 'completion')
    log.step(call({ a: 1, b: 3 }))
    assert.is(repeatedAbandoned(log.records), 1)
    log.step(call({ a: 1, b: 2 }))
    assert.is(repeatedAbandoned(log.records), 2)
  })
})
