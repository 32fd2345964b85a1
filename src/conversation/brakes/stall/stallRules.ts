import type { StallRule } from '../../../protocol/braking.ts'
import { hasGrown } from './growth.ts'
import type { StepPrint } from './stepPrint.ts'

/** The newest steps, oldest first, and the share of names in a step's results that are new. */
export interface RecentSteps {
  readonly steps: readonly StepPrint[]
  newShare(step: StepPrint): number
}

/** Equal steps, or repeated rounds of steps, oldest first. */
export interface Loop {
  readonly steps: readonly StepPrint[]
  /** Number of steps in a round. */
  readonly period?: number
}

/** Finds the loop that ends with the newest step, from its beginning; `undefined` if there is none. Pure. */
type FindLoop = (recent: RecentSteps) => Loop | undefined

/** The default rules, which seldom fired in recorded runs that passed. */
export const defaultStallRules: readonly StallRule[] = ['repeat', 'cycle', 'sameError']

/** Maximum number of steps that rules look back. */
export const mostStallSteps = 16

const isSame = (a: StepPrint, b: StepPrint): boolean => a.calls === b.calls && a.results === b.results

/** Returns true for a step after which the same call may end another way. */
const opens = ({ changes, polls, moves }: StepPrint): boolean => changes || polls || moves

/** Returns true if the same call shows numbers that have grown, and nothing else: 12 % became 40 %. */
const isProgress = (earlier: StepPrint, later: StepPrint): boolean =>
  earlier.calls === later.calls && hasGrown(earlier.amounts, later.amounts)

/** Returns the unbroken series of steps at the end for which `holds` is true. */
function tailWhere(steps: readonly StepPrint[], holds: (step: StepPrint, index: number) => boolean): StepPrint[] {
  const last = steps.findLastIndex((step, index) => !holds(step, index))
  return steps.slice(last + 1)
}

const atLeast = (count: number, steps: readonly StepPrint[]): Loop | undefined =>
  steps.length >= count ? { steps } : undefined

/** Returns the number of equal steps that make a loop. It is higher for steps that change something, fail for a while or wait without saying so. */
const leastSteps = ({ patience }: StepPrint): number => 3 + patience

/** Number of failed attempts, with nothing but waits in between, that make a loop. */
const mostAttempts = 8

/** Finds attempts of the same call that failed alike, and that waiting did not help. A call that reports work under way may be waited for. */
function attemptsOverWaits(steps: readonly StepPrint[], last: StepPrint): Loop | undefined {
  if (last.polls || last.patience > 1) return undefined
  const isAttempt = (step: StepPrint): boolean => step.calls === last.calls && step.error === last.error
  const attempts = tailWhere(steps, (step) => step.polls || isAttempt(step)).filter(isAttempt)
  const earlier = attempts.at(-mostAttempts)
  if (earlier === undefined || isProgress(earlier, last)) return undefined
  return atLeast(mostAttempts, attempts)
}

export const stallRules: { readonly [R in StallRule]: FindLoop } = {
  repeat: ({ steps }) => {
    const last = steps.at(-1)
    if (last === undefined || last.polls) return undefined
    const isHarmless = (step: StepPrint): boolean =>
      step.calls === last.calls ? step.results === last.results : !opens(step)
    const same = tailWhere(steps.slice(-12), isHarmless).filter(({ calls }) => calls === last.calls)
    return atLeast(leastSteps(last), same)
  },

  cycle: ({ steps }) => {
    for (let period = 2; period <= 4; period++) {
      const end = steps.length - period
      const repeated = tailWhere(
        steps,
        (step, index) => !step.polls && (index >= end || isSame(step, steps[index + period]!)),
      )
      const patience = Math.max(0, ...repeated.map((step) => step.patience))
      if (repeated.length >= 2 * period + patience) return { steps: repeated, period }
    }
    return undefined
  },

  sameError: ({ steps }) => {
    const last = steps.at(-1)
    if (last?.error === undefined) return undefined
    const waited = attemptsOverWaits(steps, last)
    if (waited !== undefined) return waited
    const least = leastSteps(last)
    // What failed may go well after that, and the same call that went well has.
    const since = tailWhere(
      steps.slice(-2 * least),
      (step) => !opens(step) && (step.calls !== last.calls || step.error !== undefined),
    )
    const again = since.filter(({ error }) => error === last.error)
    const earlier = again.at(-least)
    if (earlier === undefined || isProgress(earlier, last)) return undefined
    return atLeast(least, again)
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
    const hasMoved = (step: StepPrint, at: number): boolean =>
      opens(step) || (at > 0 && isProgress(recent[at - 1]!, step))
    if (recent.some(hasMoved)) return undefined
    return recent.slice(-5).every((step) => newShare(step) < 0.05) ? atLeast(8, recent) : undefined
  },

  errors: ({ steps }) => {
    const recent = steps.slice(-4)
    const failed = recent.filter(({ error, polls }) => error !== undefined && !polls)
    return failed.at(-1) === recent.at(-1) ? atLeast(3, failed) : undefined
  },
}
