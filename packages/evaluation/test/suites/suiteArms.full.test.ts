import type { Comparison, Report } from '../../src/report/report.ts'
import { moodOf } from '../../../../suites/stall-traps/trapModel.ts'
import { wantsAll } from '../../../../test/support/seeds.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { evaluated, passAt1, suiteOf } from './suiteRuns.ts'

const comparisonOf = ({ comparisons }: Report, arm: string): Comparison => comparisons.find((each) => each.arm === arm)!

describe('arms of the suites, with the models that are embedded in them', (it) => {
  it(
    'stall-traps: brakes get an agent out of a dead end, and the statistics say so',
    { timeoutMs: 120_000 },
    async (context) => {
      const { report, results } = await evaluated(context, await suiteOf('stall-traps'), {
        arms: ['off', 'stall+revert'],
        trials: 2,
        // Enough for a verdict; the others with all seeds.
        ...(wantsAll
          ? {}
          : {
              tasks: [
                'stale-lock',
                'dead-mirror',
                'dead-flag',
                'read-only',
                'expired-token',
                'wrong-order',
                'dirty-test',
              ],
            }),
      })
      const { off, 'stall+revert': braked } = passAt1(report) as { off: number; 'stall+revert': number }
      assert.ok(off < 0.5 && braked > 0.7, JSON.stringify({ off, braked }))
      const { passes } = comparisonOf(report, 'stall+revert')
      assert.is(passes.verdict, 'more')
      assert.ok(passes.adjusted! < 0.01)
      // The seed decides what the model heeds, and not the arm: whoever needs nothing passes in both, whoever heeds nothing in neither.
      for (const { key, seed, outcome, arm } of results) {
        const mood = moodOf(seed)
        if (mood === 'quick') assert.is(outcome, 'passed', key)
        if (mood === 'stubborn') assert.is(outcome, 'failed', key)
        if (mood === 'heedsNotes') assert.is(outcome, arm === 'off' ? 'failed' : 'passed', key)
      }
    },
  )

  it(
    'stall-traps: with reverts alone only those get out who go back by themselves',
    { timeoutMs: 60_000 },
    async (context) => {
      const { results } = await evaluated(context, await suiteOf('stall-traps'), {
        arms: ['revert'],
        trials: 2,
        tasks: ['dead-mirror', 'shadowed-config', 'wrong-order'],
      })
      for (const { seed, outcome, key } of results)
        assert.is(outcome, ['quick', 'goesBack'].includes(moodOf(seed)) ? 'passed' : 'failed', key)
    },
  )

  it(
    'retention: recall brings back what a compaction has lost, and folds lose no denial and no pin',
    { timeoutMs: 120_000 },
    async (context) => {
      const suite = await suiteOf('retention')
      const { report, results } = await evaluated(context, suite, {
        arms: ['compaction', 'compaction+recall', 'fold'],
        trials: 4,
      })
      const shares = passAt1(report)
      assert.ok(shares['compaction']! < 0.6 && shares['compaction+recall']! > 0.65, JSON.stringify(shares))
      const { passes } = comparisonOf(report, 'compaction+recall')
      assert.is(passes.verdict, 'more')
      assert.is(passes.onlyBaseline, 0)
      assert.ok(shares['fold']! > shares['compaction']!, JSON.stringify(shares))
      const denied = results.filter(({ task }) => task === 'denied-call')
      assert.equal([...new Set(denied.map(({ outcome }) => outcome))], ['passed'])
    },
  )

  it(
    'retention: without any brake a mailbox does not fit, and one that fits is known',
    { timeoutMs: 60_000 },
    async (context) => {
      const { results } = await evaluated(context, await suiteOf('retention'), {
        arms: ['off'],
        trials: 2,
        tasks: ['one-needle', 'pinned-rule'],
      })
      for (const { task, error, outcome, key } of results)
        if (task === 'one-needle') assert.is(error?.code, 'MODEL_OVERFLOW', key)
        else assert.is(outcome, 'passed', key)
    },
  )

  it(
    'long-support: arms differ in what they cost more than in what they come to',
    { timeoutMs: 120_000 },
    async (context) => {
      const { report } = await evaluated(context, await suiteOf('long-support'), { arms: ['off', 'fold'], trials: 4 })
      const { passes, cost } = comparisonOf(report, 'fold')
      assert.is.not(passes.verdict, 'more')
      assert.ok(passes.both > 12)
      assert.ok(cost.ratio.value! < 1, `the ratio of costs is ${cost.ratio.value}`)
      const [off, fold] = report.arms.map(({ measures }) => measures.peakTokens.value!)
      assert.ok(fold! < off!)
    },
  )

  it(
    'chained-exercises: what was told long ago is needed, and each exercise has a score of its own',
    { timeoutMs: 120_000 },
    async (context) => {
      const { report, results } = await evaluated(context, await suiteOf('chained-exercises'), {
        arms: ['off', 'compaction', 'fold'],
        trials: 2,
      })
      const shareOf = (arm: string, task: string): number[] =>
        results.filter((each) => each.arm === arm && each.task === task).map(({ scores }) => scores[0]!.value)
      for (const arm of ['off', 'compaction']) {
        assert.ok(
          shareOf(arm, 'ledger').every((share) => share < 0.85),
          `${arm} ${String(shareOf(arm, 'ledger'))}`,
        )
        assert.ok(shareOf(arm, 'letters').every((share) => share >= 0.85))
      }
      assert.ok(
        shareOf('fold', 'ledger').every((share) => share >= 0.85),
        String(shareOf('fold', 'ledger')),
      )
      for (const { scores } of results) assert.is(scores.length, 21)
      assert.is(report.progress.errors, 0)
    },
  )

  it('are the same again with the same seed, and others with another', { timeoutMs: 60_000 }, async (context) => {
    const suite = await suiteOf('retention')
    const run = {
      arms: ['compaction+recall'],
      trials: 3,
      tasks: ['one-needle', 'decision', 'latest-value', 'two-hops'],
    }
    const outcomes = async (seed: number): Promise<string> => {
      const { results } = await evaluated(context, suite, { ...run, seed })
      return results.map(({ key, outcome }) => `${key} ${outcome}`).join('\n')
    }
    const first = await outcomes(1)
    assert.is(await outcomes(1), first)
    assert.is.not(await outcomes(2), first)
  })
})
