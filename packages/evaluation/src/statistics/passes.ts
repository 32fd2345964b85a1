import { confidence, figure, noFigure, oneTaskOnly, type Figure } from './figure.ts'
import { meanOf, sumOf } from './moments.ts'
import { z95 } from './normal.ts'
import { tQuantile } from './studentT.ts'
import { wilson } from './wilson.ts'

/** Outcomes of the trials of one task, without those that ended as an error. */
export interface TaskPasses {
  readonly passed: number
  readonly trials: number
}

/** Returns the probability that `k` trials drawn from these without replacement all passed: C(passed, k) / C(trials, k), without bias. Pure. */
export function allOf(k: number, { passed, trials }: TaskPasses): number {
  let chance = 1
  for (let drawn = 0; drawn < k && chance > 0; drawn += 1) chance *= Math.max(0, passed - drawn) / (trials - drawn)
  return chance
}

/**
 * pass^k: the probability that `k` trials of a task all pass, with equal weight for every task; with `k` 1 it is pass@1. Tasks with fewer trials are
 * left out. The interval is for further tasks of the kind: Wilson's, with the number of independent trials estimated from the spread between tasks
 * (at most the number of trials made, and with the t distribution's width for few tasks). If no task or every task passed throughout, there is no
 * spread, and each task counts as one trial.
 */
export function passHatK(tasks: readonly TaskPasses[], k = 1): Figure {
  const used = tasks.filter(({ trials }) => trials >= k)
  const sample = { tasks: used.length, trials: sumOf(used.map(({ trials }) => trials)) }
  if (used.length === 0) return noFigure(sample, k === 1 ? 'no trial was finished' : `no task has ${k} finished trials`)
  const { mean, error } = meanOf(used.map((task) => allOf(k, task)))
  const share = Math.min(1, Math.max(0, mean))
  if (used.length === 1)
    return k === 1 && sample.trials > 1
      ? figure(
          share,
          wilson(share, sample.trials),
          sample,
          'of further trials of the one task; it says nothing about others',
        )
      : figure(share, null, sample, oneTaskOnly)
  const isExtreme = share === 0 || share === 1
  const most = sample.trials / k
  const independent = isExtreme ? used.length : Math.min(most, (share * (1 - share)) / (error * error))
  const width = (z95 / tQuantile(confidence, used.length - 1)) ** 2
  return figure(share, wilson(share, independent * width), sample)
}
