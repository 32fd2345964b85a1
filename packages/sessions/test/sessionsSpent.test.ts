import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { sessionOf } from '../src/sessionProjection.ts'
import { foldSpent, nothingYet, totalSpent } from '../../../src/log/spent.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { readAll } from '../../evaluation/src/testing/contractDemands.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const pricing = { input: 1_000, output: 1_000 }
const worker = defineAgent({ name: 'worker', description: 'Works.', pricing, model: policyModel(() => 'done') })
/** Has the worker work twice. */
const lead = defineAgent({
  name: 'lead',
  pricing,
  agents: [worker],
  model: policyModel(({ messages }) =>
    messages.filter(({ role }) => role === 'toolResult').length < 2
      ? { toolCalls: [{ name: 'worker', input: { task: 'Work.' } }] }
      : 'It is done.',
  ),
})

describe('what a session has used', (it) => {
  it('holds what sub-agents used from their answer on, in the run and the turn that called them', async (context) => {
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(lead, { id: 'l' })
    const { costUsd } = await agent.prompt('Go').result
    const records = await readAll(store, 'l')
    let spent = nothingYet
    for (const [index, record] of records.entries()) {
      spent = foldSpent(spent, record)
      const session = sessionOf(records.slice(0, index + 1))
      const { usage, costUsd: cost } = totalSpent(spent)
      assert.equal([session.usage, session.costUsd], [usage, cost], `after record ${record.seq}, ${record.type}`)
    }
    const [run] = sessionOf(records).runs
    assert.is(run!.costUsd, costUsd)
    const answered = records.findIndex(({ type }) => type === 'tool.end')
    const before = sessionOf(records.slice(0, answered)).runs[0]!.turns[0]!
    const after = sessionOf(records.slice(0, answered + 1)).runs[0]!.turns[0]!
    assert.ok(after.costUsd > before.costUsd)
    // The end of the turn says the same.
    assert.equal(run!.turns[0]!.usage, after.usage)
  })
})
