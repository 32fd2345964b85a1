import { z } from 'zod'
import { Cancellation } from '../../src/actors/timing/cancellation.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { stepsInATurn } from '../../src/actors/timing/breather.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { readReply } from '../../src/actors/turn/readReply.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import type { Model, ModelRequest } from '../../src/protocol/ports/model.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { delta } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const request: ModelRequest = { system: '', messages: [], tools: [], settings: {} }
const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({}),
  effects: 'none',
  run: () => 'seen',
})

describe('a stream that never waits', (it) => {
  const parts = {
    'deltas of one character': delta('x'),
    'empty deltas': delta(''),
    warnings: { type: 'warning', message: '' },
    'names of models': { type: 'model', model: 'other' },
  } as const
  for (const [what, part] of Object.entries(parts))
    it(`of ${what} lets others have their turns, and is aborted`, async () => {
      let given = 0
      const model: Model = {
        id: 'test:model',
        async *stream() {
          // Else it would hold the test for ever.
          for (; given < 3_000_000; given += 1) yield part
        },
      }
      const cancellation = new Cancellation()
      const timers: number[] = []
      setTimeout(() => {
        timers.push(given)
        setTimeout(() => cancellation.abort(), 1)
      }, 1)
      const reply = await readReply(model, request, { cancellation }, () => {})
      assert.is(reply, null)
      assert.is(timers.length, 1)
      assert.ok(timers[0]! < 3_000_000)
    })
})

describe('replies that never wait', (it) => {
  it('let others have their turns, however short each of them is', async () => {
    let asked = 0
    const model = policyModel(() => {
      asked += 1
      // Else it would hold the test for ever.
      return asked < 1_500 ? { toolCalls: [{ name: 'look', input: {} }] } : 'done'
    })
    const runtime = await createRuntime({ store: memoryStore() })
    const agent = await runtime.spawn(defineAgent({ name: 'busy', model, tools: [look] }))
    const run = agent.prompt('go')
    setTimeout(() => agent.abort(), 1)
    const { stopReason } = await run.result
    await runtime.close()
    assert.is(stopReason, 'aborted')
  })

  it('wait for the next turn of the event loop once one has had its number of them', async () => {
    const begin = stepsInATurn(2)
    for (let turn = 0; turn < 3; turn += 1) {
      assert.equal([begin(), begin()], [undefined, undefined])
      const others = [begin(), begin()]
      assert.ok(others.every((one) => one instanceof Promise))
      await Promise.all(others)
    }
  })
})
