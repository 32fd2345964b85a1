import { bootstrap } from '../statistics/bootstrap.ts'
import { fewestResampled, figure, noFigure, tooFewTasks, type Figure } from '../statistics/figure.ts'
import { sumOf } from '../statistics/moments.ts'
import { passHatK, type TaskPasses } from '../statistics/passes.ts'
import { perTask } from '../statistics/perTask.ts'
import type { ArmInfo, EvaluationHeader, TrialResult } from '../results.ts'
import { measures } from './measures.ts'
import type { ArmReport, MeasureName, Progress } from './report.ts'
import { isCounted, type TrialTable } from './trialTable.ts'

/** Counts the trials that passed. Pure. */
export const passesOf = (trials: readonly TrialResult[]): TaskPasses => {
  const counted = trials.filter(isCounted)
  return { passed: counted.filter(({ outcome }) => outcome === 'passed').length, trials: counted.length }
}

/** Counts the trials by outcome. Pure. */
export function progressOf(planned: number, results: readonly TrialResult[]): Progress {
  const count = (wanted: TrialResult['outcome']): number => results.filter(({ outcome }) => outcome === wanted).length
  const [passed, failed, errors] = [count('passed'), count('failed'), count('error')]
  const missing = planned - results.length
  return { planned, passed, failed, errors, missing, isComplete: missing === 0 && errors === 0 }
}

/** Returns the cost of the trials' judges together, as far as it is known. Pure. */
export const judgeCost = (results: readonly TrialResult[]): number => sumOf(results.map(({ judgeUsd = 0 }) => judgeUsd))

/** Returns the cost of trials together, as far as it is known, without their judges; `null` without prices. Pure. */
export const totalCost = (isPriced: boolean, results: readonly TrialResult[]): number | null =>
  isPriced ? sumOf(results.map(({ metrics }) => metrics?.costUsd ?? 0)) : null

/** Reports the trials of an arm. Pure. */
export function armReport(arm: ArmInfo, header: EvaluationHeader, table: TrialTable): ArmReport {
  const byTask = header.tasks.map((task) => table.of(task.id, arm.name))
  const counted = byTask.map((trials) => trials.filter(isCounted))
  const passes = counted.map(passesOf)
  const all = byTask.flat()
  return {
    name: arm.name,
    model: arm.model,
    answeredBy: [...new Set(all.flatMap(({ models }) => models))].toSorted(),
    isPriced: arm.isPriced,
    progress: progressOf(header.tasks.length * header.trials, all),
    passAt1: passHatK(passes),
    passHatK: Array.from({ length: Math.max(0, header.trials - 1) }, (_, index) => ({
      k: index + 2,
      figure: passHatK(passes, index + 2),
    })),
    measures: measuresOf(counted, arm.isPriced),
    totalUsd: totalCost(arm.isPriced, all),
    costPerPass: costPerPass(counted, passes, arm.isPriced, header.seed),
  }
}

function measuresOf(byTask: readonly (readonly TrialResult[])[], isPriced: boolean): Record<MeasureName, Figure> {
  const entries = measures.map(({ name, least = 0, most, valueOf }) => {
    const values = byTask.map((trials) =>
      trials.flatMap(({ metrics }) => (metrics === null ? [] : (valueOf(metrics) ?? []))),
    )
    const measured = perTask(values, { least, ...(most === undefined ? {} : { most }) })
    const why = name.includes('Usd') && !isPriced ? unpriced : name === 'prefixBreaks' ? uncaptured : measured.why
    return [name, measured.value === null && why !== undefined ? { ...measured, why } : measured]
  })
  return Object.fromEntries(entries) as Record<MeasureName, Figure>
}

const unpriced = 'the model has no known prices'
const uncaptured = 'requests were not captured'

function costPerPass(
  byTask: readonly (readonly TrialResult[])[],
  passes: readonly TaskPasses[],
  isPriced: boolean,
  seed: number,
): Figure {
  const used = byTask.flatMap((trials, index) =>
    trials.length === 0
      ? []
      : [{ cost: totalCost(true, trials)!, passed: passes[index]!.passed, trials: trials.length }],
  )
  const sample = { tasks: used.length, trials: sumOf(used.map(({ trials }) => trials)) }
  if (!isPriced) return noFigure(sample, unpriced)
  const passed = sumOf(used.map((task) => task.passed))
  if (passed === 0) return noFigure(sample, 'no trial passed')
  const value = sumOf(used.map(({ cost }) => cost)) / passed
  if (used.length < fewestResampled) return figure(value, null, sample, tooFewTasks)
  const ratio = (drawn: Uint32Array): number =>
    sumOf(used.map(({ cost }, index) => cost * drawn[index]!)) /
    sumOf(used.map((task, index) => task.passed * drawn[index]!))
  const interval = bootstrap(used.length, ratio, seed)
  return figure(value, interval, sample, interval === null ? 'too few tasks passed' : undefined)
}
