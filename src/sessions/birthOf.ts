import type { RecordOf } from '../protocol/records.ts'
import type { Store } from '../protocol/store.ts'

/** The first record of an agent's log; `undefined` without a log, or when it begins otherwise. Rejects as the store does. */
export async function birthOf(store: Store, agentId: string): Promise<RecordOf<'agent.created'> | undefined> {
  for await (const record of store.read(agentId)) return record.type === 'agent.created' ? record : undefined
  return undefined
}
