import type { Figure } from '../statistics/figure.ts'
import type { ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { Score, TrialMetrics, TrialOutcome } from '../results.ts'
import type { RunStopReason } from '../../../../src/protocol/records.ts'

/** The version of the format of `report.json`: raised when a reader of the old one would misread the new. */
export const reportVersion = 1

/** Report of an evaluation, as plain JSON: `report.json`. Every figure has an interval, or a reason why it has none. */
export interface Report {
  readonly type: 'report'
  readonly version: typeof reportVersion
  readonly suite: { readonly name: string; readonly digest: string }
  readonly versions: { readonly escapement: string; readonly node: string }
  /** Time at which the evaluation began, in milliseconds since 1970; `endedAt`: time at which its last trial ended. */
  readonly startedAt: number
  readonly endedAt: number
  readonly seed: number
  /** Planned trials of each task in each arm. */
  readonly trials: number
  readonly budgetUsd: number | null
  /** Cost of all finished trials, including their judges and trials with errors; `null` if a model has no prices. */
  readonly costUsd: number | null
  readonly progress: Progress
  /** Reason why the evaluation ended before all was done; `null` if it was not ended early. */
  readonly stopped: Stopped | null
  /** The arms; the baseline is the first. */
  readonly arms: readonly ArmReport[]
  /** Comparisons of each further arm with the first. */
  readonly comparisons: readonly Comparison[]
  readonly tasks: readonly TaskReport[]
  /** The judge model, and its agreement with the other checks; `null` without a judge. */
  readonly judge: JudgeReport | null
  readonly warnings: readonly Warning[]
  /** Results by task, arm and number. */
  readonly results: readonly ReportedTrial[]
}

/** Counts of the planned trials by outcome. */
export interface Progress {
  readonly planned: number
  readonly passed: number
  readonly failed: number
  readonly errors: number
  readonly missing: number
  /** True if no trial is missing or ended as an error. */
  readonly isComplete: boolean
}

/** Reason why an evaluation ended early. */
export interface Stopped {
  readonly why: 'budget' | 'auth' | 'aborted' | 'changed' | 'crashed'
  readonly message?: string
}

/** Name of a measurement made in every trial and reported as the mean over tasks. */
export type MeasureName =
  | 'costUsd'
  | 'savedTokens'
  | 'savedUsdLeast'
  | 'savedUsdMost'
  | 'peakTokens'
  | 'cachedShare'
  | 'turns'
  | 'requests'
  | 'calls'
  | 'failedCalls'
  | 'recalls'
  | 'repeatedAbandoned'
  | 'prefixBreaks'
  | 'reverts'
  | 'folds'
  | 'compactions'
  | 'stalls'
  | 'runMs'

export interface ArmReport {
  readonly name: string
  readonly model: string
  /** Ids of models as the provider gave them in its answers. */
  readonly answeredBy: readonly string[]
  readonly isPriced: boolean
  readonly progress: Progress
  readonly passAt1: Figure
  /** Probability that k trials of a task all pass, for k = 2 to the number of trials. */
  readonly passHatK: readonly { readonly k: number; readonly figure: Figure }[]
  readonly measures: Readonly<Record<MeasureName, Figure>>
  /** Cost of all finished trials of the arm, without judges; `null` without prices. */
  readonly totalUsd: number | null
  /** Cost per passed trial, including the cost of failed ones: the ratio of sums. */
  readonly costPerPass: Figure
}

/** Verdict of a comparison. `none`: no difference is shown, which does not mean that there is none. `unknown`: it cannot be tested. */
export type Verdict = 'more' | 'less' | 'none' | 'unknown'

/** A test of an arm against the baseline. */
export interface TestReport {
  /** The p value; `null` if there is nothing to test. */
  readonly p: number | null
  /** The p value adjusted by Holm over all tests of the report. */
  readonly adjusted: number | null
  readonly verdict: Verdict
  /** The verdict in plain words. */
  readonly words: string
}

/** An arm against the baseline, by pairs: the same trial of the same task in both. */
export interface Comparison {
  readonly arm: string
  readonly baseline: string
  readonly passes: TestReport & {
    readonly pairs: number
    /** Trials of the arm or of the baseline that have no partner, because that one is missing or an error. */
    readonly leftOut: number
    readonly both: number
    readonly onlyArm: number
    readonly onlyBaseline: number
    readonly neither: number
    /** Difference in shares: .1 is ten points more. */
    readonly difference: Figure
  }
  readonly cost: TestReport & {
    /** Cost of the arm relative to the baseline. */
    readonly ratio: Figure
    /** True if all permutations were examined. */
    readonly isExact: boolean
  }
}

export interface TaskReport {
  readonly id: string
  readonly tags: readonly string[]
  readonly passesWithoutWork: boolean
  /** Cells in the order of the arms. */
  readonly cells: readonly Cell[]
}

/** Results of a task in an arm. */
export interface Cell {
  readonly passed: number
  readonly failed: number
  readonly errors: number
  /** The share that passed, with Wilson's interval over its trials. */
  readonly share: Figure
  /** Mean cost in US dollars; `null` if it is unknown. */
  readonly costUsd: number | null
}

/** Agreement of a judge with people or with other checks. */
export interface AgreementReport {
  readonly agreement: Figure
  /** Cohen's kappa: agreement beyond chance. */
  readonly kappa: Figure
}

export interface JudgeReport {
  readonly model: string
  /** Agreement on answers of the suite that people judged; `null` if there are none. */
  readonly people: AgreementReport | null
  /** Agreement with the other required checks of a trial. */
  readonly checks: AgreementReport
}

export type WarningCode =
  | 'INCOMPLETE'
  | 'ERRORS'
  | 'PASSES_WITHOUT_WORK'
  | 'EMBEDDED'
  | 'ALIAS_MOVED'
  | 'UNPRICED'
  | 'ONE_TASK'
  | 'ONE_TRIAL'
  | 'PAIRS_LEFT_OUT'
  | 'FEW_TASKS'
  | 'REPLAY_DIFFERS'
  | 'UNKNOWN_RESULTS'

/** A fact that a reader of the figures must know. */
export interface Warning {
  readonly code: WarningCode
  readonly text: string
}

/** A trial in the report. */
export interface ReportedTrial {
  readonly task: string
  readonly arm: string
  readonly trial: number
  readonly seed: number
  readonly outcome: TrialOutcome
  readonly stopReason: RunStopReason | null
  readonly scores: readonly Score[]
  readonly metrics: TrialMetrics | null
  readonly error: ErrorInfo | null
  readonly answer: string
  readonly agentId: string
  readonly models: readonly string[]
  readonly startedAt: number
  readonly ms: number
}
