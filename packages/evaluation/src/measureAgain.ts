import { join } from 'node:path'
import { fileStore } from '../../stores/src/fileStore.ts'
import { readResults, type Results } from './folder/resultsFile.ts'
import { metricsOf } from './metrics/metricsOf.ts'
import type { TrialResult } from './results.ts'
import { modelsIn } from './trials/runTrial.ts'
import { readTree } from './trials/readTree.ts'

/**
 * Reads the results in a folder, with metrics measured again from the logs of its agents. Scores stay unchanged; a trial without a log keeps its
 * metrics.
 * @throws RuntimeError `INVALID_OPTION` if there are none, `LOG_CORRUPT`, `LOG_VERSION`, `STORE_READ_FAILED`
 */
export async function measureAgain(folder: string): Promise<Results> {
  const results = await readResults(folder)
  const store = fileStore(join(folder, 'sessions'))
  const priced = new Map(results.header.arms.map(({ name, isPriced }) => [name, isPriced]))
  const trials = new Map<string, TrialResult>()
  for (const [key, result] of results.trials) {
    const logs = await readTree(store, result.agentId)
    const metrics =
      logs.size === 0 || result.metrics === null
        ? result.metrics
        : metricsOf([...logs.values()], { isPriced: priced.get(result.arm) === true })
    const own = logs.get(result.agentId)
    trials.set(key, { ...result, metrics, ...(own === undefined ? {} : { models: modelsIn(own) }) })
  }
  return { ...results, trials }
}
