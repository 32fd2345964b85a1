import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { ModelLimits } from '../actors/models/limits/modelLimit.ts'
import type { AiSdkModel } from '../actors/models/aiSdk/isAiSdkModel.ts'
import { modelOf } from '../actors/models/modelOf.ts'
import type { PricesByModel } from '../actors/pricing.ts'
import { type Clock, systemClock } from '../protocol/clock.ts'
import { describeIssues, RuntimeError } from '../protocol/errors.ts'
import type { Model } from '../protocol/model.ts'
import type { AgentSource } from './suite/defineSuite.ts'
import { armOf, checkedArms, unchangedArm, type Arm } from './arms.ts'
import { runEvaluation, type Evaluated } from './evaluation.ts'
import type { OnProgress } from './progress.ts'
import type { Report } from './report/report.ts'
import { reportOf } from './report/reportOf.ts'
import { writeReport } from './report/writeReport.ts'
import { suiteSchema, type Overlay, type Scorer } from './suite/defineSuite.ts'
import { readSuite } from './suite/readSuite.ts'
import { suiteTask, textFiles, type Suite } from './suite/suite.ts'
import { suiteDigest } from './suite/suiteDigest.ts'
import { taskSchema, type Task } from './suite/task.ts'

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
  readonly model?: Model | AiSdkModel
  /** Judges where a check asks for that. */
  readonly judge?: Model | AiSdkModel
  /** Prices of models by id, for agents that set none. */
  readonly prices?: PricesByModel
  /** What all of it may cost, in US dollars. */
  readonly budgetUsd?: number
  /** How much is asked of models at a time. */
  readonly models?: ModelLimits
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
export interface Evaluation extends Pick<Evaluated, 'header' | 'results' | 'stopped' | 'spentUsd'> {
  readonly report: Report
}

const positive = z.int().positive().max(999_999)

const optionsSchema = z
  .object({
    name: z.string().min(1),
    trials: positive,
    seed: z.int().nonnegative(),
    concurrency: positive,
    budgetUsd: z.number().positive(),
    out: z.string().min(1),
  })
  .partial()

/**
 * Tries an agent on tasks, each several times and in several arms, and says what differs. `cases`: tasks in code, or the folder of a suite.
 * `scorers`: by name; one that the check of a task names is asked there, the others are asked of every case.
 *
 * @throws RuntimeError `INVALID_OPTION`, `INVALID_DEFINITION`, and of `out` `EVALUATION_CHANGED` (it holds another evaluation), `STORE_LOCKED`,
 * `STORE_OPEN_FAILED`, `STORE_APPEND_FAILED`, `LOG_CORRUPT`, `LOG_VERSION`
 *
 * @example
 * ```ts no-run
 * import { evaluate } from 'escapement/testing'
 *
 * const { report } = await evaluate(
 *   support,
 *   [{ id: 'refund', prompts: ['My clock arrived broken.'] }],
 *   { offersRefund: ({ answer }) => answer.includes('refund') },
 *   { arms: ['as-defined', 'off'], trials: 5 },
 * )
 * console.log(report.arms.map(({ name, passAt1 }) => [name, passAt1.value]))
 * ```
 */
export async function evaluate(
  agent: AgentSource,
  cases: string | readonly Task[],
  scorers: Readonly<Record<string, Scorer>> = {},
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  const checked = optionsSchema.safeParse(options)
  if (!checked.success) throw new RuntimeError('INVALID_OPTION', `evaluate: ${describeIssues(checked.error)}.`)
  const suite = withScorers(
    typeof cases === 'string' ? await readSuite(cases, '.') : await suiteOf(cases, options),
    scorers,
  )
  const { out, signal = new AbortController().signal, clock = systemClock, model, judge, models } = options
  const folder = out === undefined ? await mkdtemp(join(tmpdir(), 'escapement-eval-')) : resolve(out)
  try {
    const evaluated = await runEvaluation({
      suite,
      source: agent,
      arms: armsIn(options.arms, suite),
      trials: options.trials ?? 1,
      seed: options.seed ?? 1,
      concurrency: options.concurrency ?? 4,
      folder,
      clock,
      signal,
      model: model && modelOf(model, 'evaluate'),
      judge: judge && modelOf(judge, 'evaluate'),
      prices: options.prices,
      budgetUsd: options.budgetUsd,
      modelLimits: models,
      keep: options.keep,
      onProgress: options.onProgress,
    })
    const { header, results, stopped } = evaluated
    const report = reportOf(header, results, stopped === undefined ? {} : { stopped })
    if (out !== undefined) await writeReport(folder, report)
    return { ...evaluated, report }
  } finally {
    if (out === undefined) await rm(folder, { recursive: true, force: true })
  }
}

/** A suite of tasks in code. @throws RuntimeError `INVALID_OPTION` */
async function suiteOf(cases: readonly Task[], { name = 'cases' }: EvaluateOptions): Promise<Suite> {
  const checked = z.array(taskSchema()).min(1, 'give at least one case').safeParse(cases)
  if (!checked.success) throw new RuntimeError('INVALID_OPTION', `evaluate: cases: ${describeIssues(checked.error)}.`)
  const ids = cases.map(({ id }) => id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) throw new RuntimeError('INVALID_OPTION', `evaluate: two cases have the id "${twice}".`)
  const tasks = cases.map((task) => suiteTask(task, textFiles(task.files), textFiles(task.checkFiles)))
  return { name, digest: await suiteDigest([], cases), tasks, definition: {}, judged: [] }
}

/** The scorers join those of the suite; those that no check of a task names are asked of it. @throws RuntimeError `INVALID_OPTION` */
function withScorers(suite: Suite, scorers: Readonly<Record<string, Scorer>>): Suite {
  const checked = suiteSchema().safeParse({ scorers })
  if (!checked.success) throw new RuntimeError('INVALID_OPTION', `evaluate: ${describeIssues(checked.error)}.`)
  const all = { ...suite.definition.scorers, ...scorers }
  const tasks = suite.tasks.map((task) => {
    const named = new Set(task.checks.flatMap((check) => ('scorer' in check ? [check.scorer] : [])))
    const unknown = [...named].find((name) => !Object.hasOwn(all, name))
    if (unknown !== undefined)
      throw new RuntimeError(
        'INVALID_OPTION',
        `evaluate: case "${task.id}" names a scorer "${unknown}" that there is not.`,
      )
    const others = Object.keys(scorers).filter((name) => !named.has(name))
    const checks = [...task.checks, ...others.map((scorer) => ({ scorer }))]
    if (checks.length === 0)
      throw new RuntimeError(
        'INVALID_OPTION',
        `evaluate: nothing judges case "${task.id}": give it a check, or a scorer.`,
      )
    return { ...task, checks }
  })
  return { ...suite, tasks, definition: { ...suite.definition, scorers: all } }
}

function armsIn(arms: EvaluateOptions['arms'] = [unchangedArm], { definition }: Suite): readonly Arm[] {
  if (!Array.isArray(arms))
    return Object.entries(arms as Readonly<Record<string, Overlay>>).map(([name, overlay]) => ({ name, overlay }))
  const list = (arms as readonly string[]).map((name) => armOf(name, definition.arms))
  if (list.length === 0) throw new RuntimeError('INVALID_OPTION', 'evaluate: arms is empty: name one, or leave it out.')
  return checkedArms(list)
}
