import type { ErasableStore } from '../../protocol/store.ts'
import type { ResultsFile } from '../folder/resultsFile.ts'
import type { PlannedTrial } from '../plan.ts'
import { costIn, readTree } from './readTree.ts'

/**
 * Removes what is there of trials that are to be made: of some that were interrupted, or that ended as an error. What an interrupted one had
 * cost is noted, so that a budget counts it.
 */
export async function clearLost(file: ResultsFile, store: ErasableStore, todo: readonly PlannedTrial[]): Promise<void> {
  const there = await store.list()
  for (const { key, agentId } of todo) {
    const own = there.filter((id) => id === agentId || id.startsWith(`${agentId}.judge.`))
    let costUsd = 0
    const found: string[] = []
    for (const id of own) {
      const logs = await readTree(store, id)
      costUsd += costIn(logs.get(id) ?? [])
      found.push(...logs.keys())
    }
    if (costUsd > 0 && !file.trials.has(key)) await file.append({ type: 'lost', key, costUsd })
    for (const id of new Set([...own, ...found])) await store.delete(id)
  }
}
