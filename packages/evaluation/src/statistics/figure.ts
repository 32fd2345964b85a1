/** Bounds of a figure at 95 % confidence. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/** A figure together with its interval, or with the reason why there is none. */
export interface Figure {
  /** The value; `null` if there is none, with the reason in `why`. */
  readonly value: number | null
  readonly interval: Interval | null
  /** Reason why there is no value or no interval, or a limit of the interval, in words. */
  readonly why?: string
  /** Number of tasks in the sample; `trials`: number of trials. */
  readonly tasks: number
  readonly trials: number
}

/** The confidence of every interval. */
export const confidence = 0.95

/** Size of the sample behind a figure. */
export type Sample = Pick<Figure, 'tasks' | 'trials'>

/** Makes a figure with its interval. A value or bound that is not a finite number becomes `null` with a reason, so that it never reaches a report. */
export function figure(value: number, interval: Interval | null, sample: Sample, why?: string): Figure {
  if (!Number.isFinite(value)) return noFigure(sample, why ?? 'it is not a finite number')
  const isSound = interval !== null && Number.isFinite(interval.low) && Number.isFinite(interval.high)
  const reason = why ?? (isSound ? undefined : 'the interval is not finite')
  return {
    value,
    interval: isSound ? interval : null,
    ...(reason === undefined ? {} : { why: reason }),
    tasks: sample.tasks,
    trials: sample.trials,
  }
}

/** Makes a figure without a value, with the reason. */
export const noFigure = ({ tasks, trials }: Sample, why: string): Figure => ({
  value: null,
  interval: null,
  why,
  tasks,
  trials,
})

/** Reason why a single task has no interval over tasks. */
export const oneTaskOnly = 'one task only, which says nothing about others'

/** Reason why values that do not vary have no interval. */
export const sameInAll = 'the same in every task, so that its spread is not seen'

/** Minimum number of tasks for a bootstrap interval: the resamples of fewer tasks are too few to tell apart at this confidence. */
export const fewestResampled = 5

/** Reason why a few tasks have no bootstrap interval. */
export const tooFewTasks = `fewer than ${fewestResampled} tasks`
