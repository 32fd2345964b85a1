import type { EvaluationHeader, TaskInfo, TrialResult } from '../results.ts'
import { figure, noFigure } from '../statistics/figure.ts'
import { meanOf } from '../statistics/moments.ts'
import { wilson } from '../statistics/wilson.ts'
import { armReport, judgeCost, passesOf, progressOf, totalCost } from './armReport.ts'
import { compareArms } from './compareArms.ts'
import { judgeReport, type JudgedByPeople } from './judgeReport.ts'
import { reportVersion, type Cell, type Report, type ReportedTrial, type Stopped, type TaskReport } from './report.ts'
import { isCounted, TrialTable } from './trialTable.ts'
import { warningsOf } from './warningsOf.ts'

/** Facts for a report that the log of results does not contain. */
export interface ReportOptions {
  /** Reason why the evaluation ended before all was done. */
  readonly stopped?: Stopped
  /** Agreement of the judge with people, on answers that they had judged. */
  readonly judged?: JudgedByPeople
}

/**
 * Makes the report of an evaluation from its header and its results in any order; of several results of a trial the last one counts. The same results
 * give the same report, byte for byte. Pure.
 */
export function reportOf(
  header: EvaluationHeader,
  results: Iterable<TrialResult>,
  { stopped, judged }: ReportOptions = {},
): Report {
  const table = new TrialTable(header, results)
  const all = table.all()
  const arms = header.arms.map((arm) => armReport(arm, header, table))
  const comparisons = compareArms(header, table)
  const progress = progressOf(header.tasks.length * header.arms.length * header.trials, all)
  const cost = totalCost(
    header.arms.every(({ isPriced }) => isPriced),
    all,
  )
  return {
    type: 'report',
    version: reportVersion,
    suite: header.suite,
    versions: header.versions,
    startedAt: header.startedAt,
    endedAt: all.reduce((last, { startedAt, ms }) => Math.max(last, startedAt + ms), header.startedAt),
    seed: header.seed,
    trials: header.trials,
    budgetUsd: header.budgetUsd ?? null,
    costUsd: cost === null ? null : cost + judgeCost(all),
    progress,
    stopped: stopped ?? null,
    arms,
    comparisons,
    tasks: header.tasks.map((task) => taskReport(task, header, table)),
    judge: header.judge === undefined ? null : judgeReport(header.judge, all, judged),
    warnings: warningsOf({ header, table, arms, comparisons, progress, stopped: stopped ?? null }),
    results: all.map(reportedTrial),
  }
}

function taskReport(task: TaskInfo, header: EvaluationHeader, table: TrialTable): TaskReport {
  return {
    id: task.id,
    tags: task.tags,
    passesWithoutWork: task.passesWithoutWork === true,
    cells: header.arms.map((arm) => cellOf(table.of(task.id, arm.name))),
  }
}

function cellOf(results: readonly TrialResult[]): Cell {
  const { passed, trials } = passesOf(results)
  const costs = results.filter(isCounted).flatMap(({ metrics }) => metrics?.costUsd ?? [])
  const sample = { tasks: 1, trials }
  return {
    passed,
    failed: trials - passed,
    errors: results.length - trials,
    share:
      trials === 0
        ? noFigure(sample, 'no trial was finished')
        : figure(passed / trials, wilson(passed / trials, trials), sample),
    costUsd: costs.length === 0 ? null : meanOf(costs).mean,
  }
}

function reportedTrial(result: TrialResult): ReportedTrial {
  const {
    task,
    arm,
    trial,
    seed,
    outcome,
    stopReason,
    scores,
    metrics,
    error,
    answer,
    agentId,
    models,
    startedAt,
    ms,
  } = result
  return {
    task,
    arm,
    trial,
    seed,
    outcome,
    stopReason: stopReason ?? null,
    scores,
    metrics,
    error: error ?? null,
    answer,
    agentId,
    models,
    startedAt,
    ms,
  }
}
