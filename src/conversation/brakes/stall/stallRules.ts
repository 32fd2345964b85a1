import type { StallRule } from '../../../protocol/braking.ts'
import type { StepPrint } from './stepPrint.ts'

/** The newest steps, oldest first, and the share of names in a step's results that are new. */
export interface RecentSteps {
  readonly steps: readonly StepPrint[]
  newShare(step: StepPrint): number
}

/** Equal steps, or repeated rounds of steps, oldest first. */
export interface Loop {
  readonly steps: readonly StepPrint[]
  /** Steps of a round. */
  readonly period?: number
}

/** Finds the loop that ends with the newest step, from its beginning; `undefined` if there is none. Pure. */
type FindLoop = (recent: RecentSteps) => Loop | undefined

/** The default rules, which seldom fired in recorded runs that passed. */
export const defaultStallRules: readonly StallRule[] = ['repeat', 'cycle', 'sameError']

/** Number of steps that rules look back at most. */
export const mostStallSteps = 16

const isSame = (a: StepPrint, b: StepPrint): boolean => a.calls === b.calls && a.results === b.results

/** Returns the steps at the end for which this holds without a gap. */
function tailWhere(steps: readonly StepPrint[], holds: (step: StepPrint, index: number) => boolean): StepPrint[] {
  const last = steps.findLastIndex((step, index) => !holds(step, index))
  return steps.slice(last + 1)
}

const atLeast = (count: number, steps: readonly StepPrint[]): Loop | undefined =>
  steps.length >= count ? { steps } : undefined

export const stallRules: { readonly [R in StallRule]: FindLoop } = {
  repeat: ({ steps }) => {
    const last = steps.at(-1)
    if (last === undefined || last.polls) return undefined
    const isHarmless = (step: StepPrint): boolean => step.calls === last.calls || !(step.changes || step.polls)
    const same = tailWhere(steps.slice(-12), isHarmless).filter((step) => isSame(step, last))
    return atLeast(3, same)
  },

  cycle: ({ steps }) => {
    for (let period = 2; period <= 4; period++) {
      const end = steps.length - period
      const repeated = tailWhere(
        steps,
        (step, index) => !step.polls && (index >= end || isSame(step, steps[index + period]!)),
      )
      if (repeated.length >= 2 * period) return { steps: repeated, period }
    }
    return undefined
  },

  sameError: ({ steps }) => {
    const recent = steps.slice(-6)
    const last = recent.at(-1)
    if (last?.error === undefined || last.polls) return undefined
    const lastChange = recent.findLastIndex(({ changes }) => changes)
    // After a change, other words or counts are progress: one test fewer fails, or another one.
    const isAgain = ({ error, failure, polls }: StepPrint, index: number): boolean =>
      error === last.error && !polls && (index > lastChange || failure === last.failure)
    return atLeast(3, recent.filter(isAgain))
  },

  repeat4: ({ steps }) => {
    const last = steps.at(-1)
    return last === undefined
      ? undefined
      : atLeast(
          4,
          tailWhere(steps, (step) => !step.polls && isSame(step, last)),
        )
  },

  nothingNew: ({ steps, newShare }) => {
    const recent = steps.slice(-8)
    if (recent.some(({ changes, polls }) => changes || polls)) return undefined
    return recent.slice(-5).every((step) => newShare(step) < 0.05) ? atLeast(8, recent) : undefined
  },

  errors: ({ steps }) => {
    const recent = steps.slice(-4)
    const failed = recent.filter(({ error, polls }) => error !== undefined && !polls)
    return failed.at(-1) === recent.at(-1) ? atLeast(3, failed) : undefined
  },
}
