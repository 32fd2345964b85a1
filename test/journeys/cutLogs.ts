import { createRuntime, memoryStore, type Agent, type LogRecord, type Runtime, type Store } from '../../src/index.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { counter } from '../support/agentHarness.ts'
import type { CaseContext } from '../support/suite.ts'

/** A store that holds the first records of a log: what is left when a process dies there. */
export async function cutStore(agentId: string, records: readonly LogRecord[]): Promise<Store> {
  const store = memoryStore()
  const lease = await store.open(agentId)
  await store.append(agentId, records)
  await lease.release()
  return store
}

/** A runtime on the clock of the tests over a store with these logs: what is left when a process dies. */
export async function runtimeOver(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  logs: { readonly [agentId: string]: readonly LogRecord[] },
): Promise<{ readonly runtime: Runtime; readonly store: Store }> {
  const store = memoryStore()
  for (const [agentId, records] of Object.entries(logs)) {
    const lease = await store.open(agentId)
    if (records.length > 0) await store.append(agentId, records)
    await lease.release()
  }
  const runtime = await createRuntime({ store, clock: simulatedClock(), newId: counter('q') })
  cleanup(() => runtime.close())
  return { runtime, store }
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
