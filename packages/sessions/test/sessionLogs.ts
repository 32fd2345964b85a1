import { recordVersion, type LogRecord, type RecordOf } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'

/** The first record of a log. */
export const created = (
  agentId: string,
  forkedFrom?: RecordOf<'agent.created'>['forkedFrom'],
): RecordOf<'agent.created'> => ({
  v: recordVersion,
  seq: 1,
  time: 0,
  type: 'agent.created',
  agentId,
  path: [],
  definition: 'tester',
  model: 'test:model',
  machine: 'agent@1',
  ...(forkedFrom === undefined ? {} : { forkedFrom }),
})

/** Records a builder made, as a whole log: the birth of the agent goes before them. */
export const born = (agentId: string, records: readonly LogRecord[]): LogRecord[] => [
  created(agentId),
  ...records.map((record) => ({ ...record, seq: record.seq + 1 })),
]

/** Writes logs into a store, by agent. */
export async function fill(store: Store, logs: { readonly [agentId: string]: readonly LogRecord[] }): Promise<void> {
  for (const [agentId, records] of Object.entries(logs)) {
    const lease = await store.open(agentId)
    await store.append(agentId, records)
    await lease.release()
  }
}

/** A store in memory that holds these logs. */
export async function storeOf(logs: { readonly [agentId: string]: readonly LogRecord[] }): Promise<Store> {
  const store = memoryStore()
  await fill(store, logs)
  return store
}

/** A log as a store gives it. */
export async function logOf(store: Store, agentId: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read(agentId)) records.push(record)
  return records
}
