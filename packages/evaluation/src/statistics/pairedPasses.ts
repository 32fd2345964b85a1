import { confidence, figure, noFigure, oneTaskOnly, type Figure } from './figure.ts'
import { mcNemar } from './mcNemar.ts'
import { meanOf, sumOf } from './moments.ts'
import { tQuantile } from './studentT.ts'

/** Outcomes of the pairs of one task: both arms passed, only one of them, neither. A pair is the same trial of the task in both arms. */
export interface TaskPairs {
  readonly both: number
  readonly onlyArm: number
  readonly onlyBaseline: number
  readonly neither: number
}

const pairsOf = ({ both, onlyArm, onlyBaseline, neither }: TaskPairs): number => both + onlyArm + onlyBaseline + neither

/** Sums the pairs of all tasks. Pure. */
export const addPairs = (tasks: readonly TaskPairs[]): TaskPairs => ({
  both: sumOf(tasks.map(({ both }) => both)),
  onlyArm: sumOf(tasks.map(({ onlyArm }) => onlyArm)),
  onlyBaseline: sumOf(tasks.map(({ onlyBaseline }) => onlyBaseline)),
  neither: sumOf(tasks.map(({ neither }) => neither)),
})

/** Returns the p value of McNemar's test over the pairs of all tasks; `null` without pairs. Pure. */
export function passesTest(tasks: readonly TaskPairs[]): number | null {
  const { both, onlyArm, onlyBaseline, neither } = addPairs(tasks)
  return both + onlyArm + onlyBaseline + neither === 0 ? null : mcNemar(onlyArm, onlyBaseline)
}

/**
 * Returns the difference between the pass rates of an arm and the baseline, in shares, with equal weight for every task. The
 * interval follows the spread between tasks (t distribution), but is never narrower than that of the pairs as if they were
 * independent (Agresti and Min, half a pair added to each kind), so that it has a width even if all tasks agree.
 */
export function passesDifference(tasks: readonly TaskPairs[]): Figure {
  const used = tasks.filter((task) => pairsOf(task) > 0)
  const all = addPairs(used)
  const pairs = pairsOf(all)
  const sample = { tasks: used.length, trials: pairs }
  if (used.length === 0) return noFigure(sample, 'no trial was finished in both arms')
  const { mean, error } = meanOf(used.map((task) => (task.onlyArm - task.onlyBaseline) / pairsOf(task)))
  if (used.length === 1) return figure(mean, null, sample, oneTaskOnly)
  const { onlyArm, onlyBaseline } = all
  const added = pairs + 2
  const spread = onlyArm + onlyBaseline + 1 - (onlyArm - onlyBaseline) ** 2 / added
  const half = tQuantile(confidence, used.length - 1) * Math.max(error, Math.sqrt(spread) / added)
  return figure(mean, { low: Math.max(-1, mean - half), high: Math.min(1, mean + half) }, sample)
}
