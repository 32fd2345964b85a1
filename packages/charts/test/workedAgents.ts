import { z } from 'zod'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import type { SequenceLog } from '../src/actorSequence.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { loadSession } from '../../sessions/src/loadSession.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import type { CaseContext } from '../../../test/support/suite.ts'
import { nasty } from './chartedMachines.ts'

const erase = defineTool({
  name: 'erase',
  description: 'Erases.',
  input: z.object({ path: z.string() }),
  needsApproval: true,
  run: ({ path }) => `${path} is gone`,
})
const once = (name: string, input: object) =>
  policyModel(({ messages }) =>
    messages.some(({ role }) => role === 'toolResult') ? 'done' : { toolCalls: [{ name, input }] },
  )
const worker = defineAgent({ name: 'worker', model: once('erase', { path: 'old.txt' }), tools: [erase] })
const chief = defineAgent({ name: 'chief', model: once('worker', { task: 'erase it' }), agents: [worker] })

/** A chief whose worker asks before it erases, and is told that it may. */
export async function worked({
  cleanup,
}: CaseContext): Promise<{ readonly root: SequenceLog; readonly below: SequenceLog }> {
  const store: Store = memoryStore()
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close())
  const agent = await runtime.spawn(chief, { id: 'a1' })
  agent.subscribe((event) => {
    if (event.type === 'approval.requested') agent.decide(event.key, 'approve')
  })
  await agent.prompt('Tidy up.').result
  const logOf = async (agentId: string): Promise<SequenceLog> => ({
    agentId,
    records: (await loadSession(store, agentId)).records,
  })
  return { root: await logOf('a1'), below: await logOf('a1.1') }
}

/** The log with everything that was said in it replaced by words that would be syntax, and many of them. */
export const saidNasty = ({ agentId, records }: SequenceLog): SequenceLog => ({
  agentId,
  records: records.map((record) =>
    record.type === 'message.added'
      ? { ...record, message: { ...record.message, content: [{ type: 'text' as const, text: nasty.repeat(40) }] } }
      : record,
  ),
})
