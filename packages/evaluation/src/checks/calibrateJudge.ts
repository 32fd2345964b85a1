import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import type { JudgeTrial } from '../results.ts'
import type { Spending } from '../spending.ts'
import type { Stop } from '../stop.ts'
import type { JudgedExample } from '../suite/suite.ts'
import { askJudge, JudgeFailure, type ReadyJudge } from './judge.ts'

interface Ports {
  readonly runtime: AgentRuntime
  readonly spending: Spending
  readonly stop: Stop
  readonly concurrency: number
}

/** Returns the id of a judge's agent while its agreement is measured. */
export const calibrationId = (index: number): string => `judge.${index}`

/** Returns true if an id belongs to a judge whose agreement is being measured. Pure. */
export const isCalibration = (agentId: string): boolean => /^judge\.\d+$/.test(agentId)

const calibrationKey = 'judge'

/**
 * Has the judge score answers that people have judged, and counts the agreements. `undefined` if it
 * was stopped before it had judged them all. The store must hold no log of an earlier measurement.
 */
export async function calibrateJudge(
  { definition, isPriced }: ReadyJudge,
  examples: readonly JudgedExample[],
  { runtime, spending, stop, concurrency }: Ports,
): Promise<JudgeTrial | undefined> {
  const counts = { both: 0, onlyPeople: 0, onlyJudge: 0, neither: 0, failed: 0 }
  let next = 0
  const work = async (): Promise<void> => {
    while (next < examples.length && stop.reason === undefined) {
      const index = next++
      const { judge: criteria, prompts, answer, min, passed: people } = examples[index]!
      const id = calibrationId(index)
      const watch: Parameters<typeof askJudge>[3]['watch'] = (agent) => spending.watchJudge(calibrationKey, agent)
      try {
        const { passed } = await askJudge(
          runtime,
          definition,
          { criteria, prompts, answer, min },
          { id, signal: stop.signal, watch },
        )
        counts[people ? (passed ? 'both' : 'onlyPeople') : passed ? 'onlyJudge' : 'neither'] += 1
      } catch (thrown) {
        if (!(thrown instanceof JudgeFailure)) throw thrown
        counts.failed += 1
        if (thrown.info.code === 'MODEL_AUTH') stop.now({ why: 'auth', message: thrown.info.message })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, examples.length) }, work))
  if (stop.reason !== undefined) return undefined
  const costUsd = isPriced ? (spending.judgeUsd(calibrationKey) ?? 0) : null
  return { type: 'judge', model: definition.model.id, ...counts, costUsd }
}
