import type { ErrorInfo } from '../protocol/errors.ts'
import type { Usage } from '../protocol/messages.ts'
import type { RunStopReason } from '../protocol/records.ts'

/** The version of the format of `results.jsonl`. */
export const resultsVersion = 1

/** The first line of `results.jsonl`: what is being evaluated, so that a later process goes on with the same. */
export interface EvaluationHeader {
  readonly type: 'evaluation'
  readonly version: typeof resultsVersion
  readonly suite: {
    readonly name: string
    /** SHA-256 over the paths and contents of its files, in hex. */
    readonly digest: string
  }
  readonly tasks: readonly TaskInfo[]
  /** The first is the baseline. */
  readonly arms: readonly ArmInfo[]
  readonly trials: number
  readonly seed: number
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly versions: { readonly escapement: string; readonly node: string }
  /** The image in whose containers the commands of tasks run that name none; missing: they run on this machine. */
  readonly docker?: string
  /** What all of it may cost, in US dollars; missing: no limit. */
  readonly budgetUsd?: number
  /** The judge model, if a check asks one. */
  readonly judge?: string
}

export interface TaskInfo {
  readonly id: string
  readonly tags: readonly string[]
  /** Its checks pass before an agent did anything: what it says of agents is worth nothing. */
  readonly passesWithoutWork?: true
}

export interface ArmInfo {
  readonly name: string
  /** The id of the model that answers in it. */
  readonly model: string
  /** Whether prices of that model are known: if not, costs are `null`. */
  readonly isPriced: boolean
}

/** What became of a trial. `error`: not the agent's doing, so it counts neither as passed nor as failed, and is tried again. */
export type TrialOutcome = 'passed' | 'failed' | 'error'

/** A finished trial: a line of `results.jsonl`. If there are several of a key, the last counts. */
export interface TrialResult {
  readonly type: 'trial'
  /** `<task>/<arm>/<trial>`. */
  readonly key: string
  readonly task: string
  readonly arm: string
  /** From 0. */
  readonly trial: number
  readonly seed: number
  readonly outcome: TrialOutcome
  /** How the last run ended; missing where none began. */
  readonly stopReason?: RunStopReason
  readonly scores: readonly Score[]
  /** `null` where no request was made. */
  readonly metrics: TrialMetrics | null
  /** Why it is an `error`, or what the last run failed with. */
  readonly error?: ErrorInfo
  /** The last answer, cut to 4,000 characters. */
  readonly answer: string
  /** The agent in the store of the evaluation. */
  readonly agentId: string
  /** What the judge used of it, in US dollars; missing: no judge was asked, or it has no prices. Not part of `metrics`. */
  readonly judgeUsd?: number
  /** Of a replay: requests that were not as recorded, though they were answered as then. */
  readonly differences?: number
  /** Ids that the provider said it answered with; more than one, or another than the arm's: the alias moved. */
  readonly models: readonly string[]
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** Duration in milliseconds, checks included. */
  readonly ms: number
}

/** What trials used that were begun and not finished: a line of `results.jsonl`, so that a budget holds over interruptions. */
export interface LostSpending {
  readonly type: 'lost'
  /** Of the trial; `judge`: its agreement with people was being measured. */
  readonly key: string
  readonly costUsd: number
}

/** An evaluation goes on with another budget: a line of `results.jsonl`, which counts from then on. */
export interface BudgetChange {
  readonly type: 'budget'
  /** In US dollars. */
  readonly budgetUsd: number
}

/** How the judge model did on answers that people had judged: a line of `results.jsonl`. */
export interface JudgeTrial {
  readonly type: 'judge'
  readonly model: string
  /** How often both said that an answer passes, only the people, only the judge, neither. */
  readonly both: number
  readonly onlyPeople: number
  readonly onlyJudge: number
  readonly neither: number
  /** Answers that it did not come to judge. */
  readonly failed: number
  readonly costUsd: number | null
}

/** A line of `results.jsonl`. */
export type ResultsLine = EvaluationHeader | TrialResult | LostSpending | BudgetChange | JudgeTrial

/** What one check found. */
export interface Score {
  readonly name: string
  /** From 0 to 1. */
  readonly value: number
  readonly passed: boolean
  /** The trial passes only if all that are required do. */
  readonly required: boolean
  readonly weight: number
  /** A model judged it. */
  readonly judge?: true
  /** What was seen, for people; at most 2,000 characters. */
  readonly reason?: string
}

/** What the log of an agent and those below it says of a trial. Counts, unless something else is said. */
export interface TrialMetrics {
  readonly turns: number
  /** Requests to models, those of sub-agents and of brakes included. */
  readonly requests: number
  readonly calls: number
  readonly failedCalls: number
  readonly usage: Usage
  /** US dollars; `null` without prices. */
  readonly costUsd: number | null
  /** Tokens of the largest request: as the provider counted them, else estimated. */
  readonly peakTokens: number
  /** From 0 to 1: input tokens that came from the provider's cache. */
  readonly cachedShare: number
  readonly recalls: number
  /** Calls that an abandoned branch had made before, with the same arguments. */
  readonly repeatedAbandoned: number
  /** Requests that do not begin with the whole request before; `null` where requests were not captured. */
  readonly prefixBreaks: number | null
  readonly reverts: number
  readonly prunes: number
  readonly folds: number
  readonly compactions: number
  readonly stalls: number
  /** From the first prompt to the end of the last run, without what waited for people. */
  readonly runMs: number
}
