import type { EvaluationHeader, Score, TrialMetrics, TrialResult } from '../src/results.ts'
import { randomNumbers } from '../src/statistics/randomNumbers.ts'

/** How an arm does at a task. */
export interface Skill {
  /** How likely a trial passes. */
  readonly passes: number
  /** Median cost of a trial, in US dollars. */
  readonly costs: number
}

export interface MadeUpOptions {
  readonly tasks: number
  readonly trials: number
  readonly arms: readonly string[]
  readonly seed: number
  skill(task: number, arm: number): Skill
}

/** An evaluation that never was: its header and its results, the same for a seed. */
export interface MadeUp {
  readonly header: EvaluationHeader
  readonly results: TrialResult[]
}

export function madeUpHeader(tasks: number, arms: readonly string[], trials: number, seed = 1): EvaluationHeader {
  return {
    type: 'evaluation',
    version: 1,
    suite: { name: 'made-up', digest: 'c0ffee'.repeat(10).padEnd(64, '0') },
    tasks: Array.from({ length: tasks }, (_, index) => ({
      id: `task-${index + 1}`,
      tags: index % 2 === 0 ? ['even'] : [],
    })),
    arms: arms.map((name) => ({ name, model: 'lab:thinker', isPriced: true })),
    trials,
    seed,
    startedAt: Date.UTC(2026, 10, 24, 12),
    versions: { escapement: '0.2.0', node: '24.21.0' },
  }
}

export const madeUpMetrics = (change: Partial<TrialMetrics> = {}): TrialMetrics => ({
  turns: 5,
  requests: 6,
  calls: 4,
  failedCalls: 1,
  usage: { input: 1_000, output: 200, cacheRead: 3_000, cacheWrite: 500 },
  costUsd: 0.01,
  peakTokens: 2_000,
  cachedShare: 0.66,
  recalls: 0,
  repeatedAbandoned: 0,
  prefixBreaks: 0,
  reverts: 0,
  prunes: 0,
  folds: 0,
  compactions: 0,
  stalls: 0,
  runMs: 1_500,
  ...change,
})

const check = (passed: boolean): Score => ({
  name: 'tests',
  value: passed ? 1 : 0,
  passed,
  required: true,
  weight: 1,
  ...(passed ? {} : { reason: 'exit code 1' }),
})

/** A result of one trial. */
export function madeUpResult(task: string, arm: string, trial: number, change: Partial<TrialResult> = {}): TrialResult {
  const outcome = change.outcome ?? 'passed'
  return {
    type: 'trial',
    key: `${task}/${arm}/${trial}`,
    task,
    arm,
    trial,
    seed: trial + 1,
    outcome,
    stopReason: 'stop',
    scores: [check(outcome === 'passed')],
    metrics: madeUpMetrics(),
    answer: 'Done.',
    agentId: `${task}.${arm}.${trial}`,
    models: ['lab:thinker'],
    startedAt: Date.UTC(2026, 10, 24, 12),
    ms: 2_000,
    ...change,
  }
}

/** Trials that pass and cost as their skill says, each by its own luck. */
export function madeUp({ tasks, trials, arms, seed, skill }: MadeUpOptions): MadeUp {
  const header = madeUpHeader(tasks, arms, trials, seed)
  const random = randomNumbers(seed)
  const results: TrialResult[] = []
  for (let trial = 0; trial < trials; trial += 1)
    header.tasks.forEach(({ id }, task) =>
      arms.forEach((arm, index) => {
        const { passes, costs } = skill(task, index)
        const outcome = random() < passes ? 'passed' : 'failed'
        // A skewed spread: now and then a trial costs several times as much.
        const costUsd = costs * Math.exp(1.2 * (random() + random() - 1))
        const turns = 3 + Math.floor(random() * 6)
        const metrics = madeUpMetrics({ costUsd, turns, peakTokens: Math.round(costUsd * 200_000), runMs: turns * 900 })
        results.push(madeUpResult(id, arm, trial, { outcome, metrics }))
      }),
    )
  return { header, results }
}
