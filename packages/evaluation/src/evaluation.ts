import { join } from 'node:path'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { version } from '../../../src/protocol/version.ts'
import { Redactor } from '../../redaction/src/redactor.ts'
import { runtimeSetup } from '../../runtime/src/runtimeSetup.ts'
import { LocalRuntime } from '../../../src/runtime/runtime.ts'
import { fileStore } from '../../stores/src/fileStore.ts'
import type { ArmSetup } from './armSetups.ts'
import { calibrateJudge } from './checks/calibrateJudge.ts'
import { checkDocker, dockerSandbox } from './dockerSandbox.ts'
import { changesSince, ResultsFile } from './folder/resultsFile.ts'
import type { EvaluationPlan } from './evaluationPlan.ts'
import { metricsOf } from './metrics/metricsOf.ts'
import { planTrials } from './plan.ts'
import { Progress } from './progress.ts'
import { checkBudget, readyArms, readyJudge } from './readyArms.ts'
import { resultsVersion, type EvaluationHeader, type JudgeTrial, type TaskInfo, type TrialResult } from './results.ts'
import type { Shell } from './sandbox.ts'
import type { TaskImage } from './suite/task.ts'
import { Spending } from './spending.ts'
import { Stop, type StopReason } from './stop.ts'
import { clearLost } from './trials/lostTrials.ts'
import { OutsideWatch } from './trials/outsideWatch.ts'
import { checkRecordings, recordingTap, replayingTap, type ModelTap } from './trials/recordings.ts'
import { runAll } from './trials/runAll.ts'
import { removeWorkFolders, type TrialPorts } from './trials/runTrial.ts'
import { passesWithoutWork } from './trials/withoutWork.ts'

/** Result of an evaluation. */
export interface Evaluated {
  readonly header: EvaluationHeader
  readonly results: readonly TrialResult[]
  /** Agreement of the judge with people, on answers that people had judged. */
  readonly judged?: JudgeTrial
  /** Reason why the evaluation ended before all was done. */
  readonly stopped?: StopReason
  /** True if the evaluation was aborted before it began: its folder holds nothing to report or to continue. */
  readonly isUnbegun?: true
  readonly spentUsd: number
}

/**
 * Runs an evaluation, or continues one that it finds in its folder: finished trials are not made again, except those that ended as an error.
 *
 * @throws RuntimeError `INVALID_OPTION`, `INVALID_DEFINITION`, `MODEL_UNAVAILABLE`, `EVALUATION_CHANGED`, and of the folder `STORE_LOCKED`,
 * `STORE_OPEN_FAILED`, `STORE_APPEND_FAILED`, `LOG_CORRUPT`, `LOG_VERSION`
 */
export async function runEvaluation(plan: EvaluationPlan): Promise<Evaluated> {
  if (plan.containerFor === undefined) await checkDocker(plan.suite.tasks, plan.docker)
  const file = await ResultsFile.open(plan.folder)
  try {
    return await evaluateIn(file, plan)
  } finally {
    await file.close()
  }
}

async function evaluateIn(file: ResultsFile, wanted: EvaluationPlan): Promise<Evaluated> {
  const plan = { ...wanted, budgetUsd: wanted.budgetUsd ?? file.header?.budgetUsd }
  const { suite, folder, clock, signal, concurrency } = plan
  const workspaces = join(folder, 'workspaces')
  const { containerFor = dockerSandbox } = plan
  const shellFor = (dir: string, own?: TaskImage): Shell => {
    const image = imageOf(plan, own)
    return { clock, sandbox: image && containerFor(dir, image) }
  }
  await removeWorkFolders(workspaces)
  const arms = await readyArms(plan, join(workspaces, '.work-sample'))
  const judge = await readyJudge(plan)
  checkBudget(plan, arms, judge)
  const planned = planTrials({
    tasks: suite.tasks.map(({ id }) => id),
    arms: arms.map(({ info }) => info.name),
    trials: plan.trials,
    seed: plan.seed,
  })
  if (plan.replay !== undefined) await checkRecordings(plan.replay, planned)
  const asked = headerOf(plan, arms, judge?.definition.model.id)
  if (file.header === undefined) {
    const tasks: readonly TaskInfo[] = await passesWithoutWork(suite, { ...plan, workspaces, shellFor })
    const unbegun = { results: [], stopped: { why: 'aborted' }, isUnbegun: true, spentUsd: 0 } as const
    if (signal.aborted) return { header: { ...asked, tasks }, ...unbegun }
    await file.append({ ...asked, tasks })
  }
  const changes = changesSince(file.header!, asked)
  if (changes.length > 0)
    throw new RuntimeError('EVALUATION_CHANGED', `${folder} has another evaluation: ${changes.join('; ')}.`)
  const { budgetUsd } = plan
  if (budgetUsd !== undefined && file.header!.budgetUsd !== budgetUsd) await file.append({ type: 'budget', budgetUsd })
  const header = file.header!
  const store = fileStore(join(folder, 'sessions'))
  const todo = planned.filter(({ key }) => (file.trials.get(key)?.outcome ?? 'error') === 'error')
  await clearLost(file, store, todo)
  const tap = tapOf(plan)
  const runtime = new LocalRuntime({ ...runtimeSetup({ store, clock, ...plan.runtime }), instead: tap?.instead })
  const stop = new Stop(signal)
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
    if (spending.isReached) stop.now(budgetReached(plan, spending.usd))
    if (judge !== undefined && suite.judged.length > 0 && file.judge === undefined) {
      const made = await calibrateJudge(judge, suite.judged, { runtime, spending, stop, concurrency })
      if (made !== undefined) await file.append(made)
    }
    const outside = await OutsideWatch.begin(suite.folder, workspaces, isConfined(plan))
    const progress = new Progress(planned, file.trials, clock, plan.onProgress)
    const keep = plan.keep === true
    const redactor = plan.runtime?.redact && new Redactor(plan.runtime.redact)
    const shared = { suite, file, ports, stop, progress, spending, outside, judge, tap, keep, redactor }
    await runAll(shared, todo, concurrency)
  } finally {
    stop.release()
    await runtime.close()
  }
  return {
    header,
    results: planned.flatMap(({ key }) => file.trials.get(key) ?? []),
    spentUsd: spending.usd,
    ...(file.judge === undefined ? {} : { judged: file.judge }),
    ...(stop.reason === undefined ? {} : { stopped: stop.reason }),
  }
}

/** Returns the tap between agents and their models, which replays or records; `undefined` without either. */
function tapOf({ record, replay, folder, clock, runtime }: EvaluationPlan): ModelTap | undefined {
  if (replay !== undefined) return replayingTap(replay, clock)
  return record === true ? recordingTap(folder, runtime?.redact) : undefined
}

/** Returns the image of a task, else that of the evaluation. Without one, commands run on this machine. */
const imageOf = ({ docker }: EvaluationPlan, own: TaskImage | undefined): TaskImage | undefined =>
  own ?? (docker === undefined ? undefined : { name: docker })

/** Returns true if no command of any task runs on this machine. */
const isConfined = (plan: EvaluationPlan): boolean =>
  plan.suite.tasks.every(({ image }) => imageOf(plan, image) !== undefined)

const budgetReached = ({ budgetUsd = 0 }: EvaluationPlan, usd: number): StopReason => ({
  why: 'budget',
  message: `${usd.toFixed(4)} of ${budgetUsd} US dollars are spent`,
})

function headerOf(plan: EvaluationPlan, arms: readonly ArmSetup[], judge: string | undefined): EvaluationHeader {
  const { suite, trials, seed, docker, budgetUsd, clock } = plan
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
    ...(docker === undefined ? {} : { docker }),
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
    ...(judge === undefined ? {} : { judge }),
  }
}
