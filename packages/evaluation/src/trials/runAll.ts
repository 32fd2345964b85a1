import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Redactor } from '../../../../src/protocol/ports/redactor.ts'
import { askJudge, type ReadyJudge } from '../checks/judge.ts'
import type { ResultsFile } from '../folder/resultsFile.ts'
import type { PlannedTrial } from '../plan.ts'
import type { Progress } from '../progress.ts'
import type { TrialResult } from '../results.ts'
import type { Spending } from '../spending.ts'
import type { Stop } from '../stop.ts'
import type { Suite, SuiteTask } from '../suite/suite.ts'
import type { OutsideWatch } from './outsideWatch.ts'
import type { ModelTap } from './recordings.ts'
import { runTrial, workFolder, type TrialPorts } from './runTrial.ts'
import { tryRemoveFolder } from './workspace.ts'

/** State that all trials of an evaluation share. */
export interface Running {
  readonly suite: Suite
  readonly file: ResultsFile
  readonly ports: TrialPorts
  readonly stop: Stop
  readonly progress: Progress
  readonly spending: Spending
  readonly outside: OutsideWatch
  readonly judge: ReadyJudge | undefined
  readonly tap: ModelTap | undefined
  /** Keeps the folders of trials that passed. */
  readonly keep: boolean
  /** Blanks secrets in the output of checks and commands; logs have none anyway. */
  readonly redactor: Redactor | undefined
}

/** Makes trials in their order, up to `concurrency` at a time, until all are made or the evaluation is ended. */
export async function runAll(running: Running, todo: readonly PlannedTrial[], concurrency: number): Promise<void> {
  const { stop, suite } = running
  const tasks = new Map(suite.tasks.map((task) => [task.id, task]))
  let next = 0
  const work = async (): Promise<void> => {
    while (next < todo.length && stop.reason === undefined) {
      const planned = todo[next++]!
      await oneTrial(running, planned, tasks.get(planned.task)!)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, todo.length) }, work))
  } catch (thrown) {
    // Results cannot be written, or who is told of them throws: the others must not go on unseen.
    stop.now({ why: 'aborted' })
    throw thrown
  }
}

/** Codes of errors that end the evaluation, as every further trial would end with them too. */
const endsAll: ReadonlySet<string> = new Set(['MODEL_AUTH', 'MODEL_UNAVAILABLE'])

async function oneTrial(running: Running, planned: PlannedTrial, task: SuiteTask): Promise<void> {
  const { file, ports, stop, progress, spending, outside, tap, redactor } = running
  const { key, agentId } = planned
  progress.begin(key, spending.usd)
  outside.begin(agentId)
  await tap?.begin(agentId)
  const made = await runTrial({ ...ports, judge: judgeOf(running, planned) }, planned, task, stop.signal)
  const said = await tap?.end(agentId)
  const changed = await outside.end()
  const work = workFolder(ports.workspaces, key)
  if (made === undefined) {
    await tryRemoveFolder(work)
    return progress.giveUp(key)
  }
  const whole: TrialResult = {
    ...made,
    ...said,
    ...(changed === undefined ? {} : { outcome: 'error', error: changed }),
  }
  const { scores, error } = whole
  const result = redactor === undefined ? whole : { ...whole, ...redactor.value({ scores, ...(error && { error }) }) }
  // Before anything is done with what an agent may have left in its folder.
  await file.append(result)
  await leave(running, planned, result, work)
  progress.end(result, spending.usd)
  if (result.error === undefined || result.outcome !== 'error') return
  if (outside.isSuiteChanged) stop.now({ why: 'changed', message: result.error.message })
  else if (endsAll.has(result.error.code)) stop.now({ why: 'auth', message: result.error.message })
}

/** Keeps the folder of a trial under its own name, or removes it, as far as possible. */
async function leave(
  { ports, outside, keep }: Running,
  { agentId }: PlannedTrial,
  { outcome }: TrialResult,
  work: string,
): Promise<void> {
  const kept = join(ports.workspaces, agentId)
  await tryRemoveFolder(kept)
  if (outcome === 'passed' && !keep) return tryRemoveFolder(work)
  // There is none if it could not be made.
  await rename(work, kept).catch(() => {})
  await outside.settle(agentId)
}

/** Returns the judge of a trial. */
function judgeOf({ ports, judge, stop, spending }: Running, { key, agentId }: PlannedTrial): TrialPorts['judge'] {
  if (judge === undefined) return undefined
  let asked = 0
  return (check, { prompts, answer }) =>
    askJudge(
      ports.runtime,
      judge.definition,
      { criteria: check.judge, prompts, answer, min: check.min ?? 0.5 },
      {
        id: `${agentId}.judge.${asked++}`,
        signal: stop.signal,
        watch: (agent) => spending.watchJudge(key, agent),
      },
    )
}
