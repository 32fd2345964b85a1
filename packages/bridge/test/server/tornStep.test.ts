import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { gate } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { logOf } from './bridgeHarness.ts'

const requestId = 'session/c1'
const context = [{ content: 'first this' }, { content: 'and that' }]
const echo = defineAgent({ name: 'echo', model: policyModel(({ messages }) => `${messages.length}`) })

const ask = (agent: Agent) =>
  agent.dispatch({ type: 'agent.prompt', agentId: 'a1', content: 'one', context }, { requestId })!

/** A log of which only the first records were written, and who goes on from it. */
async function restored({ cleanup }: CaseContext, records: readonly LogRecord[]) {
  const store = memoryStore()
  const lease = await store.open('a1')
  await store.append('a1', [...records])
  await lease.release()
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close())
  const agent = await runtime.resume('a1', echo)
  return { store, agent }
}

/** The command is sent again, as a client does that was not answered. */
async function sendAgain({ agent }: Awaited<ReturnType<typeof restored>>): Promise<void> {
  if (!(await agent.wasAsked(requestId))) await ask(agent).result
}

const said = (agent: Agent): string[] =>
  agent.conversation.trunk().map(({ message }) => `${message.role}: ${textOf(message.content)}`)

/** Checks every prefix of a log: it must come to one message, answered once. */
async function checkEveryCut(test: CaseContext, records: readonly LogRecord[]): Promise<void> {
  for (let length = 1; length <= records.length; length += 1) {
    const going = await restored(test, records.slice(0, length))
    await sendAgain(going)
    await going.agent.prompt('two').result
    const lines = said(going.agent)
    const where = `cut after record ${length} (${records[length - 1]!.type})`
    const at = lines.indexOf('user: one')
    assert.is(lines.filter((line) => line === 'user: one').length, 1, `${where}: ${lines.join(', ')}`)
    assert.match(lines[at + 1]!, /^assistant: /, where)
    assert.is(lines.at(-2), 'user: two', where)
    const starts = (await logOf(going.store, 'a1')).filter(
      (record) => (record as { type: string }).type === 'turn.start',
    )
    assert.ok(starts.length >= 2, where)
    const after = (await logOf(going.store, 'a1'))[length] as LogRecord
    // A run that says nothing must not look like one that had nothing more to say.
    if (records[length - 1]!.type === 'run.start')
      assert.equal([after.type, 'stopReason' in after && after.stopReason], ['run.end', 'aborted'], where)
  }
}

describe('a prompt whose process died between two of its records', (it) => {
  it('is carried out once, when the agent was at rest', { timeoutMs: 10_000 }, async (test) => {
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    test.cleanup(() => runtime.close())
    await ask(await runtime.spawn(echo, { id: 'a1' })).result
    await checkEveryCut(test, (await logOf(store, 'a1')) as LogRecord[])
  })

  it(
    'is carried out once, when it waited behind another and with what was said meanwhile',
    { timeoutMs: 10_000 },
    async (test) => {
      const store = memoryStore()
      const runtime = await createRuntime({ store })
      test.cleanup(() => runtime.close())
      const open = gate()
      const slow = defineAgent({
        name: 'echo',
        model: policyModel(async ({ messages }) => (await open.promise, `${messages.length}`)),
      })
      const agent = await runtime.spawn(slow, { id: 'a1' })
      const before = agent.prompt('zero')
      const run = ask(agent)
      open.resolve()
      await before.result
      await run.result
      const records = (await logOf(store, 'a1')) as LogRecord[]
      const queued = records.findIndex((record) => record.type === 'queue.changed')
      await checkEveryCut(test, records.slice(0))
      assert.ok(queued > 0)
    },
  )
})
