import type { JudgeTrial, TrialResult } from '../results.ts'
import { figure, noFigure } from '../statistics/figure.ts'
import { kappa, type Agreement } from '../statistics/kappa.ts'
import { passHatK } from '../statistics/passes.ts'
import { wilson } from '../statistics/wilson.ts'
import type { JudgeReport } from './report.ts'

/** How far a judge says the same as the other required checks of a trial, where both are there. Pure. */
export function judgeReport(model: string, results: readonly TrialResult[], judged?: JudgeTrial): JudgeReport {
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
  return {
    model,
    agreement:
      agreement.value === null ? { ...agreement, why: 'no trial has a judge and another required check' } : agreement,
    kappa: { ...kappa(counts), tasks: tasks.size },
    people: judged === undefined ? null : peopleReport(judged),
  }
}

const nameOf = (first: boolean, second: boolean): keyof Agreement =>
  first ? (second ? 'both' : 'onlyFirst') : second ? 'onlySecond' : 'neither'

/** How far it says the same as people did. */
function peopleReport({ both, onlyPeople, onlyJudge, neither }: JudgeTrial): JudgeReport['people'] {
  const trials = both + onlyPeople + onlyJudge + neither
  const sample = { tasks: 0, trials }
  const share = (both + neither) / trials
  const agreement =
    trials === 0 ? noFigure(sample, 'it came to judge none of them') : figure(share, wilson(share, trials), sample)
  return { agreement, kappa: kappa({ both, onlyFirst: onlyPeople, onlySecond: onlyJudge, neither }) }
}
