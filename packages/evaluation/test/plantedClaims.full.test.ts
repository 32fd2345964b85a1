import { compareArms } from '../src/report/compareArms.ts'
import type { Comparison } from '../src/report/report.ts'
import { TrialTable } from '../src/report/trialTable.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { jStat } from './jstat.ts'
import { madeUp, type MadeUpOptions } from './madeUp.ts'

const repetitions = 100
const level = 0.05

/** More claims than that out of 100 come up in less than one of 1,000 cases, if each is made with a chance of at most 5 %. */
const mostClaims = Array.from({ length: repetitions }, (_, claims) => claims).find(
  (claims) => 1 - jStat.binomial.cdf(claims, repetitions, level) < 0.001,
)!

type Shape = Pick<MadeUpOptions, 'tasks' | 'trials' | 'arms' | 'skill'>

/** The comparisons of as many evaluations, each with another seed. */
const comparisonsOf = (shape: Shape): Comparison[][] =>
  Array.from({ length: repetitions }, (_, index) => {
    const { header, results } = madeUp({ ...shape, seed: 1_000 + index })
    return compareArms(header, new TrialTable(header, results))
  })

const isClaim = ({ verdict }: { readonly verdict: string }): boolean => verdict === 'more' || verdict === 'less'
type Comparisons = readonly Comparison[]
const count = (all: readonly Comparisons[], holds: (one: Comparisons) => boolean): number => all.filter(holds).length
const claimsAny = (all: Comparisons): boolean => all.some(({ passes, cost }) => isClaim(passes) || isClaim(cost))

/** Tasks that differ as much as tasks do: hard and easy ones, cheap ones and some that cost twenty times as much. */
const various = (task: number): { passes: number; costs: number } => ({
  passes: [0, 0.1, 0.35, 0.5, 0.75, 0.9, 1][task % 7]!,
  costs: 0.01 * 1.35 ** (task % 11),
})

describe('an arm that does nothing', (it) => {
  const idle = (tasks: number, trials: number, arms: readonly string[]): Shape => ({
    tasks,
    trials,
    arms,
    skill: various,
  })
  const shapes: readonly (readonly [title: string, shape: Shape])[] = [
    ['with 20 tasks that differ much, tried 5 times', idle(20, 5, ['off', 'nothing'])],
    ['with 5 tasks, tried 5 times', idle(5, 5, ['off', 'nothing'])],
    ['with 12 tasks, each tried once', idle(12, 1, ['off', 'nothing'])],
    ['when there are four of the kind', idle(20, 5, ['off', 'nothing 1', 'nothing 2', 'nothing 3', 'nothing 4'])],
  ]
  for (const [title, shape] of shapes)
    it(`is not said to make a difference more often than the level allows, ${title}`, { timeoutMs: 120_000 }, () => {
      const claimed = count(comparisonsOf(shape), claimsAny)
      assert.ok(claimed <= mostClaims, `${claimed} of ${repetitions} reports claim a difference; at most ${mostClaims}`)
    })

  it('is never said to cost more or less where there are so few tasks that no test could show it', () => {
    for (const [{ cost }] of comparisonsOf(idle(5, 1, ['off', 'nothing'])) as [Comparison][]) {
      assert.is(cost.verdict, 'none')
      assert.match(cost.words, /so few tasks cannot show one/)
    }
  })
})

describe('an arm that makes a large difference', (it) => {
  const better: Shape = {
    tasks: 20,
    trials: 5,
    arms: ['off', 'better', 'cheaper'],
    skill: (task, arm) => {
      const { passes, costs } = various(task)
      return { passes: arm === 1 ? passes + 0.6 * (1 - passes) : passes, costs: arm === 2 ? costs * 0.5 : costs }
    },
  }

  const found = lazily(() => comparisonsOf(better))

  it(
    'is said to make it, in what passes and in what it costs, and the one that is as before is not',
    { timeoutMs: 120_000 },
    () => {
      const all = found()
      const passes = count(all, ([first]) => first!.passes.verdict === 'more')
      const costs = count(all, ([, second]) => second!.cost.verdict === 'less')
      assert.ok(passes >= 95 && costs >= 95, `passes ${passes}, costs ${costs}`)
      const others = count(all, ([first, second]) => isClaim(first!.cost) || isClaim(second!.passes))
      assert.ok(others <= mostClaims, `${others} claims about what did not change`)
    },
  )

  it('has a difference and a ratio whose intervals hold the truth', { timeoutMs: 120_000 }, () => {
    const all = found()
    const truth = Array.from({ length: 20 }, (_, task) => 0.6 * (1 - various(task).passes)).reduce((a, b) => a + b) / 20
    const holds = (interval: { low: number; high: number } | null, value: number): boolean =>
      interval !== null && interval.low <= value && value <= interval.high
    const differences = count(all, ([first]) => holds(first!.passes.difference.interval, truth))
    const ratios = count(all, ([, second]) => holds(second!.cost.ratio.interval, 0.5))
    assert.ok(differences >= 87 && ratios >= 87, `differences ${differences}, ratios ${ratios}`)
  })

  it('is found with 5 tasks by what passes, if it is tried often enough', { timeoutMs: 120_000 }, () => {
    const few: Shape = {
      tasks: 5,
      trials: 10,
      arms: ['off', 'better'],
      skill: (_, arm) => ({ passes: arm === 0 ? 0.2 : 0.8, costs: 0.01 }),
    }
    assert.ok(count(comparisonsOf(few), ([first]) => first!.passes.verdict === 'more') >= 95)
  })
})
