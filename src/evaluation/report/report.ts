import type { Figure } from '../statistics/figure.ts'
import type { ErrorInfo } from '../../protocol/errors.ts'
import type { Score, TrialMetrics, TrialOutcome } from '../results.ts'
import type { RunStopReason } from '../../protocol/records.ts'

/** The version of the format of `report.json`: raised when a reader of the old one would misread the new. */
export const reportVersion = 1

/** What an evaluation came to. Every figure has an interval, or says why it has none. Plain JSON: it is `report.json`. */
export interface Report {
  readonly type: 'report'
  readonly version: typeof reportVersion
  readonly suite: { readonly name: string; readonly digest: string }
  readonly versions: { readonly escapement: string; readonly node: string }
  /** Milliseconds since 1970: when it began, and when its last trial ended. */
  readonly startedAt: number
  readonly endedAt: number
  readonly seed: number
  /** Of each task in each arm, as planned. */
  readonly trials: number
  readonly budgetUsd: number | null
  /** What all finished trials cost, their judges and those with errors included; `null` where a model has no prices. */
  readonly costUsd: number | null
  readonly progress: Progress
  /** Why it ended before all was done, if somebody or something ended it. */
  readonly stopped: Stopped | null
  /** The baseline first. */
  readonly arms: readonly ArmReport[]
  /** Each arm but the first against the first. */
  readonly comparisons: readonly Comparison[]
  readonly tasks: readonly TaskReport[]
  /** The judge model, and how far it agrees with the checks beside it; `null` without one. */
  readonly judge: JudgeReport | null
  readonly warnings: readonly Warning[]
  /** By task, arm and number. */
  readonly results: readonly ReportedTrial[]
}

/** How much of what was planned is there. */
export interface Progress {
  readonly planned: number
  readonly passed: number
  readonly failed: number
  readonly errors: number
  readonly missing: number
  /** All trials are there, none of them as an error. */
  readonly isComplete: boolean
}

/** Why an evaluation ended early. */
export interface Stopped {
  readonly why: 'budget' | 'auth' | 'aborted' | 'changed' | 'crashed'
  readonly message?: string
}

/** Something measured in every trial, as the mean of tasks. */
export type MeasureName =
  | 'costUsd'
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
  /** Ids that its provider said it answered with. */
  readonly answeredBy: readonly string[]
  readonly isPriced: boolean
  readonly progress: Progress
  readonly passAt1: Figure
  /** For k = 2 to the number of trials: how likely k trials of a task all pass. */
  readonly passHatK: readonly { readonly k: number; readonly figure: Figure }[]
  readonly measures: Readonly<Record<MeasureName, Figure>>
  /** What all its finished trials cost, without judges; `null` without prices. */
  readonly totalUsd: number | null
  /** What a passed trial costs, failed ones paid for: the ratio of sums. */
  readonly costPerPass: Figure
}

/** What a comparison shows. `none`: no difference is shown, which does not say that there is none. `unknown`: it cannot be tested. */
export type Verdict = 'more' | 'less' | 'none' | 'unknown'

/** A test of an arm against the baseline. */
export interface TestReport {
  /** `null`: there is nothing to test. */
  readonly p: number | null
  /** By Holm, over all tests of the report. */
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
    /** In shares: .1 is ten points more. */
    readonly difference: Figure
  }
  readonly cost: TestReport & {
    /** Of the arm to the baseline. */
    readonly ratio: Figure
    /** Whether all permutations were looked at. */
    readonly isExact: boolean
  }
}

export interface TaskReport {
  readonly id: string
  readonly tags: readonly string[]
  readonly passesWithoutWork: boolean
  /** In the order of the arms. */
  readonly cells: readonly Cell[]
}

/** A task in an arm. */
export interface Cell {
  readonly passed: number
  readonly failed: number
  readonly errors: number
  /** The share that passed, with Wilson's interval over its trials. */
  readonly share: Figure
  /** The mean; `null`: not known. */
  readonly costUsd: number | null
}

/** How often a judge says the same as somebody or something else. */
export interface AgreementReport {
  readonly agreement: Figure
  /** Cohen's: agreement beyond chance. */
  readonly kappa: Figure
}

export interface JudgeReport {
  readonly model: string
  /** On answers of the suite that people judged; `null` where there are none. */
  readonly people: AgreementReport | null
  /** With the other required checks of a trial. */
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

/** Something that a reader of the figures has to know. */
export interface Warning {
  readonly code: WarningCode
  readonly text: string
}

/** A trial, as the report has it. */
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
