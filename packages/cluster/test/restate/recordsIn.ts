import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'

/** The records of an agent's log. */
export async function recordsIn(store: Store, agentId: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read(agentId)) records.push(record)
  return records
}
