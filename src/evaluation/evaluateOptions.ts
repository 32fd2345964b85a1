import type { AnyModel } from '../actors/models/anyModel.ts'
import type { ModelLimits } from '../actors/models/limits/modelLimit.ts'
import type { PricesByModel } from '../actors/pricing.ts'
import type { Clock } from '../protocol/clock.ts'
import type { RedactOptions } from '../redaction/redactor.ts'
import type { OnProgress } from './progress.ts'
import type { Report } from './report/report.ts'
import type { EvaluationHeader, TrialResult } from './results.ts'
import type { StopReason } from './stop.ts'
import type { Overlay } from './suite/defineSuite.ts'

export interface EvaluateOptions {
  /** Of a suite in code: what it is called in reports. Default: `cases`. */
  readonly name?: string
  /** Arms by name, as on the command line, or with what each changes of the agent. The first is the baseline. Default: the agent as it is defined. */
  readonly arms?: readonly string[] | Readonly<Record<string, Overlay>>
  /** Default 1. */
  readonly trials?: number
  /** Default 1. */
  readonly seed?: number
  /** How many trials at the same time; default 4. */
  readonly concurrency?: number
  /** The model of arms that name none. Default: that of the agent. */
  readonly model?: AnyModel
  /** Judges where a check asks for that. */
  readonly judge?: AnyModel
  /** Prices of models by id, for agents that set none. */
  readonly prices?: PricesByModel
  /** What all of it may cost, in US dollars. Default: no limit; of an evaluation that goes on, the one that it has. */
  readonly budgetUsd?: number
  /** How much is asked of models at a time. */
  readonly models?: ModelLimits
  /** Secrets to keep out of logs, requests, what the judge sees, and results; checks and scorers get answers without them, too. Default: none. */
  readonly redact?: RedactOptions
  /** The image in whose containers the commands of cases run that name none, without a network. Default: they run on this machine. */
  readonly docker?: string
  /** Where results are kept: a folder, which a later call goes on with. Default: none, and nothing is left. */
  readonly out?: string
  /** Keeps the folders of trials that passed, in `out`. */
  readonly keep?: boolean
  /** Ends it: what was finished stays, and a later call goes on. */
  readonly signal?: AbortSignal
  readonly onProgress?: OnProgress
  readonly clock?: Clock
}

/** What came of an evaluation. */
export interface Evaluation {
  readonly header: EvaluationHeader
  readonly results: readonly TrialResult[]
  /** Why it ended before all was done. */
  readonly stopped?: StopReason
  /** What was spent over all calls, in US dollars; 0 without prices. */
  readonly spentUsd: number
  readonly report: Report
}
