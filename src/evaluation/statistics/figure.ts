/** Where a figure lies with 95 % confidence. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/** A figure that never stands by itself: with its interval, or with the reason why there is none. */
export interface Figure {
  /** `null`: there is none, and `why` says so. */
  readonly value: number | null
  readonly interval: Interval | null
  /** Why there is no value or no interval, or what the interval does not cover, in words. */
  readonly why?: string
  /** Tasks and trials that it is made of. */
  readonly tasks: number
  readonly trials: number
}

/** The confidence of every interval. */
export const confidence = 0.95

/** What a figure is made of. */
export type Sample = Pick<Figure, 'tasks' | 'trials'>

/** A figure with its interval. What is no number, or has no end, becomes `null` with a reason: it must not reach a report. */
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

/** That there is no figure, and why. */
export const noFigure = ({ tasks, trials }: Sample, why: string): Figure => ({
  value: null,
  interval: null,
  why,
  tasks,
  trials,
})

/** Why a single task has no interval over tasks. */
export const oneTaskOnly = 'one task only, which says nothing about others'

/** Why what does not vary has no interval. */
export const sameInAll = 'the same in every task, so that its spread is not seen'

/** Fewer tasks make no bootstrap interval: their resamples are too few to be told apart at this confidence. */
export const fewestResampled = 5

/** Why a few tasks have no bootstrap interval. */
export const tooFewTasks = `fewer than ${fewestResampled} tasks`
