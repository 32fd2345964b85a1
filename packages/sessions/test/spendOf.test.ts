import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { savingsOf, treeSavings } from '../src/savings/savings.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { recordVersion, type LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { noUsage } from '../../../src/protocol/text/messageText.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { readAll } from '../../evaluation/src/testing/contractDemands.ts'
import { LogUses } from '../src/spend/logUses.ts'
import { spendOf } from '../src/spend/spendOf.ts'
import { created, fill, storeOf } from './sessionLogs.ts'

const prices = { input: 1, output: 1 }

interface ReplySaid {
  readonly time: number
  readonly costUsd?: number
  readonly model?: string
  readonly prices?: typeof prices
}

/** A log with replies at these times, of 100 tokens each. */
const logOf = (
  agentId: string,
  replies: readonly ReplySaid[],
  origin: Partial<Extract<LogRecord, { type: 'agent.created' }>> = {},
): LogRecord[] => [
  { ...created(agentId), ...origin },
  ...replies.map(({ time, costUsd = 1, model = 'm:one', ...rest }, index) =>
    reply(index + 2, time, costUsd, model, rest),
  ),
]

const reply = (seq: number, time: number, costUsd: number, model: string, rest: object): LogRecord => ({
  v: recordVersion,
  seq,
  time,
  type: 'reply.end',
  runId: 'r',
  turnIndex: 0,
  nodeId: 2,
  parentId: 1,
  message: { role: 'assistant', content: [], stopReason: 'stop', usage: { ...noUsage, input: 100 }, model },
  costUsd,
  estimatedTokens: 0,
  ...(costUsd === 0 ? {} : { prices }),
  ...rest,
})

const costs = (groups: readonly { readonly key: string | null; readonly costUsd: number }[]) =>
  groups.map(({ key, costUsd }) => [key, costUsd])

const team = (name: string) => ({ metadata: { team: name, user: `${name}-1` } })

describe('what a store has spent', (it) => {
  it('is summed by session, user, model, definition or value, the most expensive first', async () => {
    const store = await storeOf({
      a: logOf('a', [{ time: 1 }, { time: 2, model: 'm:two', costUsd: 5 }], team('red')),
      b: logOf('b', [{ time: 3, costUsd: 2 }], { ...team('blue'), definition: 'other' }),
      c: logOf('c', [{ time: 4, costUsd: 0.5 }]),
    })
    const by = async (what: Parameters<typeof spendOf>[1]) => costs((await spendOf(store, what)).groups)
    assert.equal(await by({}), [
      ['a', 6],
      ['b', 2],
      ['c', 0.5],
    ])
    assert.equal(await by({ by: 'model' }), [
      ['m:two', 5],
      ['m:one', 3.5],
    ])
    assert.equal(await by({ by: 'definition' }), [
      ['tester', 6.5],
      ['other', 2],
    ])
    assert.equal(await by({ by: { metadata: 'team' } }), [
      ['red', 6],
      ['blue', 2],
      [null, 0.5],
    ])
    assert.equal(await by({ by: 'user' }), [
      ['red-1', 6],
      ['blue-1', 2],
      [null, 0.5],
    ])
    assert.equal(await by({ metadata: { team: 'blue' } }), [['b', 2]])
    const { costUsd, requests, usage, groups } = await spendOf(store)
    assert.equal([costUsd, requests, usage.input, groups[0]!.agents], [8.5, 4, 400, 1])
  })

  it('counts a time from its first millisecond to before its end, and leaves logs from before unread', async () => {
    const inner = await storeOf({
      old: logOf('old', [{ time: 9 }]),
      a: logOf('a', [{ time: 9 }, { time: 10 }, { time: 19 }, { time: 20 }]),
    })
    const read: string[] = []
    const store: Store = {
      ...inner,
      page: (query) => inner.page!(query),
      open: (id) => inner.open(id),
      append: (id, records) => inner.append(id, records),
      list: () => inner.list(),
      close: () => inner.close(),
      read: (id, from, limit) => {
        if (limit === undefined) read.push(id)
        return inner.read(id, from, limit)
      },
    }
    const spent = await spendOf(store, { since: 10, until: 20 })
    assert.equal([spent.costUsd, spent.requests], [2, 2])
    assert.equal(read, ['a'])
    const series = await spendOf(store, { since: 10, every: 5 })
    assert.equal(series.groups[0]!.over, [1, 1, 1])
  })

  it('counts use without a price apart, in tokens; a free model has one', async () => {
    const store = await storeOf({
      a: logOf('a', [{ time: 1 }, { time: 2, costUsd: 0 }]),
      free: logOf('free', [{ time: 1, costUsd: 0, prices: { input: 0, output: 0 } }]),
    })
    const { unpriced, groups, costUsd } = await spendOf(store)
    assert.equal([costUsd, unpriced.requests, unpriced.usage.input], [1, 1, 100])
    assert.equal(
      groups.map((group) => [group.key, group.unpriced.requests]),
      [
        ['a', 1],
        ['free', 0],
      ],
    )
  })

  it('says what brakes saved in all of the time, apart where there is no price', async () => {
    const at = { v: recordVersion, time: 2, runId: 'r', turnIndex: 0 }
    const braked = (agentId: string, rest: Partial<ReplySaid>): LogRecord[] => {
      const [first, one, other] = logOf(agentId, [
        { time: 1, ...rest },
        { time: 3, ...rest },
      ])
      const economics = { freed: 50, rewritten: 0, paysAfter: 1 }
      const prune = { ...at, seq: 3, type: 'prune.applied', applied: true, steps: [2], economics }
      return [first!, one!, prune as unknown as LogRecord, { ...other!, seq: 4 }]
    }
    const store = await storeOf({
      a: braked('a', {}),
      b: braked('b', {}),
      none: logOf('none', [{ time: 1 }]),
      unpriced: braked('unpriced', { costUsd: 0 }),
    })
    const { saved } = await spendOf(store)
    assert.equal([saved?.agents, saved?.tokens, saved?.unpriced], [2, 100, { agents: 1, tokens: 50 }])
    // A dollar a million tokens.
    assert.equal([saved?.usd.low.toFixed(6), saved?.usd.high.toFixed(6)], ['0.000100', '0.000100'])
    assert.is((await spendOf(store, { since: 2 })).saved, undefined)
  })

  it('has the sum of a tree, each agent by its own log, and one without a log as its caller says', async (context) => {
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const pricing = { input: 1_000, output: 1_000 }
    const worker = defineAgent({ name: 'worker', description: 'Works.', pricing, model: policyModel(() => 'done') })
    const lead = defineAgent({
      name: 'lead',
      pricing,
      agents: [worker],
      model: policyModel(({ messages }) =>
        messages.some(({ role }) => role === 'toolResult')
          ? 'It is done.'
          : { toolCalls: [{ name: 'worker', input: { task: 'Work.' } }] },
      ),
    })
    const agent = await runtime.spawn(lead, { id: 'l', metadata: { user: 'anna' } })
    await agent.prompt('Go').result
    const ids = await store.list()
    assert.is(ids.length, 2)
    const logs = await Promise.all(ids.map((id) => readAll(store, id)))
    const whole = treeSavings(logs.map((records) => savingsOf(records))).spent
    const spent = await spendOf(store)
    assert.equal([spent.costUsd, spent.usage, spent.requests], [whole.costUsd, whole.usage, whole.requests])
    assert.equal(costs(spent.groups), [['l', whole.costUsd]])
    assert.equal(
      (await spendOf(store, { by: 'user' })).groups.map(({ key, agents }) => [key, agents]),
      [['anna', 2]],
    )
    assert.equal(
      (await spendOf(store, { by: 'definition' })).groups.map(({ key }) => key),
      ['lead', 'worker'],
    )
    const alone = memoryStore()
    await fill(alone, { l: await readAll(store, 'l') })
    assert.is((await spendOf(alone)).costUsd, whole.costUsd)
  })

  it('counts a sub-agent once that was written last before that time, and one without a log', async () => {
    const ends = (seq: number, callId: string, childId: string | undefined): LogRecord[] => {
      const base = {
        v: recordVersion,
        time: 20,
        runId: 'r',
        turnIndex: 0,
        callId,
        key: callId,
        name: 'worker',
      } as const
      const spent = { usage: { ...noUsage, input: 7 }, costUsd: 3, turns: 1 }
      const message = { role: 'toolResult', callId, toolName: 'worker', content: [], isError: false } as const
      return [
        { ...base, seq, type: 'tool.start', input: {}, attempt: 1, ...(childId === undefined ? {} : { childId }) },
        { ...base, seq: seq + 1, type: 'tool.end', nodeId: 'n3', parent: 'n2', message, durationMs: 1, spent },
      ] as unknown as LogRecord[]
    }
    const lead = [created('lead'), ...ends(2, 'c1', 'lead.1'), ...ends(4, 'c2', 'lead.2'), ...ends(6, 'c3', undefined)]
    const store = await storeOf({ lead, 'lead.1': logOf('lead.1', [{ time: 10 }], { path: ['lead'] }) })
    const { costUsd, requests, groups } = await spendOf(store, { since: 15 })
    assert.equal([costUsd, requests, groups[0]!.agents], [3, 0, 1])
    assert.is((await spendOf(store)).costUsd, 4)
  })

  it('goes on past a log that cannot be read, and names it', async () => {
    const inner = await storeOf({ a: logOf('a', [{ time: 1 }]), broken: logOf('broken', [{ time: 1 }, { time: 2 }]) })
    const store: Store = {
      open: (id) => inner.open(id),
      append: (id, records) => inner.append(id, records),
      list: () => inner.list(),
      close: () => inner.close(),
      async *read(id, from, limit) {
        for await (const record of inner.read(id, from, limit)) {
          if (id === 'broken' && record.seq === 3) throw new Error('a bad sector')
          yield record
        }
      },
    }
    const { costUsd, unread, unreadLogs } = await spendOf(store)
    assert.equal([costUsd, unread, unreadLogs.map(({ agentId }) => agentId)], [2, 1, ['broken']])
  })

  it('refuses what it cannot sum by, and times that are none', async () => {
    const store = memoryStore()
    const wrong = [
      { by: 'colour' },
      { by: { metadata: '' } },
      { since: Number.NaN },
      { since: 5, until: 4 },
      { every: 5 },
    ]
    for (const options of wrong)
      await assert.rejects(() => spendOf(store, options as never), /INVALID_OPTION|spendOf: /)
  })
})

describe('the uses of one log', (it) => {
  it('are joined within a slice of time, and the oldest when there are too many', () => {
    const sliced = new LogUses({ sliceMs: 10, most: 4 })
    for (const record of logOf('a', [{ time: 1 }, { time: 9 }, { time: 11, model: 'm:two' }, { time: 12 }]))
      sliced.apply(record)
    assert.equal(
      sliced.uses.map(({ time, model, requests }) => [time, model, requests]),
      [
        [0, 'm:one', 2],
        [10, 'm:two', 1],
        [10, 'm:one', 1],
      ],
    )
    assert.is(sliced.joinedUntil, 0)
    for (const [index, time] of [25, 35, 45].entries()) sliced.apply(reply(index + 6, time, 1, 'm:one', {}))
    sliced.apply(reply(9, 46, 0, 'm:one', {}))
    const last = sliced.uses.at(-1)!
    assert.equal([last.isUnpriced, last.requests, sliced.uses.at(-2)!.isUnpriced], [true, 1, false])
    assert.is(sliced.joinedUntil, 40)
    assert.is(
      sliced.uses.reduce((sum, { costUsd }) => sum + costUsd, 0),
      7,
    )
  })
})
