import type { Clock } from '../../../src/protocol/ports/clock.ts'
import type { PlannedTrial } from './plan.ts'
import type { TrialResult } from './results.ts'

/** Progress of an evaluation. */
export interface ProgressState {
  readonly done: number
  readonly total: number
  readonly passed: number
  readonly failed: number
  readonly errors: number
  /** Keys of the trials under way. */
  readonly running: readonly string[]
  readonly spentUsd: number
  /** Estimated milliseconds until all is done, at the rate so far; `null` until a trial has finished. */
  readonly leftMs: number | null
  /** The trial that has just been finished. */
  readonly last?: TrialResult
}

/** Called whenever a trial begins or ends. An error that it throws ends the evaluation. */
export type OnProgress = (state: ProgressState) => void

/** Counts trials. */
export class Progress {
  readonly #total: number
  readonly #clock: Clock
  readonly #tell: OnProgress | undefined
  readonly #running = new Set<string>()
  readonly #counts = { passed: 0, failed: 0, error: 0 }
  readonly #startedAt: number
  #before = 0

  constructor(
    planned: readonly PlannedTrial[],
    there: ReadonlyMap<string, TrialResult>,
    clock: Clock,
    tell: OnProgress | undefined,
  ) {
    this.#total = planned.length
    this.#clock = clock
    this.#tell = tell
    this.#startedAt = clock.now()
    for (const { key } of planned) {
      const outcome = there.get(key)?.outcome
      if (outcome === undefined || outcome === 'error') continue
      this.#counts[outcome] += 1
      this.#before += 1
    }
  }

  begin(key: string, spentUsd: number): void {
    this.#running.add(key)
    this.#say(spentUsd)
  }

  end(result: TrialResult, spentUsd: number): void {
    this.#running.delete(result.key)
    this.#counts[result.outcome] += 1
    this.#say(spentUsd, result)
  }

  giveUp(key: string): void {
    this.#running.delete(key)
  }

  #say(spentUsd: number, last?: TrialResult): void {
    const { passed, failed, error: errors } = this.#counts
    const done = passed + failed + errors
    const here = done - this.#before
    const perTrial = (this.#clock.now() - this.#startedAt) / here
    this.#tell?.({
      done,
      total: this.#total,
      passed,
      failed,
      errors,
      running: [...this.#running],
      spentUsd,
      leftMs: here === 0 ? null : Math.round(perTrial * (this.#total - done)),
      ...(last === undefined ? {} : { last }),
    })
  }
}
