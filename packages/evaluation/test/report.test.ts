import * as fc from 'fast-check'
import type { Report } from '../src/report/report.ts'
import { reportOf } from '../src/report/reportOf.ts'
import type { EvaluationHeader, TrialResult } from '../src/results.ts'
import type { Figure } from '../src/statistics/figure.ts'
import { someRuns } from '../../../test/support/seeds.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { madeUp, madeUpHeader, madeUpMetrics, madeUpResult } from './madeUp.ts'

/** Evaluations of any shape: one task or none, errors, trials that are missing or there twice, costs of 0, no prices, no metrics. */
const evaluations = fc
  .record({
    tasks: fc.integer({ min: 0, max: 8 }),
    arms: fc.integer({ min: 1, max: 4 }),
    trials: fc.integer({ min: 1, max: 4 }),
    isPriced: fc.boolean(),
    judge: fc.boolean(),
    outcomes: fc.array(
      fc.record({
        task: fc.integer({ min: 0, max: 8 }),
        arm: fc.integer({ min: 0, max: 4 }),
        trial: fc.integer({ min: 0, max: 4 }),
        outcome: fc.constantFrom('passed', 'passed', 'failed', 'failed', 'error'),
        costUsd: fc.constantFrom(0, 0, 1e-9, 0.01, 0.5, 1e6, null),
        hasMetrics: fc.boolean(),
        judged: fc.constantFrom(true, false, undefined),
      }),
      { maxLength: 60 },
    ),
  })
  .map(({ tasks, arms, trials, isPriced, judge, outcomes }): { header: EvaluationHeader; results: TrialResult[] } => {
    const names = Array.from({ length: arms }, (_, index) => `arm ${index}`)
    const plain = madeUpHeader(tasks, names, trials)
    const header = {
      ...plain,
      arms: plain.arms.map((arm) => ({ ...arm, isPriced })),
      ...(judge ? { judge: 'lab:judge' } : {}),
    }
    const results = outcomes.map(({ task, arm, trial, outcome, costUsd, hasMetrics, judged }) => {
      const own = madeUpResult(`task-${task}`, `arm ${arm}`, trial, {
        outcome,
        metrics: hasMetrics ? madeUpMetrics({ costUsd, prefixBreaks: null }) : null,
      })
      const verdict = {
        name: 'judge',
        value: 0.5,
        passed: judged === true,
        required: true,
        weight: 1,
        judge: true,
      } as const
      return judged === undefined ? own : { ...own, scores: [...own.scores, verdict] }
    })
    return { header, results }
  })

/** Every figure in a report, by where it is. */
function figuresIn(value: unknown, path = ''): [path: string, figure: Figure][] {
  if (typeof value !== 'object' || value === null) return []
  if ('interval' in value && 'trials' in value) return [[path, value as Figure]]
  return Object.entries(value).flatMap(([key, inner]) => figuresIn(inner, `${path}.${key}`))
}

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(numbersIn)
}

/** Two arms that are alike, over eight tasks tried twice. */
const evenArms = (): ReturnType<typeof madeUp> =>
  madeUp({ tasks: 8, trials: 2, arms: ['off', 'on'], seed: 1, skill: () => ({ passes: 0.5, costs: 1 }) })

describe('a report', (it) => {
  it(
    'has no figure without an interval or a reason, and no number that is none, whatever the results are',
    { timeoutMs: 60_000 },
    () => {
      const property = fc.property(evaluations, ({ header, results }) => {
        const report = reportOf(header, results)
        assert.ok(numbersIn(report).every(Number.isFinite))
        for (const [path, { value, interval, why, tasks, trials }] of figuresIn(report)) {
          assert.ok(interval !== null || (why ?? '').length > 0, `${path} has neither`)
          assert.ok(value !== null || interval === null, path)
          if (interval !== null) assert.ok(interval.low <= interval.high && trials > 0 && tasks >= 0, path)
          if (/passAt1|passHatK|share|agreement/i.test(path) && interval !== null)
            assert.ok(
              0 <= interval.low && interval.high <= 1 && interval.low <= value! && value! <= interval.high,
              path,
            )
        }
      })
      fc.assert(property, { numRuns: someRuns(400), seed: 61 })
    },
  )

  it(
    'is plain JSON, says the same in whatever order the results come, and counts what was planned',
    { timeoutMs: 60_000 },
    () => {
      const property = fc.property(evaluations, ({ header, results }) => {
        const report = reportOf(header, results)
        assert.equal(JSON.parse(JSON.stringify(report)), report)
        // Of several results of a trial the last counts, so those keep their order.
        const order = results
          .map((result, index) => ({ result, index }))
          .toSorted((a, b) => a.result.key.localeCompare(b.result.key) || a.index - b.index)
        assert.equal(
          reportOf(
            header,
            order.map(({ result }) => result),
          ),
          report,
        )
        const { planned, passed, failed, errors, missing } = report.progress
        assert.is(planned, header.tasks.length * header.arms.length * header.trials)
        assert.is(passed + failed + errors + missing, planned)
        assert.is(report.results.length, planned - missing)
        for (const { passes } of report.comparisons)
          assert.is(passes.pairs, passes.both + passes.neither + passes.onlyArm + passes.onlyBaseline)
      })
      fc.assert(property, { numRuns: someRuns(200), seed: 62 })
    },
  )

  it('claims no difference without a p, adjusted for all tests, below 5 %', { timeoutMs: 60_000 }, () => {
    const property = fc.property(evaluations, ({ header, results }) => {
      for (const { passes, cost } of reportOf(header, results).comparisons)
        for (const { verdict, p, adjusted } of [passes, cost]) {
          if (verdict === 'more' || verdict === 'less') assert.ok(adjusted! < 0.05 && p! <= adjusted!)
          if (verdict === 'none') assert.ok(adjusted !== null)
        }
    })
    fc.assert(property, { numRuns: someRuns(200), seed: 63 })
  })
})

const pair = (task: string, trial: number, off: TrialResult['outcome'], on: TrialResult['outcome']): TrialResult[] => [
  madeUpResult(task, 'off', trial, { outcome: off }),
  madeUpResult(task, 'on', trial, { outcome: on }),
]

describe('pairs', (it) => {
  it('are the same trial of the same task; errors and what is missing leave out their partner, which is counted', () => {
    const header = madeUpHeader(2, ['off', 'on'], 3)
    const results = [
      ...pair('task-1', 0, 'failed', 'passed'),
      ...pair('task-1', 1, 'error', 'passed'),
      ...pair('task-1', 2, 'passed', 'passed'),
      ...pair('task-2', 0, 'passed', 'failed'),
      madeUpResult('task-2', 'off', 1),
    ]
    const { comparisons, arms, tasks, progress, warnings } = reportOf(header, results)
    const { pairs, leftOut, both, onlyArm, onlyBaseline, neither } = comparisons[0]!.passes
    assert.equal([pairs, leftOut, both, onlyArm, onlyBaseline, neither], [3, 2, 1, 1, 1, 0])
    assert.is(arms[0]!.passAt1.value, (1 / 2 + 1) / 2)
    const [off] = tasks[0]!.cells
    assert.equal([off!.passed, off!.failed, off!.errors, off!.share.value], [1, 1, 1, 0.5])
    assert.equal(progress, { planned: 12, passed: 6, failed: 2, errors: 1, missing: 3, isComplete: false })
    const codes = warnings.map(({ code }) => code)
    assert.equal(codes, ['INCOMPLETE', 'ERRORS', 'FEW_TASKS', 'PAIRS_LEFT_OUT'])
  })

  it('take the last of several results of a trial', () => {
    const header = madeUpHeader(1, ['off'], 1)
    const report = reportOf(header, [
      madeUpResult('task-1', 'off', 0, { outcome: 'error' }),
      madeUpResult('task-1', 'off', 0, { outcome: 'passed' }),
    ])
    assert.equal([report.progress.passed, report.progress.errors, report.progress.isComplete], [1, 0, true])
  })

  it('compare costs by the sums of tasks, of trials whose costs are known in both arms', () => {
    const header = madeUpHeader(6, ['off', 'on'], 1)
    const cost = (task: number, arm: string, costUsd: number | null): TrialResult =>
      madeUpResult(`task-${task}`, arm, 0, { metrics: madeUpMetrics({ costUsd }) })
    const results = [1, 2, 3, 4, 5, 6].flatMap((task) => [
      cost(task, 'off', task),
      cost(task, 'on', task === 6 ? null : task / 2),
    ])
    const { ratio, p } = reportOf(header, results).comparisons[0]!.cost
    assert.equal([ratio.value, ratio.tasks, ratio.trials, p], [0.5, 5, 5, 1 / 16])
  })

  it('are not compared by cost where a model has no prices', () => {
    const { header, results } = evenArms()
    const unpriced = { ...header, arms: header.arms.map((arm, index) => ({ ...arm, isPriced: index === 0 })) }
    const { comparisons, arms, costUsd, warnings } = reportOf(unpriced, results)
    assert.equal([comparisons[0]!.cost.verdict, comparisons[0]!.cost.p, costUsd], ['unknown', null, null])
    assert.match(comparisons[0]!.cost.words, /no known prices/)
    assert.ok(arms[0]!.totalUsd! > 0)
    assert.equal([arms[1]!.totalUsd, arms[1]!.costPerPass.value], [null, null])
    assert.ok(warnings.some(({ code, text }) => code === 'UNPRICED' && text.includes('lab:thinker')))
  })
})

describe('warnings of a report', (it) => {
  it('say that figures of embedded models show nothing of real ones', () => {
    const { header, results } = evenArms()
    const { warnings } = reportOf(header, results)
    assert.not.ok(warnings.some(({ code }) => code === 'EMBEDDED'))
    const arms = header.arms.map((arm, index) => (index === 0 ? { ...arm, model: 'embedded:traps' } : arm))
    const told = reportOf({ ...header, arms }, results).warnings.filter(({ code }) => code === 'EMBEDDED')
    assert.is(told.length, 1)
    assert.match(told[0]!.text, /^embedded:traps: an embedded model is a program.*nothing about real models\.$/)
  })

  const warned = (header: EvaluationHeader, results: TrialResult[], stopped?: Report['stopped']): string[] =>
    reportOf(header, results, stopped == null ? {} : { stopped }).warnings.map(({ code, text }) => `${code}: ${text}`)
  const all = (
    tasks: number,
    trials: number,
    change: (task: number, trial: number) => Partial<TrialResult> = () => ({}),
  ): TrialResult[] =>
    Array.from({ length: tasks * trials }, (_, index) => {
      const [task, trial] = [Math.floor(index / trials), index % trials]
      return madeUpResult(`task-${task + 1}`, 'off', trial, change(task, trial))
    })

  it('are none where nothing is to be said', () => {
    assert.equal(warned(madeUpHeader(6, ['off'], 2), all(6, 2)), [])
  })

  it('say why trials are missing', () => {
    const [text] = warned(madeUpHeader(6, ['off'], 2), all(5, 2), { why: 'budget', message: '$2.00' })
    assert.is(
      text,
      'INCOMPLETE: 2 of 12 trials are missing: its budget was used up ($2.00). What is here may not be like the rest.',
    )
  })

  it('name errors by kind, the most frequent first', () => {
    const error = (task: number): Partial<TrialResult> =>
      task < 3 ? { outcome: 'error', error: { code: task === 0 ? 'MODEL_AUTH' : 'MODEL_NETWORK', message: '' } } : {}
    assert.match(
      warned(madeUpHeader(6, ['off'], 2), all(6, 2, error))[0]!,
      /6 trials .*: MODEL_NETWORK 4, MODEL_AUTH 2\./,
    )
  })

  it('name tasks that pass without work, models that changed their name, and what is too little', () => {
    const header = madeUpHeader(1, ['off'], 1)
    const free = { ...header, tasks: header.tasks.map((task) => ({ ...task, passesWithoutWork: true as const })) }
    const lines = warned(
      free,
      all(1, 1, () => ({ models: ['lab:thinker-1', 'lab:thinker-2'] })),
    )
    assert.equal(
      lines.map((line) => line.split(':')[0]),
      ['PASSES_WITHOUT_WORK', 'ALIAS_MOVED', 'ONE_TASK', 'ONE_TRIAL'],
    )
    assert.match(lines[0]!, /1 task passes before an agent does anything, .*: task-1\./)
    assert.match(lines[1]!, /off \(lab:thinker\): lab:thinker-1, lab:thinker-2/)
  })

  it('count trials of a replay whose requests were not as recorded', () => {
    const differing = (task: number): Partial<TrialResult> => ({ differences: task < 2 ? 3 : 0 })
    assert.match(
      warned(madeUpHeader(6, ['off'], 2), all(6, 2, differing))[0]!,
      /^REPLAY_DIFFERS: In 4 trials of this replay/,
    )
  })

  it('count results of tasks that are not in the header', () => {
    const lines = warned(madeUpHeader(6, ['off'], 2), all(7, 2))
    assert.equal(lines, ['UNKNOWN_RESULTS: 2 results of other tasks, arms or trials are left out.'])
  })
})

describe('a judge', (it) => {
  const judged = (passed: boolean): TrialResult['scores'] => [
    { name: 'tests', value: passed ? 1 : 0, passed, required: true, weight: 1 },
    { name: 'tone', value: 0.8, passed: true, required: true, weight: 1, judge: true },
  ]

  it('is compared with the other required checks of a trial, and with people', () => {
    const header = { ...madeUpHeader(4, ['off'], 1), judge: 'lab:judge' }
    const results = [1, 2, 3, 4].map((task) => madeUpResult(`task-${task}`, 'off', 0, { scores: judged(task !== 4) }))
    const { judge } = reportOf(header, results, { judged: { both: 6, onlyPeople: 1, onlyJudge: 1, neither: 2 } })
    assert.equal(
      [judge!.checks.agreement.value, judge!.checks.agreement.trials, judge!.checks.kappa.value],
      [0.75, 4, 0],
    )
    assert.equal([judge!.people!.agreement.value, judge!.people!.agreement.trials], [0.8, 10])
    assert.ok(Math.abs(judge!.people!.kappa.value! - (0.8 - 0.58) / 0.42) < 1e-9)
  })

  it('is paid for in the cost of the evaluation, and in that of no arm', () => {
    const { costUsd, arms, comparisons } = reportOf(madeUpHeader(6, ['off', 'on'], 1), [
      ...Array.from({ length: 6 }, (_, index) => madeUpResult(`task-${index + 1}`, 'off', 0)),
      ...Array.from({ length: 6 }, (_, index) => madeUpResult(`task-${index + 1}`, 'on', 0, { judgeUsd: 1 })),
    ])
    assert.ok(Math.abs(costUsd! - 6.12) < 1e-9)
    assert.ok(arms.every(({ totalUsd }) => Math.abs(totalUsd! - 0.06) < 1e-9))
    assert.is(comparisons[0]!.cost.ratio.value, 1)
  })

  it('whose agreement cannot be known is said to be so', () => {
    const header = { ...madeUpHeader(1, ['off'], 1), judge: 'lab:judge' }
    const { judge } = reportOf(header, [madeUpResult('task-1', 'off', 0)])
    assert.is(judge!.people, null)
    assert.match(judge!.checks.agreement.why!, /no trial has a judge and another required check/)
    assert.is(reportOf(madeUpHeader(1, ['off'], 1), []).judge, null)
  })
})
