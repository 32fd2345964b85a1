import { aligned } from '../output/table.ts'
import type { LadderScore } from './ladder.ts'
import type { LoopScore, VerdictScore } from './score.ts'
import type { Costs } from './stallCommand.ts'

const percent = (part: number, whole: number, digits = 0): string =>
  whole === 0 ? '–' : ((100 * part) / whole).toFixed(digits)
const perThousand = (part: number, whole: number): string => (whole === 0 ? '–' : ((1000 * part) / whole).toFixed(1))
const factor = (value: number): string => (Number.isFinite(value) ? value.toFixed(3) : '–')
const median = (values: readonly number[]): string => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted.length === 0 ? '–' : String(sorted[sorted.length >> 1])
}

type Named<T> = T & { readonly name: string }

export function loopTables(byRule: readonly Named<LoopScore>[], byKind: readonly Named<LoopScore>[]): string[] {
  const head = ['found %', 'wasted steps', 'target exact %', 'off by', 'false alarms', 'per 1,000 steps']
  const cells = ({ loops, found, wasted, distances, falseAlarms, productiveSteps }: LoopScore): string[] => [
    percent(found, loops),
    median(wasted),
    percent(distances.filter((distance) => distance === 0).length, distances.length),
    median(distances.filter((distance) => distance !== 0).map(Math.abs)),
    String(falseAlarms),
    perThousand(falseAlarms, productiveSteps),
  ]
  const table = (what: string, scores: readonly Named<LoopScore>[]): string =>
    aligned([[what, ...head], ...scores.map((score) => [score.name, ...cells(score)])])
  return [
    table('rule', byRule),
    'The default set, by what the run is like:',
    table(
      'runs that stall',
      byKind.filter(({ loops }) => loops > 0),
    ),
    table(
      'runs that get somewhere',
      byKind.filter(({ loops }) => loops === 0),
    ),
  ]
}

export const ladderTable = (ladders: readonly Named<LadderScore>[]): string =>
  aligned([
    [
      'what is done',
      'stalled: cost ×',
      'requests ×',
      'done',
      'productive: cost ×',
      'dearest ×',
      'dearer by > 2 %',
      'reverted',
      'not done',
    ],
    ...ladders.map(({ name, stalled, productive }) => [
      name,
      factor(stalled.costX),
      factor(stalled.requestsX),
      `${stalled.done} of ${stalled.runs}, without ${stalled.doneOff}`,
      factor(productive.costX),
      factor(productive.dearestX),
      `${productive.dearer} of ${productive.runs}`,
      String(productive.reverted),
      String(productive.runs - productive.done),
    ]),
  ])

interface RecordedSet {
  readonly name: string
  readonly byRule: readonly (VerdictScore & { readonly rule: string })[]
  readonly failed: Costs
  readonly passed: Costs
}

export function recordedTables(sets: readonly RecordedSet[]): string[] {
  const fired = ({ firedInFailed, failed, firedInPassed, passed }: VerdictScore): string =>
    `${percent(firedInFailed, failed)} / ${percent(firedInPassed, passed, 1)}`
  const rules = sets[0]?.byRule.map(({ rule }) => rule) ?? []
  return [
    'Share of failed / passed runs in which a rule fired, in %; alarms of the default set in passed runs per 1,000 steps:',
    aligned([
      ['set', 'failed', 'passed', ...rules, 'alarms'],
      ...sets.map(({ name, byRule }) => [
        name,
        String(byRule[0]!.failed),
        String(byRule[0]!.passed),
        ...byRule.map(fired),
        perThousand(byRule[0]!.alarmsInPassed, byRule[0]!.stepsInPassed),
      ]),
    ]),
    'With note, revert and pause, the model saying what it said until it is paused; cost relative to the same run without:',
    aligned([
      ['set', 'failed: cost ×', 'paused %', 'passed: cost ×', 'middle ×', 'dearest ×', 'paused %'],
      ...sets.map(({ name, failed, passed }) => [
        name,
        factor(failed.costX),
        percent(failed.paused, failed.runs),
        factor(passed.costX),
        factor(passed.medianX),
        factor(passed.dearestX),
        percent(passed.paused, passed.runs, 1),
      ]),
    ]),
  ]
}
