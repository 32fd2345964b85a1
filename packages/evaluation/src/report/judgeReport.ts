import type { TrialResult } from '../results.ts'
import { figure, noFigure } from '../statistics/figure.ts'
import { kappa, type Agreement } from '../statistics/kappa.ts'
import { passHatK } from '../statistics/passes.ts'
import { wilson } from '../statistics/wilson.ts'
import type { AgreementReport, JudgeReport } from './report.ts'

/** Verdicts of a judge on answers that people had judged. */
export interface JudgedByPeople {
  readonly both: number
  readonly onlyPeople: number
  readonly onlyJudge: number
  readonly neither: number
}

/** Reports the agreement of a judge with people, if they judged answers, and with the other required checks of a trial, if it has both. Pure. */
export function judgeReport(model: string, results: readonly TrialResult[], people?: JudgedByPeople): JudgeReport {
  return { model, people: people === undefined ? null : withPeople(people), checks: withChecks(results) }
}

function withPeople({ both, onlyPeople, onlyJudge, neither }: JudgedByPeople): AgreementReport {
  const trials = both + onlyPeople + onlyJudge + neither
  const sample = { tasks: 0, trials }
  const share = (both + neither) / trials
  return {
    agreement:
      trials === 0 ? noFigure(sample, 'people judged no answer') : figure(share, wilson(share, trials), sample),
    kappa: kappa({ both, onlyFirst: onlyJudge, onlySecond: onlyPeople, neither }),
  }
}

function withChecks(results: readonly TrialResult[]): AgreementReport {
  const counts = { both: 0, onlyFirst: 0, onlySecond: 0, neither: 0 }
  const tasks = new Map<string, { passed: number; trials: number }>()
  for (const { task, outcome, scores } of results) {
    const judged = scores.filter(({ judge }) => judge === true)
    const checked = scores.filter(({ judge, required }) => judge !== true && required)
    if (outcome === 'error' || judged.length === 0 || checked.length === 0) continue
    const [first, second] = [judged, checked].map((some) => some.every(({ passed }) => passed))
    counts[nameOf(first!, second!)] += 1
    const { passed, trials } = tasks.get(task) ?? { passed: 0, trials: 0 }
    tasks.set(task, { passed: passed + (first === second ? 1 : 0), trials: trials + 1 })
  }
  const agreement = passHatK([...tasks.values()])
  const why = 'no trial has a judge and another required check'
  return {
    agreement: agreement.value === null ? { ...agreement, why } : agreement,
    kappa: { ...kappa(counts), tasks: tasks.size },
  }
}

const nameOf = (first: boolean, second: boolean): keyof Agreement =>
  first ? (second ? 'both' : 'onlyFirst') : second ? 'onlySecond' : 'neither'
