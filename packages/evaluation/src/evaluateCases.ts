import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { modelOf } from '../../ai-sdk/src/adapters/modelOf.ts'
import { systemClock } from '../../../src/protocol/ports/clock.ts'
import { checkedBy, RuntimeError } from '../../../src/protocol/errors.ts'
import { armOf, checkedArms, unchangedArm, type Arm } from './arms.ts'
import type { EvaluateOptions, Evaluation } from './evaluateOptions.ts'
import { runEvaluation } from './evaluation.ts'
import { reportOf } from './report/reportOf.ts'
import { suiteSchema, type AgentSource, type Overlay, type Scorer } from './suite/defineSuite.ts'
import { readSuite } from './suite/readSuite.ts'
import { suiteTask, textFiles, type Suite } from './suite/suite.ts'
import { suiteDigest } from './suite/suiteDigest.ts'
import { writeEvaluation } from './writeEvaluation.ts'
import { imageName, taskSchema, type Task } from './suite/task.ts'
import { tryRemoveFolder } from './trials/workspace.ts'

const positive = z.int().positive().max(999_999)

const optionsSchema = z
  .object({
    name: z.string().min(1),
    trials: positive,
    seed: z.int().nonnegative(),
    concurrency: positive,
    budgetUsd: z.number().positive(),
    docker: imageName,
    out: z.string().min(1),
  })
  .partial()

/** Implements `evaluate`. */
export async function evaluateCases(
  agent: AgentSource,
  cases: string | readonly Task[],
  scorers: Readonly<Record<string, Scorer>>,
  options: EvaluateOptions,
): Promise<Evaluation> {
  checkedBy(optionsSchema, options, 'evaluate')
  const suite = withScorers(
    typeof cases === 'string' ? await readSuite(cases, '.') : await suiteOf(cases, options),
    scorers,
  )
  const { out, signal = new AbortController().signal, clock = systemClock, model, judge, models, redact } = options
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
      runtime: { ...(models && { models }), ...(redact && { redact }) },
      docker: options.docker,
      keep: options.keep,
      onProgress: options.onProgress,
    })
    const { header, results, stopped, spentUsd, isUnbegun } = evaluated
    const report = reportOf(header, results, evaluated)
    if (out !== undefined && isUnbegun !== true) await writeEvaluation(folder, report)
    return { header, results, ...(stopped === undefined ? {} : { stopped }), spentUsd, report }
  } finally {
    if (out === undefined) await tryRemoveFolder(folder)
  }
}

/** Makes a suite of tasks in code. @throws RuntimeError `INVALID_OPTION` */
async function suiteOf(cases: readonly Task[], { name = 'cases' }: EvaluateOptions): Promise<Suite> {
  checkedBy(z.array(taskSchema()).min(1, 'give at least one case'), cases, 'evaluate: cases')
  const ids = cases.map(({ id }) => id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) throw new RuntimeError('INVALID_OPTION', `evaluate: two cases have the id "${twice}".`)
  const tasks = cases.map((task) => suiteTask(task, textFiles(task.files), textFiles(task.checkFiles)))
  return { name, digest: await suiteDigest([], cases), tasks, definition: {}, judged: [] }
}

/**
 * Adds scorers to those of the suite; each task is also checked by the scorers that none of its checks names. @throws RuntimeError `INVALID_OPTION`
 */
function withScorers(suite: Suite, scorers: Readonly<Record<string, Scorer>>): Suite {
  checkedBy(suiteSchema(), { scorers }, 'evaluate')
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
  const list = Array.isArray(arms)
    ? (arms as readonly string[]).map((name) => armOf(name, definition.arms))
    : Object.entries(arms as Readonly<Record<string, Overlay>>).map(([name, overlay]) => ({ name, overlay }))
  if (list.length === 0) throw new RuntimeError('INVALID_OPTION', 'evaluate: arms is empty: name one, or leave it out.')
  return checkedArms(list)
}
