import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { recordsIn } from '../../packages/cluster/test/restate/recordsIn.ts'
import type { CaseContext } from '../support/suite.ts'
import { canonical, type HostedAgent, type HostScript } from './hostScripts.ts'

/** Logs that agents have left, by id. */
export type Logs = { readonly [agentId: string]: unknown }

/** All logs of a store, as they are compared. */
export async function logsIn(store: Store): Promise<Logs> {
  const logs: { [agentId: string]: unknown } = {}
  for (const agentId of await store.list()) logs[agentId] = canonical(await recordsIn(store, agentId))
  return logs
}

/** A store in memory that can be read when it was closed. */
export function openMemory(): Store {
  return { ...memoryStore(), close: async () => {} }
}

/** Logs that a script leaves in one process, in that store; it is opened once more to be read. */
export async function inProcess(
  { definition, run }: HostScript,
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  open: () => Store,
): Promise<Logs> {
  const runtime = await createRuntime({ store: open(), clock: simulatedClock() })
  cleanup(() => runtime.close())
  const agent = await runtime.spawn(definition, { id: 'a' })
  await run(agent, async () => {
    await runtime.detach('a')
    return (await runtime.resume('a', definition)) as HostedAgent
  })
  for (const root of runtime.agents()) await root.settled()
  await runtime.close({ detach: true })
  const store = open()
  cleanup(() => store.close())
  return await logsIn(store)
}

/** The same in memory, which all others must agree with. */
export function inMemoryOfProcess(script: HostScript, context: Pick<CaseContext, 'cleanup'>): Promise<Logs> {
  const store = openMemory()
  return inProcess(script, context, () => store)
}
