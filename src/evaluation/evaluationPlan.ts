import type { PricesByModel } from '../actors/pricing.ts'
import type { CommandSandbox } from '../actors/tools/workspace/runCommand.ts'
import type { Clock } from '../protocol/clock.ts'
import type { Model } from '../protocol/model.ts'
import type { RuntimeOptions } from '../runtime/runtimeOptions.ts'
import type { Arm } from './arms.ts'
import type { OnProgress } from './progress.ts'
import type { AgentSource } from './suite/defineSuite.ts'
import type { Suite } from './suite/suite.ts'
import type { TaskImage } from './suite/task.ts'

/** What is evaluated, and how. */
export interface EvaluationPlan {
  readonly suite: Suite
  readonly source: AgentSource
  /** The first is the baseline. */
  readonly arms: readonly Arm[]
  readonly trials: number
  readonly seed: number
  /** How many trials are made at the same time. */
  readonly concurrency: number
  /** The results folder, absolute. */
  readonly folder: string
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The model of arms that name none, by name. */
  readonly model?: string | Model | undefined
  /** Knows models that the suite does not. */
  readonly named?: ((name: string) => Promise<Model>) | undefined
  readonly judge?: string | Model | undefined
  readonly prices?: PricesByModel | undefined
  /** Default: that of the folder, if it has the same evaluation. */
  readonly budgetUsd?: number | undefined
  /** What the runtime of agents and judge has. Recordings and results hold no secret of `redact` either. */
  readonly runtime?: Pick<RuntimeOptions, 'models' | 'redact'> | undefined
  /** Keeps the folders of trials that passed. */
  readonly keep?: boolean | undefined
  /** The image in whose containers the commands of tasks run that name none; missing: they run on this machine. */
  readonly docker?: string | undefined
  /** The container of an image for a folder. Default: one of Docker, which is asked for all images before anything runs. */
  readonly containerFor?: ((dir: string, image: TaskImage) => CommandSandbox) | undefined
  /** Records what models reply, in the folder. */
  readonly record?: boolean | undefined
  /** The folder of an evaluation whose recordings are played in place of asking models. */
  readonly replay?: string | undefined
  readonly onProgress?: OnProgress | undefined
}
