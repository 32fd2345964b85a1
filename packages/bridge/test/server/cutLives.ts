import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { ErasableStore } from '../../../../src/protocol/ports/store.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'
import { Heard, lastingStore, serveAgents } from './bridgeHarness.ts'

export interface Written {
  readonly agentId: string
  readonly record: LogRecord
}

/** A store that also notes in which order records were written, over all agents. */
export function noting(): { store: ErasableStore; written: Written[] } {
  const inner = memoryStore()
  const written: Written[] = []
  const store: ErasableStore = {
    ...inner,
    append(agentId, records) {
      for (const record of records) written.push({ agentId, record })
      return inner.append(agentId, records)
    },
  }
  return { store, written }
}

/** The life of boss `b` and its worker `b.1` that ended after these records, gone on with behind a bridge. */
export async function goOn(context: CaseContext, boss: AgentDefinition, written: readonly Written[]) {
  const store = lastingStore()
  for (const [agentId, some] of Map.groupBy(written, (each) => each.agentId)) {
    const lease = await store.open(agentId)
    await store.append(
      agentId,
      some.map(({ record }) => record),
    )
    await lease.release()
  }
  const { runtime, connect } = await serveAgents(context, [boss], { runtime: { store } })
  await runtime.resume('b', boss, { continue: false })
  const client = connect()
  const [remote, child] = [client.agent('b'), client.agent('b.1')]
  const heard = new Heard()
  remote.subscribe(heard.listen, { descendants: true, deltas: false })
  await remote.snapshot()
  const { text, stopReason } = await remote.resume().result
  return { store, heard, child, text, stopReason }
}
