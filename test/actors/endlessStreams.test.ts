import { Cancellation } from '../../src/actors/cancellation.ts'
import { readReply } from '../../src/actors/readReply.ts'
import type { Model, ModelRequest } from '../../src/protocol/model.ts'
import { delta } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const request: ModelRequest = { system: '', messages: [], tools: [], settings: {} }

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
