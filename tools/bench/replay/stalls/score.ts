import type { Asked, Detection, Watched } from './detect.ts'
import type { LabelledRun } from './labelledRun.ts'

export interface Scored {
  readonly run: LabelledRun
  readonly watched: Watched
}

/** Figures of a rule on runs whose loops are known. */
export interface LoopScore {
  /** Loops, and those that were found while they lasted. */
  readonly loops: number
  readonly found: number
  /** Steps of the loop that were made when it was found, of each that was. */
  readonly wasted: readonly number[]
  /** Steps between the target and the step before the loop: positive where it lies inside the loop. */
  readonly distances: readonly number[]
  /** Steps outside of loops, and alarms in them. */
  readonly productiveSteps: number
  readonly falseAlarms: number
}

export function scoreLoops(scored: readonly Scored[], asked: Asked): LoopScore {
  let [loops, found, productiveSteps, falseAlarms] = [0, 0, 0, 0]
  const wasted: number[] = []
  const distances: number[] = []
  for (const { run, watched } of scored) {
    const from = run.loopFrom ?? null
    const all = watched.found[asked]
    productiveSteps += from ?? watched.steps
    falseAlarms += alarmsIn(all.filter(({ at }) => from === null || at < from))
    if (from === null) continue
    loops += 1
    const first = all.find(({ at }) => at >= from)
    if (first === undefined) continue
    found += 1
    wasted.push(first.at - from + 1)
    distances.push(first.target - (from - 1))
  }
  return { loops, found, wasted, distances, productiveSteps, falseAlarms }
}

/** Figures of a rule on runs of which only the outcome is known. */
export interface VerdictScore {
  readonly failed: number
  readonly firedInFailed: number
  readonly passed: number
  readonly firedInPassed: number
  readonly stepsInPassed: number
  readonly alarmsInPassed: number
}

export function scoreVerdicts(scored: readonly Scored[], asked: Asked): VerdictScore {
  const score = { failed: 0, firedInFailed: 0, passed: 0, firedInPassed: 0, stepsInPassed: 0, alarmsInPassed: 0 }
  for (const { run, watched } of scored) {
    const all = watched.found[asked]
    const fired = all.length > 0 ? 1 : 0
    if (run.verdict === 'failed') {
      score.failed += 1
      score.firedInFailed += fired
    } else {
      score.passed += 1
      score.firedInPassed += fired
      score.stepsInPassed += watched.steps
      score.alarmsInPassed += alarmsIn(all)
    }
  }
  return score
}

/** Detections within 6 steps of the one before are the same alarm, as for the runtime. */
const alarmsIn = (detections: readonly Detection[]): number =>
  detections.filter(({ at }, index) => index === 0 || at - detections[index - 1]!.at > 6).length
