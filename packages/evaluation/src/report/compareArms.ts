import type { ArmInfo, EvaluationHeader, TrialResult } from '../results.ts'
import { holm } from '../statistics/holm.ts'
import { costRatio, costTest, type TaskCosts } from '../statistics/pairedCosts.ts'
import { addPairs, passesDifference, passesTest, type TaskPairs } from '../statistics/pairedPasses.ts'
import { sumOf } from '../statistics/moments.ts'
import type { SignFlip } from '../statistics/signFlip.ts'
import type { Figure } from '../statistics/figure.ts'
import type { Comparison, TestReport, Verdict } from './report.ts'
import { isCounted, type TrialTable } from './trialTable.ts'
import { intervalWords, points, pWords, times } from './words.ts'

/** Significance level: a difference counts as shown if its p value, adjusted by Holm for all tests of the report, is below this. */
export const level = 0.05

type Pair = readonly [baseline: TrialResult, arm: TrialResult]

/** Tests of an arm before their p values are adjusted together with all tests of the report. */
interface Tested {
  readonly arm: ArmInfo
  readonly leftOut: number
  readonly pairs: readonly TaskPairs[]
  readonly costs: readonly TaskCosts[]
  readonly difference: Figure
  readonly ratio: Figure
  readonly passesP: number | null
  readonly flip: SignFlip | null
  readonly isPriced: boolean
}

/** Compares each further arm with the first. Pure. */
export function compareArms(header: EvaluationHeader, table: TrialTable): Comparison[] {
  const [baseline, ...others] = header.arms
  if (baseline === undefined) return []
  const tested = others.map((arm) => test(arm, baseline, header, table))
  const adjusted = holm(tested.flatMap(({ passesP, flip }) => [passesP, flip?.p ?? null]))
  return tested.map((arm, index) => comparisonOf(arm, baseline.name, adjusted[index * 2]!, adjusted[index * 2 + 1]!))
}

function test(arm: ArmInfo, baseline: ArmInfo, header: EvaluationHeader, table: TrialTable): Tested {
  const isPriced = arm.isPriced && baseline.isPriced
  let leftOut = 0
  const byTask = header.tasks.map((task): readonly Pair[] => {
    const ours = table.of(task.id, arm.name).filter(isCounted)
    const theirs = table.of(task.id, baseline.name).filter(isCounted)
    const pairs = ours.flatMap((result): Pair[] => {
      const partner = theirs.find(({ trial }) => trial === result.trial)
      return partner === undefined ? [] : [[partner, result]]
    })
    leftOut += ours.length + theirs.length - 2 * pairs.length
    return pairs
  })
  const pairs = byTask.map(passesIn)
  const costs = isPriced ? byTask.map(costsIn) : []
  const flip = costTest(costs, header.seed)
  return {
    arm,
    leftOut,
    pairs,
    costs,
    isPriced,
    flip,
    difference: passesDifference(pairs),
    ratio: isPriced
      ? costRatio(costs, header.seed)
      : { ...costRatio([], header.seed), why: 'a model has no known prices' },
    passesP: passesTest(pairs),
  }
}

function passesIn(pairs: readonly Pair[]): TaskPairs {
  const count = (theirs: boolean, ours: boolean): number =>
    pairs.filter(([a, b]) => (a.outcome === 'passed') === theirs && (b.outcome === 'passed') === ours).length
  return {
    both: count(true, true),
    onlyArm: count(false, true),
    onlyBaseline: count(true, false),
    neither: count(false, false),
  }
}

function costsIn(pairs: readonly Pair[]): TaskCosts {
  const known = pairs.flatMap(([a, b]) => {
    const [baseline, arm] = [a.metrics?.costUsd ?? null, b.metrics?.costUsd ?? null]
    return baseline === null || arm === null ? [] : [{ baseline, arm }]
  })
  return {
    baseline: sumOf(known.map(({ baseline }) => baseline)),
    arm: sumOf(known.map(({ arm }) => arm)),
    pairs: known.length,
  }
}

function comparisonOf(
  tested: Tested,
  baseline: string,
  passesAdjusted: number | null,
  costAdjusted: number | null,
): Comparison {
  const { arm, leftOut, pairs, difference, ratio, passesP, flip } = tested
  const all = addPairs(pairs)
  const passes = verdictOf(passesAdjusted, all.onlyArm - all.onlyBaseline)
  const cost = ratio.value === null ? 'unknown' : verdictOf(costAdjusted, ratio.value - 1)
  return {
    arm: arm.name,
    baseline,
    passes: {
      p: passesP,
      adjusted: passesAdjusted,
      verdict: passes,
      words: passesWords(passes, difference, passesAdjusted),
      pairs: all.both + all.onlyArm + all.onlyBaseline + all.neither,
      leftOut,
      ...all,
      difference,
    },
    cost: {
      p: flip?.p ?? null,
      adjusted: costAdjusted,
      verdict: cost,
      words: costWords(cost, ratio, costAdjusted, flip),
      ratio,
      isExact: flip?.isExact ?? true,
    },
  }
}

function verdictOf(adjusted: number | null, direction: number): Verdict {
  if (adjusted === null) return 'unknown'
  if (adjusted >= level || direction === 0) return 'none'
  return direction > 0 ? 'more' : 'less'
}

type Words = TestReport['words']

function passesWords(verdict: Verdict, difference: Figure, adjusted: number | null): Words {
  if (verdict === 'unknown') return `whether it passes more is not known: ${difference.why ?? 'there are no pairs'}`
  const said = { more: 'passes more', less: 'passes less', none: 'no difference in passes shown' }[verdict]
  const interval = intervalWords(difference, points)
  const by =
    difference.value === null ? '' : `${points(difference.value)} points${interval === '' ? '' : ` (${interval})`}, `
  return `${said}: ${by}${pWords(adjusted!)} after Holm`
}

function costWords(verdict: Verdict, ratio: Figure, adjusted: number | null, flip: SignFlip | null): Words {
  if (verdict === 'unknown') return `what it costs is not known: ${ratio.why ?? 'there are no pairs'}`
  const said = { more: 'costs more', less: 'costs less', none: 'no difference in cost shown' }[verdict]
  const interval = intervalWords(ratio, times)
  const by = `${times(ratio.value!)}${interval === '' ? '' : ` (${interval})`}, `
  const few = verdict === 'none' && flip !== null && flip.smallest >= level ? '; so few tasks cannot show one' : ''
  return `${said}: ${by}${pWords(adjusted!)} after Holm${few}`
}
