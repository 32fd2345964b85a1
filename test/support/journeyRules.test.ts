import type { AgentEvent, LogRecord } from '../../src/index.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { calls, tool } from './agentHarness.ts'
import { checkJourney, requestFaults } from './journeyRules.ts'
import { assert, describe } from './suite.ts'

/** A whole small life, as its observers and its log saw it. */
async function journey() {
  const store = memoryStore()
  const runtime = await createRuntime({ store })
  const model = scriptedModel([calls('a', 'look'), 'done'])
  const agent = await runtime.spawn(defineAgent({ name: 'a', model, tools: [tool('look', () => 'seen')] }), {
    id: 'a1',
  })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  await agent.prompt('go').result
  await agent.stop()
  const records: LogRecord[] = []
  for await (const record of store.read('a1')) records.push(record)
  await runtime.close()
  return {
    events,
    records,
    conversation: agent.conversation as ReturnType<typeof rebuildConversation>,
    requests: model.requests,
  }
}

type Life = Awaited<ReturnType<typeof journey>>

/** Planted faults, each with the message in which the rules must report it. */
const faults: readonly (readonly [string, (life: Life) => Partial<Life>, RegExp])[] = [
  [
    'a message recorded twice',
    ({ records }) => ({ records: [...records.slice(0, 4), records[3]!, ...records.slice(4)] }),
    /./,
  ],
  [
    'a delta after an abort',
    ({ events }) => {
      const delta = events.find(({ type }) => type === 'reply.delta')!
      const end = events.findIndex(({ type }) => type === 'run.end')
      return { events: events.toSpliced(end + 1, 0, { ...delta, seq: events[end]!.seq } as AgentEvent) }
    },
    /delta/,
  ],
  [
    'two terminal events of a run',
    ({ records }) => {
      const at = records.findIndex(({ type }) => type === 'run.end')
      return { records: records.toSpliced(at, 0, records[at]!) }
    },
    /run/,
  ],
  [
    'a rebuild that differs from the live conversation',
    ({ records }) => ({ conversation: rebuildConversation(records.slice(0, 6)) }),
    /differs/,
  ],
  [
    'a call that is never answered',
    ({ records }) => ({ records: records.filter(({ type }) => type !== 'tool.end') }),
    /./,
  ],
]

describe('the rules of every journey', (it) => {
  it('find nothing in a sound one', async () => {
    const { requests, ...life } = await journey()
    assert.equal(checkJourney(life), [])
    assert.equal(
      requests.flatMap((request) => requestFaults(request, {})),
      [],
    )
  })

  for (const [what, plant, fault] of faults) {
    it(`find ${what}`, async () => {
      const { requests: _, ...life } = await journey()
      const found = checkJourney({ ...life, ...plant({ ...life, requests: [] }) })
      assert.ok(found.length > 0)
      assert.match(found.join('; '), fault)
    })
  }

  it('find a request with an orphan call', async () => {
    const { requests } = await journey()
    const last = requests.at(-1)!
    const orphaned = { ...last, messages: last.messages.filter(({ role }) => role !== 'toolResult') }
    assert.match(requestFaults(orphaned, {}).join('; '), /call/)
  })
})
