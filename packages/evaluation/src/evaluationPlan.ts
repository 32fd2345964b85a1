import type { PricesByModel } from '../../../src/actors/turn/pricing.ts'
import type { CommandSandbox } from '../../tools/src/workspace/localWorkspace.ts'
import type { Clock } from '../../../src/protocol/ports/clock.ts'
import type { Model } from '../../../src/protocol/ports/model.ts'
import type { RuntimeOptions } from '../../runtime/src/runtimeOptions.ts'
import type { Arm } from './arms.ts'
import type { OnProgress } from './progress.ts'
import type { AgentSource } from './suite/defineSuite.ts'
import type { Suite } from './suite/suite.ts'
import type { TaskImage } from './suite/task.ts'

/** Plan of an evaluation: its suite, agent, arms and options. */
export interface EvaluationPlan {
  readonly suite: Suite
  readonly source: AgentSource
  /** The arms; the first is the baseline. */
  readonly arms: readonly Arm[]
  readonly trials: number
  readonly seed: number
  /** Number of trials made at the same time. */
  readonly concurrency: number
  /** The results folder, absolute. */
  readonly folder: string
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Model of arms that name none: its name, or the model itself. */
  readonly model?: string | Model | undefined
  /** Returns models that the suite does not have, by name. */
  readonly named?: ((name: string) => Promise<Model>) | undefined
  readonly judge?: string | Model | undefined
  readonly prices?: PricesByModel | undefined
  /** Budget in US dollars. Default: the folder's budget, if it holds the same evaluation. */
  readonly budgetUsd?: number | undefined
  /** Options of the runtime of agents and judge. Recordings and results hold no secret of `redact` either. */
  readonly runtime?: Pick<RuntimeOptions, 'models' | 'redact'> | undefined
  /** True to keep the folders of passed trials. */
  readonly keep?: boolean | undefined
  /** Image whose containers run the commands of tasks that name none; missing: commands run on this machine. */
  readonly docker?: string | undefined
  /**
   * Returns a sandbox that runs commands of a folder in containers of an image. Default: Docker, which must have all images before any trial runs.
   */
  readonly containerFor?: ((dir: string, image: TaskImage) => CommandSandbox) | undefined
  /** True to record the replies of models, in the folder. */
  readonly record?: boolean | undefined
  /** Folder of an evaluation whose recordings are replayed instead of asking models. */
  readonly replay?: string | undefined
  readonly onProgress?: OnProgress | undefined
}
