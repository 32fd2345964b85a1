import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import type { Economics } from '../../src/protocol/economics.ts'
import { noUsage, type Usage } from '../../src/protocol/messages.ts'
import type { ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, startAgent, tool, usageOf, type Harness, type HarnessOptions } from '../support/agentHarness.ts'
import { notesIn } from '../support/brakeLog.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const long = 'output '.repeat(500)
const look = tool('look', () => long, { effects: 'none' })
const revert = (step: string, category = 'failure') =>
  ['revert_to_state', { category, step, summary: 'led nowhere' }] as const
const using = (reply: ScriptedReply, usage: Partial<Usage>): ScriptedReply => ({
  ...(reply as object),
  usage: { ...noUsage, ...usage },
})

const start = (context: CaseContext, replies: readonly ScriptedReply[], options: HarnessOptions = {}) =>
  startAgent(context, { braking: { revert: true, prune: true }, tools: [look], replies, ...options })

const economicsIn = ({ ofType }: Harness, type: 'revert.applied' | 'prune.applied'): (Economics | undefined)[] =>
  ofType(type).map(({ economics }) => economics)

/** By the prices of most providers: a request read from the cache, what the model wrote, what is rewritten. */
const pays = ({ freed, rewritten }: Economics, asking: { read?: number; wrote?: number } = {}): number =>
  Math.floor(((asking.read ?? 0) + 50 * (asking.wrote ?? 0) + 11.5 * rewritten) / freed) + 1

describe('what a revert costs and saves', (it) => {
  it('is the span less the note, what follows the target, and the request in which it was asked for', async (context) => {
    const harness = await start(context, [
      calls('a', 'look'),
      calls('b', 'look'),
      using(calls('c', revert('n3')), { input: 100, cacheRead: 900, cacheWrite: 1_000, output: 80 }),
      'done',
    ])
    await harness.agent.prompt('go').result
    const [economics] = economicsIn(harness, 'revert.applied')
    const { conversation } = harness.agent as unknown as { conversation: Conversation }
    const { counter } = conversation
    // As measured when it was decided: by the reply that asked.
    const asked = harness.ofType('reply.end')[2]!
    const correction = 2_000 / asked.estimatedTokens
    const [note] = notesIn(harness.script.requests[3]!.messages)
    const span = conversation.abandoned().reduce((sum, { tokens }) => sum + tokens, 0)
    const noteTokens = counter.text(note!)
    assert.ok(Math.abs(economics!.freed - (span - noteTokens) * correction) <= 1)
    assert.ok(Math.abs(economics!.rewritten - noteTokens * correction) <= 1)
    assert.is(economics!.paysAfter, pays(economics!, { read: 2_000, wrote: 80 }))
    assert.ok(economics!.paysAfter! > 1)
  })

  it('is the call alone, when the reply did other work as well', async (context) => {
    const usage = { cacheRead: 400_000, output: 90_000 }
    const harness = await start(context, [calls('a', 'look'), using(calls('b', revert('n1'), 'look'), usage), 'done'])
    await harness.agent.prompt('go').result
    assert.is(economicsIn(harness, 'revert.applied')[0]!.paysAfter, 1)
  })

  it('has no cost of asking when a person asked', async (context) => {
    const harness = await start(context, [using(calls('a', 'look'), { input: 5_000 }), 'done'])
    await harness.agent.prompt('go').result
    harness.agent.revert('n1', { category: 'failure' })
    await harness.until(({ type }) => type === 'revert.applied')
    const [economics] = economicsIn(harness, 'revert.applied')
    assert.is(economics!.paysAfter, pays(economics!))
  })

  it('includes the summary that a model wrote', async (context) => {
    const written = { text: 'Done: read the file.', usage: usageOf(40_000, 30) }
    const harness = await start(
      context,
      [calls('a', 'look'), calls('b', ['revert_to_state', { category: 'completion', step: 'n1' }]), written, 'done'],
      { check: false },
    )
    await harness.agent.prompt('go').result
    const { economics, usage } = harness.ofType('revert.applied')[0]!
    assert.is(usage?.input, 40_000)
    assert.ok(economics!.paysAfter! > (10 * 40_000) / economics!.freed)
  })

  it('follows the prices of the agent', async (context) => {
    const flat = { input: 1, output: 0 }
    const harness = await start(context, [calls('a', 'look'), using(calls('b', revert('n1')), usageOf(1, 1)), 'done'], {
      pricing: flat,
    })
    await harness.agent.prompt('go').result
    assert.is(economicsIn(harness, 'revert.applied')[0]!.paysAfter, 1)
  })

  it('is not told of a refused one', async (context) => {
    const harness = await start(context, [calls('a', revert('n99')), 'done'])
    await harness.agent.prompt('go').result
    assert.equal(economicsIn(harness, 'revert.applied'), [undefined])
  })
})

describe('what a prune costs and saves', (it) => {
  it('rewrites all that follows; two of one reply share its request, and the second rewrites only what the first left', async (context) => {
    const harness = await start(context, [
      ...['a', 'b', 'c', 'd'].map((prefix) => calls(prefix, 'look')),
      using(calls('e', ['prun', { steps: ['n4'] }], ['prun', { steps: ['n6'], memo: 'read it' }]), {
        cacheRead: 8_000,
        output: 60,
      }),
      'done',
    ])
    await harness.agent.prompt('go').result
    const [first, second] = economicsIn(harness, 'prune.applied')
    const correction = 8_000 / harness.ofType('reply.end')[4]!.estimatedTokens
    const step = Math.round(((long.length / 3.5) | 0) * correction)
    assert.ok(first!.freed > step && first!.freed < step + 40 * correction, `${first!.freed} of ${step}`)
    // Three steps follow the first: one of them the call itself.
    assert.ok(first!.rewritten > 2 * step)
    assert.is(second!.rewritten, 0)
    assert.ok(second!.freed < first!.freed, 'less its memo')
    assert.is(first!.paysAfter, pays(first!, { read: 4_000, wrote: 30 }))
    assert.is(second!.paysAfter, pays(second!, { read: 4_000, wrote: 30 }))
  })

  it('is not told of a refused one', async (context) => {
    const harness = await start(context, [calls('a', ['prun', { steps: ['n99'] }]), 'done'])
    await harness.agent.prompt('go').result
    assert.equal(economicsIn(harness, 'prune.applied'), [undefined])
  })
})

describe('what a compaction costs and saves', (it) => {
  it('is told with its figures, and the model that wrote the summary is part of it', async (context) => {
    const compaction = {
      contextWindow: 4_000,
      keepRecent: 1,
      maxSummaryTokens: 100,
      strategy: { name: 'test', summarise: async () => ({ text: 'looked around', usage: usageOf(3_000, 10) }) },
    }
    const harness = await startAgent(context, {
      tools: [look],
      replies: ['a', 'b', 'c', 'd'].map((prefix) => using(calls(prefix, 'look'), {})).concat('done'),
      compaction,
      check: false,
    })
    await harness.agent.prompt('go').result
    const applied = harness.ofType('compaction.end').filter((event) => event.applied)
    assert.ok(applied.length > 0)
    for (const { economics, tokensBefore, tokensAfter } of applied) {
      assert.is(economics!.freed, tokensBefore - tokensAfter)
      assert.ok(economics!.rewritten > 0 && economics!.rewritten < tokensAfter)
      const cost = 10 * 3_000 + 50 * 10 + 11.5 * economics!.rewritten
      assert.is(economics!.paysAfter, Math.floor(cost / economics!.freed) + 1)
    }
    for (const { applied: isApplied, economics } of harness.ofType('compaction.end'))
      assert.is(economics !== undefined, isApplied)
  })
})
