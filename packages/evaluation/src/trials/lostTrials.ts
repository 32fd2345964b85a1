import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { ErasableStore } from '../../../../src/protocol/ports/store.ts'
import { isCalibration } from '../checks/calibrateJudge.ts'
import type { ResultsFile } from '../folder/resultsFile.ts'
import type { PlannedTrial } from '../plan.ts'
import type { TrialResult } from '../results.ts'
import { costIn, readTree } from './readTree.ts'

/**
 * Removes the logs of trials that are to be made: of interrupted trials and of those that ended as an error; and of a judge whose agreement is still
 * to be measured. The cost of interrupted trials is noted, so that a budget counts it.
 */
export async function clearLost(file: ResultsFile, store: ErasableStore, todo: readonly PlannedTrial[]): Promise<void> {
  const there = await store.list()
  for (const { key, agentId } of todo) {
    const own = there.filter((id) => id === agentId || id.startsWith(`${agentId}.judge.`))
    await clear(file, store, key, own)
  }
  if (file.judge === undefined) await clear(file, store, 'judge', there.filter(isCalibration))
}

/** Removes logs and those below them; their cost that no result counts is noted under a key. */
async function clear(file: ResultsFile, store: ErasableStore, key: string, own: readonly string[]): Promise<void> {
  const result = file.trials.get(key)
  let costUsd = 0
  const found: string[] = []
  for (const id of own) {
    const logs = await readTree(store, id)
    const records = logs.get(id) ?? []
    if (!isCounted(records, result)) costUsd += costIn(records)
    found.push(...logs.keys())
  }
  if (costUsd > 0) await file.append({ type: 'lost', key, costUsd })
  for (const id of new Set([...own, ...found])) await store.delete(id)
}

/** Returns true if a log belongs to the recorded trial, and not to a later, interrupted one. Pure. */
function isCounted([first]: readonly LogRecord[], result: TrialResult | undefined): boolean {
  if (first === undefined || result === undefined || result.metrics === null) return false
  return first.time <= result.startedAt + result.ms
}
