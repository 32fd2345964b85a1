import type { StallRule } from '../protocol/braking.ts'
import type { StepPrint } from './stepPrint.ts'

/** The newest steps, oldest first, and the share of names in a step's results that stand in none before it. */
export interface RecentSteps {
  readonly steps: readonly StepPrint[]
  newShare(step: StepPrint): number
}

/** The steps of the loop that ends with the newest step, oldest first; `undefined` when there is none. Pure. */
type FindLoop = (recent: RecentSteps) => readonly StepPrint[] | undefined

/** The rules that are asked unless others are named: on recorded runs they fired in 38 to 63 of 100 that failed and in at most 2 that did not. */
export const defaultStallRules: readonly StallRule[] = ['repeat', 'cycle', 'sameError']

/** No rule looks back further. */
export const mostStallSteps = 16

const isSame = (a: StepPrint, b: StepPrint): boolean => a.calls === b.calls && a.results === b.results

export const stallRules: { readonly [R in StallRule]: FindLoop } = {
  repeat: ({ steps }) => {
    const last = steps.at(-1)
    if (last === undefined || last.polls) return undefined
    const recent = steps.slice(-12)
    const same = recent.filter((step) => isSame(step, last)).slice(-3)
    if (same.length < 3) return undefined
    const between = recent.slice(recent.indexOf(same[0]!))
    return between.some((step) => step.calls !== last.calls && (step.changes || step.polls)) ? undefined : same
  },

  cycle: ({ steps }) => {
    for (let period = 2; period <= 4; period++) {
      const recent = steps.slice(-2 * period)
      if (recent.length < 2 * period) return undefined
      const isCycle = recent.every(
        (step, index) => !step.polls && isSame(step, index < period ? step : recent[index - period]!),
      )
      if (isCycle) return recent
    }
    return undefined
  },

  sameError: ({ steps }) => {
    const last = steps.at(-1)
    if (last?.error === undefined || last.polls) return undefined
    const same = steps
      .slice(-6)
      .filter(({ error, polls }) => error === last.error && !polls)
      .slice(-3)
    return same.length === 3 ? same : undefined
  },

  repeat4: ({ steps }) => {
    const recent = steps.slice(-4)
    const [first] = recent
    return recent.length === 4 && recent.every((step) => !step.polls && isSame(step, first!)) ? recent : undefined
  },

  nothingNew: ({ steps, newShare }) => {
    const recent = steps.slice(-8)
    if (recent.length < 8 || recent.some(({ changes, polls }) => changes || polls)) return undefined
    return recent.slice(-5).every((step) => newShare(step) < 0.05) ? recent : undefined
  },

  errors: ({ steps }) => {
    const recent = steps.slice(-4)
    const failed = recent.filter(({ error, polls }) => error !== undefined && !polls)
    return failed.length >= 3 && failed.at(-1) === recent.at(-1) ? failed : undefined
  },
}
