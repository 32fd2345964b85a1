import { createRuntime, defineAgent, policyModel, type Model, type Store } from '../../../../src/index.ts'
import { liveScores, scriptedModel, simulatedClock } from '../../../../src/testing.ts'
import type { LiveScore, LiveScoresOptions } from '../../src/live/liveTypes.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { spendOf } from '../../../sessions/src/spend/spendOf.ts'
import { lastingStore } from '../../../bridge/test/server/bridgeHarness.ts'
import { tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { asKilled } from '../../../ai-sdk/test/chatHarness.ts'
import { isSampled } from '../../src/live/sampled.ts'

const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0 }
const echo = (): Model =>
  policyModel(({ messages }) =>
    messages
      .at(-1)!
      .content.map((block) => ('text' in block ? block.text : ''))
      .join(''),
  )
/** A model that fails for good. */
const out = (message: string): Model => ({
  id: 'test:out',
  async *stream() {
    yield { type: 'error', error: { kind: 'badRequest', message } }
  },
})
const support = (model: Model = echo()) => defineAgent({ name: 'support', model })
const verdict = (score: number, reason = 'Because.') => ({ text: JSON.stringify({ reason, score }), usage })

interface Lab {
  readonly runtime: Awaited<ReturnType<typeof createRuntime>>
  readonly scores: ReturnType<typeof liveScores>
  readonly store: Store
  readonly given: LiveScore[]
  readonly failed: string[]
  /** Ends the process as `kill` does. */
  kill(): Promise<void>
}

/** A runtime whose runs are scored, all of them unless the options say otherwise; everything is closed after the case. */
async function openLab(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  options: LiveScoresOptions,
  { store = memoryStore(), begin = true }: { readonly store?: Store; readonly begin?: boolean } = {},
): Promise<Lab> {
  const given: LiveScore[] = []
  const failed: string[] = []
  const scores = liveScores({
    sample: 1,
    onScore: (score) => void given.push(score),
    onError: ({ message }, { scorer = '-' }) => void failed.push(`${scorer}: ${message}`),
    ...options,
  })
  const runtime = await createRuntime({ store, tracer: scores.tracer })
  const kill = async (): Promise<void> => {
    await scores.close()
    await runtime.close().catch(() => {})
  }
  cleanup(kill)
  if (begin) await scores.begin(runtime, store)
  return { runtime, scores, store, given, failed, kill }
}

const shape = (scores: readonly LiveScore[]) =>
  scores.map(({ scorer, value, passed, reason }) => [scorer, value, passed, reason])

describe('scores of runs in production', (it) => {
  it('are given by functions and by a judge, each in a session of its own, with what it costs', async (context) => {
    const judge = scriptedModel([verdict(0.4, 'Curt.')])
    const prices = { [judge.id]: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 } }
    const { runtime, scores, store, given, failed } = await openLab(context, {
      scorers: {
        brief: ({ answer, prompts }) => ({ value: 1, reason: `${prompts.join()} ${answer.length}` }),
        polite: { judge: 'It is polite.', min: 0.3 },
      },
      judge,
      prices,
    })
    const agent = await runtime.spawn(support(), { id: 'a', metadata: { user: 'u' } })
    const { runId } = await agent.prompt('hello').result
    await scores.settled()
    assert.equal(failed, [])
    assert.equal(shape(given), [
      ['brief', 1, true, 'hello 5'],
      ['polite', 0.4, true, 'Curt.'],
    ])
    assert.match(JSON.stringify(judge.requests[0]), 'It is polite.')
    const [, polite] = given
    assert.equal([polite!.agentId, polite!.definition, polite!.runId], ['a', 'support', runId])
    assert.ok(polite!.costUsd > 0)
    const { costUsd } = await spendOf(store, { metadata: { liveScore: true } })
    assert.is(costUsd, polite!.costUsd)
    const { value: created } = await store.read(polite!.scoredBy)[Symbol.asyncIterator]().next()
    assert.ok(created?.type === 'agent.created')
    assert.equal(created.metadata, { liveScore: true, scorer: 'polite', scored: 'a', run: runId })
    assert.equal(
      runtime.agents().map(({ id }) => id),
      ['a'],
    )
  })

  it('are for the same share of runs in every process, and only for ends that are answers', async (context) => {
    const runs = Array.from({ length: 2_000 }, (_, index) => ({ agentId: `a${index}`, runId: `r${index}` }))
    const chosen = runs.filter((run) => isSampled(run, 0.1))
    assert.ok(chosen.length > 150 && chosen.length < 250, `${chosen.length}`)
    assert.ok(chosen.every((run) => isSampled(run, 0.3)))
    assert.equal(
      [runs.filter((run) => isSampled(run, 0)).length, runs.filter((run) => isSampled(run, 1)).length],
      [0, 2_000],
    )
    const seen: string[] = []
    const { runtime, scores } = await openLab(context, {
      scorers: { seen: ({ agentId, stopReason }) => seen.push(`${agentId} ${stopReason}`) > 0 },
      definitions: ['support', 'careful'],
    })
    const failing = out('out')
    await (await runtime.spawn(support(), { id: 'fine' })).prompt('x').result
    await (await runtime.spawn(support(failing), { id: 'fails' })).prompt('x').result
    await (await runtime.spawn(defineAgent({ name: 'other', model: echo() }), { id: 'other' })).prompt('x').result
    await (await runtime.spawn(support(), { id: 'secret', incognito: true })).prompt('x').result
    const boss = defineAgent({
      name: 'boss',
      agents: [defineAgent({ name: 'support', description: 'Helps.', model: echo() })],
      model: policyModel(({ messages }) =>
        messages.at(-1)!.role === 'user' ? { toolCalls: [{ name: 'support', input: { task: 'x' } }] } : 'done',
      ),
    })
    await (await runtime.spawn(boss, { id: 'boss' })).prompt('x').result
    const asks = policyModel(() => ({ toolCalls: [{ name: 'look', input: {} }] }))
    const careful = defineAgent({
      name: 'careful',
      model: asks,
      tools: [tool('look', () => 'x', { needsApproval: true })],
    })
    const agent = await runtime.spawn(careful, { id: 'aborted' })
    const run = agent.prompt('x')
    await agent.settled()
    agent.abort()
    await run.result
    await scores.settled()
    assert.equal(seen.toSorted(), ['fails error', 'fine stop'])
  })

  it('are made up for after a crash between the end of a run and its score, and never made twice', async (context) => {
    const store = lastingStore()
    const begun = Promise.withResolvers<void>()
    const before = await openLab(
      context,
      {
        scorers: {
          first: () => true,
          slow: () => {
            begun.resolve()
            return new Promise<boolean>(() => {})
          },
        },
      },
      { store },
    )
    await (await before.runtime.spawn(support(), { id: 'a' })).prompt('one').result
    await begun.promise
    assert.equal(shape(before.given), [['first', 1, true, undefined]])
    await before.kill()
    const scorers = { first: () => false, slow: () => 0.7 }
    const after = await openLab(context, { scorers }, { store })
    await after.scores.settled()
    assert.equal(shape(after.given), [['slow', 0.7, true, undefined]])
    await after.kill()
    const third = await openLab(context, { scorers }, { store })
    await third.scores.settled()
    assert.equal([third.given, third.failed, third.scores.waiting], [[], [], 0])
    const older = await openLab(context, { scorers: { late: () => true }, lookBackMs: 0 }, { store })
    await older.scores.settled()
    assert.equal(older.given, [])
  })

  it('are asked for once more where a process was killed while the judge answered', async (context) => {
    const asked = Promise.withResolvers<void>()
    const stuck: Model = {
      id: 'test:judge',
      async *stream() {
        asked.resolve()
        yield { type: 'text.delta', text: '{ "reason"' }
        await new Promise(() => {})
      },
    }
    const scorers = { polite: { judge: 'It is polite.' } }
    const before = await openLab(context, { scorers, judge: stuck })
    await (await before.runtime.spawn(support(), { id: 'a' })).prompt('one').result
    await asked.promise
    const store = await asKilled(before.store)
    const judge = { ...scriptedModel([verdict(0.8), verdict(0.1)]), id: 'test:judge' }
    const after = await openLab(context, { scorers, judge }, { store })
    await after.scores.settled()
    assert.equal(after.failed, [])
    assert.equal(shape(after.given), [['polite', 0.8, true, 'Because.']])
  })

  it('fail by themselves: a scorer that throws, a judge that is out, a callback; the run has its answer', async (context) => {
    const broken = out('the judge is out')
    const { runtime, scores, given, failed, store } = await openLab(context, {
      scorers: {
        throws: () => {
          throw new Error('a bug')
        },
        odd: () => 7,
        judged: { judge: 'x' },
      },
      judge: broken,
    })
    const { text } = await (await runtime.spawn(support(), { id: 'a' })).prompt('hello').result
    assert.is(text, 'hello')
    await scores.settled()
    assert.equal(
      shape(given).map(([scorer, value]) => [scorer, value]),
      [['odd', 0]],
    )
    assert.is(failed.length, 2)
    assert.match(failed[0]!, 'throws: a bug')
    assert.match(failed[1]!, 'judged: the judge is out')
    assert.ok((await store.list()).includes('a'))
  })

  it('keep to a budget of a day, with what was spent before a restart', async (context) => {
    const store = lastingStore()
    const judge = () => scriptedModel([verdict(1), verdict(1)])
    const options = () => {
      const model = judge()
      const prices = { [model.id]: { input: 1_000, output: 1_000, cacheRead: 0, cacheWrite: 0 } }
      return { scorers: { polite: { judge: 'It is polite.' } }, judge: model, prices, budgetUsd: 0.1 }
    }
    const before = await openLab(context, options(), { store })
    await (await before.runtime.spawn(support(), { id: 'a' })).prompt('one').result
    await before.scores.settled()
    assert.equal([before.given.length, before.failed], [1, []])
    await before.kill()
    const after = await openLab(context, options(), { store })
    await (await after.runtime.spawn(support(), { id: 'b' })).prompt('two').result
    await after.scores.settled()
    assert.is(after.given.length, 0)
    assert.match(after.failed[0]!, /polite: 0\.11 of 0\.1 US dollars of today are spent/)
  })

  it('take a minute at most, and their signal says when', async (context) => {
    const clock = simulatedClock()
    const waits = Promise.withResolvers<AbortSignal>()
    const { runtime, scores, failed } = await openLab(context, {
      clock,
      scorers: {
        slow: ({ signal }) => {
          waits.resolve(signal)
          return new Promise<boolean>(() => {})
        },
      },
    })
    await (await runtime.spawn(support(), { id: 'a' })).prompt('x').result
    const signal = await waits.promise
    await clock.advance(60_000)
    await scores.settled()
    assert.equal([failed, signal.aborted], [['slow: it took longer than 60000 ms'], true])
  })

  it('are refused with options that cannot be right', () => {
    const scorers = { a: () => true }
    for (const [options, message] of [
      [{ scorers: {} }, 'give at least one'],
      [{ scorers: { 'a b': () => true } }, 'names have 1 to 60'],
      [{ scorers: { a: 'polite' } }, 'give a function, or'],
      [{ scorers, sample: 2 }, 'sample'],
      [{ scorers, smaple: 1 }, 'smaple'],
      [{ scorers: { a: { judge: 'x' } } }, 'name its model'],
      [{ scorers, budgetUsd: 1 }, 'give prices'],
    ] as const)
      assert.throws(() => liveScores(options as never), new RegExp(message))
  })
})
