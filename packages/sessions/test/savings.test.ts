import { reckoningFold } from '../src/savings/reckoning.ts'
import { SavedSoFar, savingsIn, savingsOf, treeSavings } from '../src/savings/savings.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { assert, describe } from '../../../test/support/suite.ts'

type Part = Readonly<Record<string, unknown>>

const log = (...parts: readonly Part[]): LogRecord[] =>
  parts.map(
    (part, index) =>
      ({ v: 3, seq: index + 1, time: index * 1_000, runId: 'r', turnIndex: index, ...part }) as unknown as LogRecord,
  )
const created = (more: Part = {}): Part => ({ type: 'agent.created', agentId: 'a', definition: 'coder', ...more })
/** Dollars a million: ten times as much for what was not in the cache. */
const prices = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1 }
const usage = (input: number, cacheRead = 0, output = 0) => ({ input, output, cacheRead, cacheWrite: 0 })
const reply = (read: ReturnType<typeof usage>, more: Part = {}, calls: readonly string[] = []): Part => ({
  type: 'reply.end',
  message: {
    role: 'assistant',
    content: calls.map((name) => ({ type: 'toolCall', callId: name, name, input: {} })),
    usage: read,
    model: 'm',
    stopReason: 'stop',
  },
  costUsd: (read.input + 0.1 * read.cacheRead + 5 * read.output) / 1e6,
  estimatedTokens: 0,
  prices,
  window: 50_000,
  ...more,
})
const fold = (freed: number, rewritten = 0, more: Part = {}): Part => ({
  type: 'prune.applied',
  applied: true,
  steps: [2],
  economics: { freed, rewritten, paysAfter: 2 },
  ...more,
})
const result = (name: string, text: string): Part => ({
  type: 'tool.end',
  callId: name,
  name,
  message: { role: 'toolResult', content: [{ type: 'text', text }] },
})
const cents = (usd: { low: number; high: number } | null) =>
  usd === null ? null : [usd.low, usd.high].map((value) => Number((value * 1e6).toFixed(3)))

describe('what the brakes saved', (it) => {
  it('is what each request would have had in addition, at the price of the cache, less what was written anew', () => {
    const { tokens, usd, spent, brakes, byBrakes } = savingsOf(
      log(created(), reply(usage(10_000)), fold(6_000, 3_000), reply(usage(3_000, 1_000)), reply(usage(0, 4_000))),
    )
    assert.is(tokens, 12_000)
    assert.is(spent.usage.input + spent.usage.cacheRead, 18_000)
    // 12,000 tokens of the cache, less 3,000 that cost .9 more.
    assert.is(cents(usd)?.[0], 1_200 - 2_700)
    // The next request wrote so much anew.
    const spoiltUsd = { low: 0.0027, high: 0.0027 }
    assert.equal(brakes, [{ seq: 3, turnIndex: 2, type: 'prune.applied', requests: 2, tokens: 12_000, usd, spoiltUsd }])
    assert.is(byBrakes.requests, 0)
  })

  it('is more by as much as the cache was not read, which is the upper bound', () => {
    const { usd } = savingsOf(
      log(created(), reply(usage(10_000)), reply(usage(10_000)), fold(1_000), reply(usage(0, 9_000))),
    )
    // Of two measurements of a tenth each, one found nothing in the cache.
    assert.equal(cents(usd), [100, 190])
  })

  it('never makes a request larger than the window, and says when that was reached', () => {
    const { sizes, tokens, fullAt, window } = savingsOf(
      log(created(), reply(usage(40_000)), fold(30_000), reply(usage(15_000)), reply(usage(30_000))),
    )
    assert.equal(
      sizes.map(({ without }) => without),
      [40_000, 45_000, 50_000],
    )
    assert.equal([tokens, fullAt, window], [50_000, 4, 50_000])
  })

  it('adds up to the sum of the brakes, also where the window cuts it off', () => {
    const { tokens, usd, brakes } = savingsOf(
      log(
        created(),
        reply(usage(40_000)),
        fold(20_000, 10_000),
        reply(usage(10_000, 15_000)),
        fold(20_000, 500),
        reply(usage(30_000)),
        { type: 'compaction.end', applied: true, usage: usage(9_000), costUsd: 0.01, economics: { freed: 9_000 } },
        reply(usage(20_000)),
      ),
    )
    const sum = (of: (brake: (typeof brakes)[number]) => number): number =>
      brakes.reduce((all, one) => all + of(one), 0)
    assert.ok(Math.abs(sum((one) => one.tokens) - tokens) < 3)
    assert.ok(Math.abs(sum((one) => one.usd!.low) - usd!.low) < 1e-9)
    assert.equal(tokens, 20_000 + 20_000 + 30_000 - 9_000)
  })

  it('is net of summaries, reviewers and lessons, and of turns that only ask a brake', () => {
    const asked = usage(2_000, 0, 100)
    const { tokens, spent, byBrakes, sizes } = savingsOf(
      log(
        created(),
        reply(usage(10_000)),
        fold(5_000),
        { type: 'policy.end', policy: 'p', outcome: 'nothing', usage: asked, costUsd: 0.1 },
        { type: 'memory.extracted', kept: [], usage: asked, costUsd: 0.1 },
        { type: 'revert.applied', applied: false, usage: asked, costUsd: 0.1 },
        reply(usage(5_000, 0, 20), {}, ['recall']),
        result('recall', 'x'.repeat(3_500 - 14)),
        reply(usage(6_020), {}, ['read_file']),
        reply(usage(6_020), {}, ['graft', 'revert_to_state', 'prun']),
      ),
    )
    assert.equal([spent.requests, byBrakes.requests], [7, 5])
    assert.is(Number(byBrakes.costUsd.toFixed(3)), 0.311)
    // The recalled result would never have left: the request without brakes has it once.
    assert.equal(
      sizes.map(({ without }) => without),
      [10_000, 0, 10_000, 0],
    )
    assert.is(tokens, 3_980 - 3 * 2_100 - 5_020 - 6_020)
  })

  it('is charged with no more of the beginning than the next request had to write', () => {
    const { usd, brakes } = savingsOf(
      log(created(), reply(usage(10_000)), fold(600, 4_000), fold(400, 4_000), reply(usage(2_000, 7_000))),
    )
    // 2,000 tokens that cost .9 more; both brakes did half of that.
    assert.is(cents(usd)?.[0], 100 - 1_800)
    assert.equal(
      brakes.map((brake) => cents(brake.usd)?.[0]),
      [60 - 900, 40 - 900],
    )
  })

  it('may be less than nothing, where more came in than went', () => {
    const { tokens, usd } = savingsOf(log(created(), reply(usage(100)), fold(-40), reply(usage(140))))
    assert.is(tokens, -40)
    assert.ok(usd!.low <= usd!.high && usd!.high < 0)
  })
})

describe('a log that does not say all', (it) => {
  const saved = (...more: readonly Part[]) => savingsOf(log(created(), ...more))

  it('is reckoned with the usual window, or a larger one that a request has proved', () => {
    const none = { window: undefined }
    const small = saved(reply(usage(10), none), fold(900_000), reply(usage(10), none))
    assert.equal([small.window, small.isWindowAssumed, small.tokens], [200_000, true, 199_990])
    const large = saved(reply(usage(300_000), none), fold(900_000), reply(usage(100_000), none))
    assert.equal([large.window, large.tokens], [300_000, 200_000])
  })

  it('saves nothing where the window is smaller than what was sent', () => {
    const { tokens, sizes } = saved(reply(usage(90_000)), fold(10_000), reply(usage(80_000)))
    assert.equal([tokens, sizes[1]?.without], [0, 80_000])
  })

  it('has tokens alone without prices, or with such as cannot be', () => {
    const pricedBy = (given: unknown) => saved(reply(usage(100)), fold(50), reply(usage(50), { prices: given }))
    const unknown = pricedBy(undefined)
    assert.equal([unknown.tokens, unknown.usd, unknown.unpriced], [50, null, 'missing'])
    assert.equal([pricedBy({ input: 0, output: 0 }).usd, pricedBy({ input: 0, output: 0 }).unpriced], [null, 'free'])
    for (const given of [
      { input: 0, output: 5 },
      { input: -1, output: 5 },
      { input: Number.NaN, output: 5 },
      { input: 1, output: 5, cacheRead: -0.1 },
      { input: 1e9, output: 5 },
      { input: 0.000003, output: 0.000015 },
      { input: null, output: null },
    ]) {
      const { tokens, usd, unpriced, brakes } = pricedBy(given)
      assert.equal([tokens, usd, unpriced, brakes[0]?.usd], [50, null, 'absurd', null], JSON.stringify(given))
    }
  })

  it('of a provider without a cache has the price of fresh tokens where none is given for cached ones', () => {
    const plain = { prices: { input: 2, output: 5 } }
    const { usd } = saved(reply(usage(9_000), plain), fold(4_000, 3_000), reply(usage(5_000), plain))
    assert.equal(cents(usd), [8_000, 8_000])
  })

  it('of a provider without usage has estimates, and says so', () => {
    const quiet = { estimatedTokens: 5_000 }
    const { tokens, isEstimated, sizes, spent } = saved(reply(usage(0), quiet), fold(1_000), reply(usage(0), quiet))
    assert.equal([tokens, isEstimated, sizes[1]?.without, spent.usage.input], [1_000, true, 6_000, 10_000])
  })

  it('begins in the middle: what was before does not count, and it says so', () => {
    const { tokens, isPartial } = savingsOf(log(reply(usage(100)), fold(50), reply(usage(50))))
    assert.equal([tokens, isPartial], [50, true])
    assert.is(saved(reply(usage(1))).isPartial, false)
  })

  it('goes on from a checkpoint as from its beginning', () => {
    const records = log(created(), reply(usage(100)), fold(50, 9), reply(usage(50)), fold(5), reply(usage(60)))
    for (let at = 0; at <= records.length; at += 1) {
      let state = reckoningFold.initial()
      for (const record of records.slice(0, at)) state = reckoningFold.each!(state, record) ?? state
      state = JSON.parse(JSON.stringify(state)) as typeof state
      for (const record of records.slice(at)) state = reckoningFold.each!(state, record) ?? state
      assert.equal(savingsIn(state), savingsOf(records))
    }
  })

  it('of a fork or an import has only what the agent paid itself', () => {
    const past = log(created(), reply(usage(100_000)), fold(90_000), reply(usage(10_000)))
    const own = log(created({ agentId: 'b', forkedFrom: { agentId: 'a' } }), reply(usage(10)))
    assert.equal(savingsOf([...past, ...own]), savingsOf(own))
    const imported = log(created({ imported: 2 }), { type: 'message.added' }, reply(usage(7_000)), reply(usage(10)))
    assert.equal([savingsOf(imported).spent.requests, savingsOf(imported).sizes.length], [1, 1])
  })

  it('has each reply at the prices of the model that gave it', () => {
    const dear = { prices: { input: 10, output: 50, cacheRead: 1, cacheWrite: 10 } }
    const { usd } = saved(reply(usage(100)), fold(1_000), reply(usage(100)), reply(usage(100), dear))
    assert.equal(cents(usd), [1_100, 11_000])
  })

  it('is not without prices for a reply that was cut off', () => {
    const aborted = reply(usage(50), { prices: undefined })
    const message = { ...(aborted['message'] as object), stopReason: 'aborted' }
    const { unpriced, spent, sizes } = saved(reply(usage(100)), { ...aborted, message })
    assert.equal([unpriced, spent.requests, sizes.length], [undefined, 2, 1])
  })

  it('of an agent that has a tool of the name of a brake, and no brakes, is not charged with it', () => {
    const { byBrakes, tokens } = saved(reply(usage(100), {}, ['recall']), result('recall', 'x'), reply(usage(100)))
    assert.equal([byBrakes.requests, tokens], [0, 0])
  })
})

describe('the savings of a tree', (it) => {
  const dear = { input: 10, output: 50, cacheRead: 1, cacheWrite: 10 }
  const agent = (agentId: string, given: Part, ...more: readonly Part[]) =>
    savingsOf(log(created({ agentId }), ...more, reply(usage(100), given), fold(1_000), reply(usage(100), given)))
  const calls = [
    { type: 'tool.start', callId: 'c', name: 'ask', childId: 'b' },
    { ...result('ask', ''), callId: 'c', spent: { usage: usage(200), costUsd: 9, turns: 1 } },
    { type: 'child.ended', childId: 'ghost', spent: { usage: usage(30), costUsd: 2, turns: 1 } },
  ]

  it('are those of its agents, each at its own prices, and nobody is counted twice', () => {
    const [a, b] = [agent('a', {}, ...calls), agent('b', { prices: dear })]
    const { tokens, usd, spent } = treeSavings([a, b])
    assert.equal([tokens, cents(usd)], [2_000, [1_100, 11_000]])
    // The one without a log counts by what is said of it.
    assert.equal([spent.requests, spent.usage.input], [4, 430])
    assert.is(Math.floor(spent.costUsd), 2)
    assert.equal(Object.keys(a.children), ['b', 'ghost'])
  })

  it('know the agents below that have not reported yet', () => {
    const begun = [
      { type: 'tool.start', callId: 'c', name: 'ask', childId: 'b' },
      { type: 'child.spawned', childId: 'd', definition: 'coder' },
    ]
    assert.equal(Object.keys(savingsOf(log(created(), ...begun)).children), ['b', 'd'])
  })

  it('have no dollars if those of one agent are not known', () => {
    const { usd, unpriced, tokens } = treeSavings([agent('a', {}), agent('b', { prices: undefined })])
    assert.equal([usd, unpriced, tokens], [null, 'missing', 2_000])
  })
})

describe('savings that are kept in little room', (it) => {
  const savedIn = (records: readonly LogRecord[]): SavedSoFar => {
    const so = new SavedSoFar()
    for (const record of records) so.apply(record)
    return so
  }
  it('are those of the whole log, however long it is', () => {
    // Each brake comes just after the parts before it were dropped.
    const parts = Array.from({ length: 400 }, (_, at) =>
      at % 66 === 65 ? fold(200, 2_000, { usage: usage(70), costUsd: 0.00007 }) : reply(usage(9_000, 3_000)),
    )
    const records = log(created(), ...parts)
    const { tokens, usd, brakes } = savingsOf(records)
    assert.is(brakes.length, 6)
    assert.equal(savedIn(records).saved, { tokens, usd })
    const unpriced = log(created(), reply(usage(10), { prices: undefined }), fold(5), reply(usage(10)))
    assert.is(savedIn(unpriced).saved?.usd, null)
  })
  it('are none where no brake did anything', () => {
    assert.is(savedIn(log(created(), reply(usage(100)))).saved, undefined)
  })
})
