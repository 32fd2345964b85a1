import type { Dollars } from '../../sessions/src/savings/savings.ts'
import type { ErrorInfo } from '../../../src/protocol/errors.ts'
import type { Usage } from '../../../src/protocol/messages.ts'
import type { RunStopReason } from '../../../src/protocol/records.ts'

/** The version of the format of `results.jsonl`. */
export const resultsVersion = 1

/** The first line of `results.jsonl`: the subject of the evaluation, so that a later process continues the same one. */
export interface EvaluationHeader {
  readonly type: 'evaluation'
  readonly version: typeof resultsVersion
  readonly suite: {
    readonly name: string
    /** SHA-256 over the paths and contents of the suite's files, in hex. */
    readonly digest: string
  }
  readonly tasks: readonly TaskInfo[]
  /** The arms; the first is the baseline. */
  readonly arms: readonly ArmInfo[]
  readonly trials: number
  readonly seed: number
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly versions: { readonly escapement: string; readonly node: string }
  /** Image whose containers run the commands of tasks that name none; missing: commands run on this machine. */
  readonly docker?: string
  /** Budget for the whole evaluation in US dollars; missing: no limit. */
  readonly budgetUsd?: number
  /** The judge model, if a check asks one. */
  readonly judge?: string
}

export interface TaskInfo {
  readonly id: string
  readonly tags: readonly string[]
  /** True if the task's checks pass before an agent has done anything, so that its results say nothing about agents. */
  readonly passesWithoutWork?: true
}

export interface ArmInfo {
  readonly name: string
  /** Id of the model that answers in the arm. */
  readonly model: string
  /** True if prices of that model are known; otherwise costs are `null`. */
  readonly isPriced: boolean
}

/** Outcome of a trial. `error`: the trial ended through no fault of the agent, so it counts neither as passed nor as failed, and is tried again. */
export type TrialOutcome = 'passed' | 'failed' | 'error'

/** A finished trial: a line of `results.jsonl`. If several lines have the same key, the last counts. */
export interface TrialResult {
  readonly type: 'trial'
  /** `<task>/<arm>/<trial>`. */
  readonly key: string
  readonly task: string
  readonly arm: string
  /** Number of the trial, from 0. */
  readonly trial: number
  readonly seed: number
  readonly outcome: TrialOutcome
  /** Reason why the last run ended; missing if none began. */
  readonly stopReason?: RunStopReason
  readonly scores: readonly Score[]
  /** Metrics of the agents' logs; `null` if no request was made. */
  readonly metrics: TrialMetrics | null
  /** Reason for an `error`, or the error of the last run. */
  readonly error?: ErrorInfo
  /** The last answer, cut to 4,000 characters. */
  readonly answer: string
  /** Id of the agent in the store of the evaluation. */
  readonly agentId: string
  /** Cost of the judge in US dollars; missing: no judge was asked, or it has no prices. Not part of `metrics`. */
  readonly judgeUsd?: number
  /** Only in a replay: the number of requests that differed from the recorded ones, though they got the recorded answers. */
  readonly differences?: number
  /** Ids of models as the provider gave them. Several, or one other than the arm's, show that the alias has moved. */
  readonly models: readonly string[]
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** Duration in milliseconds, checks included. */
  readonly ms: number
}

/** Cost of trials that were begun and not finished: a line of `results.jsonl`, so that a budget holds over interruptions. */
export interface LostSpending {
  readonly type: 'lost'
  /** Key of the trial; `judge`: the judge's agreement with people was being measured. */
  readonly key: string
  readonly costUsd: number
}

/** A changed budget of a continued evaluation: a line of `results.jsonl`, which counts from then on. */
export interface BudgetChange {
  readonly type: 'budget'
  /** Budget in US dollars. */
  readonly budgetUsd: number
}

/** Verdicts of the judge model on answers that people had judged: a line of `results.jsonl`. */
export interface JudgeTrial {
  readonly type: 'judge'
  readonly model: string
  /** Number of answers that both passed; `onlyPeople`, `onlyJudge`: only one of them; `neither`: neither of them. */
  readonly both: number
  readonly onlyPeople: number
  readonly onlyJudge: number
  readonly neither: number
  /** Number of answers on which the judge reached no verdict. */
  readonly failed: number
  readonly costUsd: number | null
}

/** A line of `results.jsonl`. */
export type ResultsLine = EvaluationHeader | TrialResult | LostSpending | BudgetChange | JudgeTrial

/** Result of one check. */
export interface Score {
  readonly name: string
  /** Value from 0 to 1. */
  readonly value: number
  readonly passed: boolean
  /** True if the trial passes only when this check does. */
  readonly required: boolean
  readonly weight: number
  /** True if a model judged the check. */
  readonly judge?: true
  /** Description of the finding, for people; at most 2,000 characters. */
  readonly reason?: string
}

/** Measurements of a trial from the logs of its agent and the agents below it. Counts, unless stated otherwise. */
export interface TrialMetrics {
  readonly turns: number
  /** Number of requests to models, including those of sub-agents and of brakes. */
  readonly requests: number
  readonly calls: number
  readonly failedCalls: number
  readonly usage: Usage
  /** Cost in US dollars; `null` without prices. */
  readonly costUsd: number | null
  /** Tokens that the brakes saved, net of their own cost; negative if they cost more. Missing in results of older versions. */
  readonly savedTokens?: number
  /** US dollars that the brakes saved, net of their own cost; `null` without prices. */
  readonly savedUsd?: Dollars | null
  /** Tokens of the largest request: as the provider counted them, else estimated. */
  readonly peakTokens: number
  /** Share of input tokens that came from the provider's cache, from 0 to 1. */
  readonly cachedShare: number
  readonly recalls: number
  /** Number of calls that an abandoned branch had made before, with the same arguments. */
  readonly repeatedAbandoned: number
  /** Number of requests that do not begin with the whole previous request; `null` if requests were not captured. */
  readonly prefixBreaks: number | null
  readonly reverts: number
  readonly prunes: number
  readonly folds: number
  readonly compactions: number
  readonly stalls: number
  /** Milliseconds of all runs together, without waits for people. */
  readonly runMs: number
}
