import type { RemoteAgent } from '../../../../../bridge/src/client/index.ts'
import { retry } from '../agent/retry.ts'
import { say } from '../agent/say.ts'
import type { Inspector } from '../shell/inspector.ts'
import { Bulk } from './bulk.ts'
import type { Cause } from './causes.ts'
import { goBack, loopTarget } from './goBack.ts'
import type { OverviewRow } from './overview.ts'

export type BulkAct = 'retry' | 'resume' | 'goBack' | 'deny'

const acts: Readonly<Record<BulkAct, (agent: RemoteAgent, row: OverviewRow) => Promise<unknown>>> = {
  retry: (agent) => retry(agent),
  resume: (agent) => say(agent, 'resume', ''),
  goBack: (agent, row) => goBack(agent, loopTarget(row)!),
  deny: (agent, { pending }) => agent.decide(pending!, 'deny'),
}

const verbs: Readonly<Record<BulkAct, string>> = { retry: 'Retry', resume: 'Resume', goBack: 'Go back', deny: 'Deny' }

/** Applies an action to all agents of a cause, a few at a time. `inspector.bulks` has its progress. Resolves once it is over; never rejects. */
export async function actOnCause(inspector: Inspector, { words, rows }: Cause, act: BulkAct): Promise<void> {
  const { client } = inspector.attached.value.connection
  const bulk = new Bulk(`${verbs[act]}: ${words}`, rows.length)
  inspector.bulks.value = [bulk, ...inspector.bulks.value]
  await bulk.run(rows, (row) => acts[act](client.agent(row.agentId), row))
  if (bulk.state.value.failed > 0) return
  inspector.bulks.value = inspector.bulks.value.filter((one) => one !== bulk)
}
