import type { Store } from '../../../../src/protocol/ports/store.ts'
import { loadSession } from '../../../sessions/src/loadSession.ts'

/** State of an agent, as its log has it, without text of the conversation. */
export interface StoredState {
  readonly agentId: string
  readonly definition: string
  readonly status: string
  readonly isStopped: boolean
  readonly runs: number
  /** `seq` of the last record. */
  readonly seq: number
  readonly costUsd: number
}

/** Reads the state of an agent from its log. Rejects as `loadSession` does. */
export async function storedState(store: Store, agentId: string): Promise<StoredState> {
  const { definition, status, isStopped, runs, records, costUsd } = await loadSession(store, agentId)
  const seq = records.at(-1)?.seq ?? 0
  return { agentId, definition, status, isStopped, runs: runs.length, seq, costUsd }
}
