import { memoryStore, type Agent, type LogRecord, type Store } from '../../src/index.ts'

/** A store that holds the first records of a log: what is left when a process dies there. */
export async function cutStore(agentId: string, records: readonly LogRecord[]): Promise<Store> {
  const store = memoryStore()
  const lease = await store.open(agentId)
  await store.append(agentId, records)
  await lease.release()
  return store
}

/** All records of a log. */
export async function recordsOf(store: Store, agentId: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read(agentId)) records.push(record)
  return records
}

/** Resolves when the run under way has ended. */
export async function settled(agent: Agent): Promise<void> {
  for await (const event of agent.events()) if (event.type === 'run.end') return
}
