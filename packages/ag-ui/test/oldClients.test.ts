import { lastEvent, type Ending } from '../src/endings.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
const ids = { threadId: 't', runId: 'r' }
const interrupts = [{ id: 'i', reason: 'tool_call' }]

describe('the end of a run, for clients of before AG-UI 1.0', (it) => {
  // Their schema is strict: an outcome that is not one of these two fails the whole run.
  for (const [ending, outcome] of [
    [{ type: 'success' }, { type: 'success' }],
    [{ type: 'success', result: { stopReason: 'stop', text: 'a' } }, { type: 'success' }],
    [
      { type: 'interrupt', interrupts },
      { type: 'interrupt', interrupts },
    ],
    [{ type: 'cancelled' }, undefined],
  ] as const satisfies readonly (readonly [Ending, object | undefined])[])
    it(`has an outcome that they know: ${JSON.stringify(ending)}`, () => {
      const event = lastEvent(ending, ids, usage, true) as { readonly outcome?: object }
      assert.equal(event.outcome, outcome)
      if (ending.type === 'cancelled')
        assert.equal((lastEvent(ending, ids, usage, false) as { readonly outcome?: object }).outcome, ending)
    })
})
