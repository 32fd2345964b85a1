import { bootstrap } from './bootstrap.ts'
import { fewestResampled, figure, noFigure, oneTaskOnly, tooFewTasks, type Figure } from './figure.ts'
import { sumOf } from './moments.ts'
import { signFlip, type SignFlip } from './signFlip.ts'

/** Costs of the pairs of one task, summed in each arm. */
export interface TaskCosts {
  readonly baseline: number
  readonly arm: number
  readonly pairs: number
}

/** Returns the cost of an arm relative to the baseline: the ratio of sums, with a bootstrap interval over tasks. */
export function costRatio(tasks: readonly TaskCosts[], seed: number): Figure {
  const used = tasks.filter(({ pairs }) => pairs > 0)
  const sample = { tasks: used.length, trials: sumOf(used.map(({ pairs }) => pairs)) }
  if (used.length === 0) return noFigure(sample, 'no trial with a price was finished in both arms')
  const baseline = sumOf(used.map((task) => task.baseline))
  if (baseline === 0) return noFigure(sample, 'the baseline cost nothing')
  const ratio = sumOf(used.map(({ arm }) => arm)) / baseline
  if (used.length === 1) return figure(ratio, null, sample, oneTaskOnly)
  if (used.length < fewestResampled) return figure(ratio, null, sample, tooFewTasks)
  const interval = bootstrap(used.length, (drawn) => ratioOf(used, drawn), seed)
  return figure(ratio, interval, sample, interval === null ? 'some tasks cost nothing in the baseline' : undefined)
}

function ratioOf(tasks: readonly TaskCosts[], drawn: Uint32Array): number {
  let arm = 0
  let baseline = 0
  for (let index = 0; index < tasks.length; index += 1) {
    arm += drawn[index]! * tasks[index]!.arm
    baseline += drawn[index]! * tasks[index]!.baseline
  }
  return arm / baseline
}

/**
 * Runs a sign-flip test of the tasks' cost differences: if the arms are the same, each task's two sums could as
 * well be swapped. Since the total of both stays the same, it tests the ratio of sums too. `null` without pairs.
 */
export function costTest(tasks: readonly TaskCosts[], seed: number): SignFlip | null {
  const used = tasks.filter(({ pairs }) => pairs > 0)
  return used.length === 0
    ? null
    : signFlip(
        used.map(({ arm, baseline }) => arm - baseline),
        seed,
      )
}
