import type { TrialResult } from '../results.ts'
import { kappa, type Agreement } from '../statistics/kappa.ts'
import { passHatK } from '../statistics/passes.ts'
import type { JudgeReport } from './report.ts'

/** How far a judge says the same as the other required checks of a trial, where both are there. Pure. */
export function judgeReport(model: string, results: readonly TrialResult[]): JudgeReport {
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
  }
}

const nameOf = (first: boolean, second: boolean): keyof Agreement =>
  first ? (second ? 'both' : 'onlyFirst') : second ? 'onlySecond' : 'neither'
