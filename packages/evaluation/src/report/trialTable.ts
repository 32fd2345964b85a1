import type { EvaluationHeader, TrialResult } from '../results.ts'

/** The results of an evaluation by task, arm and trial, as far as its header knows them; of several results of a trial the last one counts. */
export class TrialTable {
  readonly #header: EvaluationHeader
  readonly #byKey = new Map<string, TrialResult>()
  /** Number of results whose task, arm or trial the header does not know. */
  readonly strangers: number

  constructor(header: EvaluationHeader, results: Iterable<TrialResult>) {
    this.#header = header
    const tasks = new Set(header.tasks.map(({ id }) => id))
    const arms = new Set(header.arms.map(({ name }) => name))
    let strangers = 0
    for (const result of results) {
      const { task, arm, trial } = result
      if (tasks.has(task) && arms.has(arm) && trial >= 0 && trial < header.trials)
        this.#byKey.set(keyOf(task, arm, trial), result)
      else strangers += 1
    }
    this.strangers = strangers
  }

  get(task: string, arm: string, trial: number): TrialResult | undefined {
    return this.#byKey.get(keyOf(task, arm, trial))
  }

  /** Returns the trials of a task in an arm, in order; missing ones are left out. */
  of(task: string, arm: string): TrialResult[] {
    return Array.from({ length: this.#header.trials }, (_, trial) => this.get(task, arm, trial) ?? []).flat()
  }

  /** Returns all trials by task, arm and number. */
  all(): TrialResult[] {
    const { tasks, arms } = this.#header
    return tasks.flatMap((task) => arms.flatMap((arm) => this.of(task.id, arm.name)))
  }
}

const keyOf = (task: string, arm: string, trial: number): string => JSON.stringify([task, arm, trial])

/** Returns true if a trial says something about the agent: one that ended as an error does not. */
export const isCounted = ({ outcome }: TrialResult): boolean => outcome !== 'error'
