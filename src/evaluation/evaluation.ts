import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommandSandbox } from '../actors/tools/workspace/runCommand.ts'
import type { ModelLimits } from '../actors/models/limits/modelLimit.ts'
import type { PricesByModel } from '../actors/pricing.ts'
import type { Clock } from '../protocol/clock.ts'
import { RuntimeError } from '../protocol/errors.ts'
import type { Model } from '../protocol/model.ts'
import { version } from '../protocol/version.ts'
import { LocalRuntime } from '../runtime/runtime.ts'
import { fileStore } from '../stores/fileStore.ts'
import type { Arm } from './arms.ts'
import { armSetup, modelNamed, type AgentSource, type ArmSetup, type ModelOfTrial } from './armSetups.ts'
import { askJudge, defineJudge } from './checks/judge.ts'
import { changesSince, ResultsFile } from './folder/resultsFile.ts'
import { metricsOf } from './metrics/metricsOf.ts'
import { planTrials, seedOf, type PlannedTrial } from './plan.ts'
import { Progress, type OnProgress } from './progress.ts'
import { resultsVersion, type EvaluationHeader, type TaskInfo, type TrialResult } from './results.ts'
import type { Shell } from './sandbox.ts'
import { Spending } from './spending.ts'
import { Stop, type StopReason } from './stop.ts'
import type { Suite } from './suite/suite.ts'
import { clearLost } from './trials/lostTrials.ts'
import { OutsideWatch } from './trials/outsideWatch.ts'
import { removeWorkFolders, runTrial, trialTools, workFolder, type TrialPorts } from './trials/runTrial.ts'
import { passesWithoutWork } from './trials/withoutWork.ts'
import { freshFolder, removeFolder } from './trials/workspace.ts'

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
  readonly budgetUsd?: number | undefined
  readonly modelLimits?: ModelLimits | undefined
  /** Keeps the folders of trials that passed. */
  readonly keep?: boolean | undefined
  /** Where the commands of a folder run; missing: on this machine. */
  readonly sandboxFor?: ((dir: string) => CommandSandbox) | undefined
  readonly onProgress?: OnProgress | undefined
}

/** What came of an evaluation. */
export interface Evaluated {
  readonly header: EvaluationHeader
  readonly results: readonly TrialResult[]
  /** Why it ended before all was done. */
  readonly stopped?: StopReason
  readonly spentUsd: number
}

/**
 * Evaluates, or goes on with an evaluation whose folder it finds: trials that are there are not made again, but for those that ended as
 * an error.
 *
 * @throws RuntimeError `INVALID_OPTION`, `INVALID_DEFINITION`, `MODEL_UNAVAILABLE`, `EVALUATION_CHANGED`, and of the folder `STORE_LOCKED`,
 * `STORE_OPEN_FAILED`, `STORE_APPEND_FAILED`, `LOG_CORRUPT`, `LOG_VERSION`
 */
export async function runEvaluation(plan: EvaluationPlan): Promise<Evaluated> {
  const file = await ResultsFile.open(plan.folder)
  try {
    return await evaluateIn(file, plan)
  } finally {
    await file.close()
  }
}

async function evaluateIn(file: ResultsFile, plan: EvaluationPlan): Promise<Evaluated> {
  const { suite, folder, clock, signal } = plan
  const workspaces = join(folder, 'workspaces')
  const shellFor = (dir: string): Shell => ({ clock, sandbox: plan.sandboxFor?.(dir) })
  const arms = await readyArms(plan, join(workspaces, '.work-sample'))
  const judge = await judgeOf(plan)
  checkBudget(plan, arms, judge?.isPriced)
  const asked = headerOf(plan, arms, judge?.definition.model.id)
  if (file.header === undefined) {
    const tasks: readonly TaskInfo[] = await passesWithoutWork(suite, { workspaces, shellFor, ...plan })
    if (signal.aborted) return { header: { ...asked, tasks }, results: [], stopped: { why: 'aborted' }, spentUsd: 0 }
    await file.append({ ...asked, tasks })
  }
  const header = file.header!
  const changes = changesSince(header, asked)
  if (changes.length > 0)
    throw new RuntimeError('EVALUATION_CHANGED', `${folder} has another evaluation: ${changes.join('; ')}.`)
  const planned = planTrials({
    tasks: suite.tasks.map(({ id }) => id),
    arms: arms.map(({ info }) => info.name),
    trials: plan.trials,
    seed: plan.seed,
  })
  const store = fileStore(join(folder, 'sessions'))
  const todo = planned.filter(({ key }) => (file.trials.get(key)?.outcome ?? 'error') === 'error')
  await clearLost(file, store, todo)
  await removeWorkFolders(workspaces)
  const stop = new Stop(signal)
  const runtime = new LocalRuntime({ store, clock, ...(plan.modelLimits === undefined ? {} : { models: plan.modelLimits }) })
  const spending = new Spending(file.spentUsd, plan.budgetUsd, () => stop.now(budgetReached(plan, spending.usd)))
  const byName = new Map(arms.map((arm) => [arm.info.name, arm]))
  const ports: TrialPorts = {
    suite,
    runtime,
    store,
    workspaces,
    shellFor,
    define: (arm, given) => byName.get(arm)!.define(given),
    watch: (_key, agent) => spending.watch(agent),
    judgeUsd: (key) => (judge?.isPriced === true ? spending.judgeUsd(key) : undefined),
    judge: undefined,
    measure: (logs, isPriced) => metricsOf(logs, { isPriced }),
  }
  try {
    const progress = new Progress(planned, file.trials, clock, plan.onProgress)
    if (spending.isReached) stop.now(budgetReached(plan, spending.usd))
    await runAll({ file, ports, todo, stop, plan, progress, spending, judge })
  } finally {
    stop.release()
    await runtime.close()
  }
  const results = planned.flatMap(({ key }) => file.trials.get(key) ?? [])
  return { header, results, spentUsd: spending.usd, ...(stop.reason === undefined ? {} : { stopped: stop.reason }) }
}

const budgetReached = ({ budgetUsd = 0 }: EvaluationPlan, usd: number): StopReason => ({
  why: 'budget',
  message: `${usd.toFixed(4)} of ${budgetUsd} US dollars are spent`,
})

interface Running {
  readonly file: ResultsFile
  readonly ports: TrialPorts
  readonly todo: readonly PlannedTrial[]
  readonly stop: Stop
  readonly plan: EvaluationPlan
  readonly progress: Progress
  readonly spending: Spending
  readonly judge: ReadyJudge | undefined
}

/** Makes the trials, so many at a time, in their order. */
async function runAll(running: Running): Promise<void> {
  const { todo, stop, plan } = running
  const tasks = new Map(plan.suite.tasks.map((task) => [task.id, task]))
  const outside = await OutsideWatch.begin(plan.suite.folder, running.ports.workspaces, plan.sandboxFor !== undefined)
  let next = 0
  const work = async (): Promise<void> => {
    while (next < todo.length && stop.reason === undefined) {
      const planned = todo[next++]!
      await oneTrial(running, planned, tasks.get(planned.task)!, outside)
    }
  }
  await Promise.all(Array.from({ length: Math.min(plan.concurrency, todo.length) }, work))
}

/** What ends an evaluation, as every further trial would end with it too. */
const endsAll: ReadonlySet<string> = new Set(['MODEL_AUTH', 'MODEL_UNAVAILABLE'])

async function oneTrial(
  { file, ports, stop, plan, progress, spending, judge }: Running,
  planned: PlannedTrial,
  task: Suite['tasks'][number],
  outside: OutsideWatch,
): Promise<void> {
  const { signal } = stop
  const { key, agentId } = planned
  progress.begin(key, spending.usd)
  outside.begin(agentId)
  let judged = 0
  const asking: TrialPorts['judge'] =
    judge === undefined
      ? undefined
      : (check, { prompts, answer }) =>
          askJudge(
            ports.runtime,
            judge.definition,
            { criteria: check.judge, prompts, answer, min: check.min ?? 0.5 },
            { id: `${agentId}.judge.${judged++}`, signal, watch: (agent) => spending.watchJudge(key, agent) },
          )
  const made = await runTrial({ ...ports, judge: asking }, planned, task, signal)
  const changed = await outside.end()
  const work = workFolder(ports.workspaces, key)
  if (made === undefined) {
    await removeFolder(work)
    return progress.giveUp(key)
  }
  const result = changed === undefined ? made : { ...made, outcome: 'error' as const, error: changed }
  if (result.outcome === 'passed' && plan.keep !== true) await removeFolder(work)
  else {
    await removeFolder(join(ports.workspaces, agentId))
    await rename(work, join(ports.workspaces, agentId)).catch(() => {})
    await outside.settle(agentId)
  }
  await file.append(result)
  progress.end(result, spending.usd)
  if (result.error === undefined || result.outcome !== 'error') return
  if (endsAll.has(result.error.code)) stop.now({ why: 'auth', message: result.error.message })
  if (outside.isSuiteChanged) stop.now({ why: 'changed', message: result.error.message })
}

/** The arms, each tried with the first task. */
async function readyArms(plan: EvaluationPlan, dir: string): Promise<readonly ArmSetup[]> {
  const { suite, source, clock, seed } = plan
  const { definition } = suite
  const task = suite.tasks[0]!.id
  await freshFolder(dir)
  const named = (name: string): Promise<ModelOfTrial> => modelNamed(name, definition, plan.named)
  const sample = { dir, task, trial: 0, seed: seedOf(seed, task, 0), tools: trialTools(dir, { clock }) }
  const prices = { ...definition.prices, ...plan.prices }
  try {
    const model = await modelFor(plan.model, named)
    return await Promise.all(plan.arms.map((arm) => armSetup(arm, { source, model, prices, named, sample })))
  } finally {
    await removeFolder(dir)
  }
}

const modelFor = async (
  model: string | Model | undefined,
  named: (name: string) => Promise<ModelOfTrial>,
): Promise<ModelOfTrial | undefined> =>
  model === undefined ? undefined : typeof model === 'string' ? named(model) : () => model

interface ReadyJudge {
  readonly definition: ReturnType<typeof defineJudge>
  readonly isPriced: boolean
}

/** The judge, if a check asks one. @throws RuntimeError `INVALID_OPTION` when there is none. */
async function judgeOf({ suite, judge, named, prices, seed }: EvaluationPlan): Promise<ReadyJudge | undefined> {
  const asks = suite.tasks.find(({ checks }) => checks.some((check) => 'judge' in check))
  if (asks === undefined) return undefined
  const { definition } = suite
  const wanted = judge ?? (Object.hasOwn(definition.models ?? {}, 'judge') ? 'judge' : undefined)
  if (wanted === undefined)
    throw new RuntimeError('INVALID_OPTION', `The task "${asks.id}" asks a judge, and none is named: give a model for it (--judge <provider:id>).`)
  const model = await modelFor(wanted, (name) => modelNamed(name, definition, named))
  const made = defineJudge(model!({ task: asks.id, trial: 0, seed }), { ...definition.prices, ...prices })
  return { definition: made, isPriced: made.pricing !== null }
}

/** @throws RuntimeError `INVALID_OPTION` for a budget that cannot be kept. */
function checkBudget({ budgetUsd }: EvaluationPlan, arms: readonly ArmSetup[], isJudgePriced = true): void {
  if (budgetUsd === undefined) return
  const unpriced = arms.find(({ info }) => !info.isPriced)?.info
  if (unpriced === undefined && isJudgePriced) return
  const which = unpriced === undefined ? 'the judge' : `${unpriced.model}, of the arm "${unpriced.name}",`
  throw new RuntimeError(
    'INVALID_OPTION',
    `A budget needs prices, and those of ${which} are not known: give them with pricing of the agent, or prices of the suite.`,
  )
}

function headerOf(plan: EvaluationPlan, arms: readonly ArmSetup[], judge: string | undefined): EvaluationHeader {
  const { suite, trials, seed, budgetUsd, clock } = plan
  return {
    type: 'evaluation',
    version: resultsVersion,
    suite: { name: suite.name, digest: suite.digest },
    tasks: suite.tasks.map(({ id, tags }) => ({ id, tags })),
    arms: arms.map(({ info }) => info),
    trials,
    seed,
    startedAt: clock.now(),
    versions: { escapement: version, node: process.versions.node },
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
    ...(judge === undefined ? {} : { judge }),
  }
}
