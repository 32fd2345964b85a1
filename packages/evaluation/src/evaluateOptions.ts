import type { AnyModel } from '../../../src/actors/models/anyModel.ts'
import type { ModelLimits } from '../../runtime/src/limits/modelLimit.ts'
import type { PricesByModel } from '../../../src/actors/turn/pricing.ts'
import type { Clock } from '../../../src/protocol/ports/clock.ts'
import type { RedactOptions } from '../../redaction/src/redactor.ts'
import type { OnProgress } from './progress.ts'
import type { Report } from './report/report.ts'
import type { EvaluationHeader, TrialResult } from './results.ts'
import type { StopReason } from './stop.ts'
import type { Overlay } from './suite/defineSuite.ts'

export interface EvaluateOptions {
  /** Name of a suite in code, for reports. Default: `cases`. */
  readonly name?: string
  /**
   * Arms by name, as on the command line, or with the changes that each makes to the agent. The first is the baseline. Default: the agent as it is
   * defined.
   */
  readonly arms?: readonly string[] | Readonly<Record<string, Overlay>>
  /** Trials per task and arm. Default 1. */
  readonly trials?: number
  /** Seed of the evaluation. Default 1. */
  readonly seed?: number
  /** Maximum number of trials at the same time. Default 4. */
  readonly concurrency?: number
  /** Model of arms that name none. Default: the agent's own. */
  readonly model?: AnyModel
  /** Model that judges for checks that ask for a judge. */
  readonly judge?: AnyModel
  /** Prices of models by id, for agents that set none. */
  readonly prices?: PricesByModel
  /** Budget for the whole evaluation, in US dollars. Default: no limit; a continued evaluation keeps its own. */
  readonly budgetUsd?: number
  /** Limits on requests to models. */
  readonly models?: ModelLimits
  /** Secrets to keep out of logs, requests, the judge's input, and results. Checks and scorers also get answers without them. Default: none. */
  readonly redact?: RedactOptions
  /** Image whose containers run the commands of cases that name none, without a network. Default: commands run on this machine. */
  readonly docker?: string
  /** Folder in which results are kept, and from which a later call continues. Default: none, and nothing is kept. */
  readonly out?: string
  /** True to keep the folders of passed trials, in `out`. */
  readonly keep?: boolean
  /** Aborts the evaluation. Finished trials are kept, and a later call continues. */
  readonly signal?: AbortSignal
  readonly onProgress?: OnProgress
  readonly clock?: Clock
}

/** Result of an evaluation. */
export interface Evaluation {
  readonly header: EvaluationHeader
  readonly results: readonly TrialResult[]
  /** Reason why the evaluation ended before all was done. */
  readonly stopped?: StopReason
  /** Cost of all calls together, in US dollars; 0 without prices. */
  readonly spentUsd: number
  readonly report: Report
}
