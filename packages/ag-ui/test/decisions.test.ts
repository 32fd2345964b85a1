import { decisionFor } from '../src/decisions.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import { assert, describe } from '../../../test/support/suite.ts'

/** An agent that asks for an answer with this schema. */
const asks = (schema: object): Agent =>
  ({ pending: () => [{ kind: 'question', key: 'q1', schema }] }) as unknown as Agent

describe('the answer to an interrupt that asks', (it) => {
  it('is not refused by the copy of its schema, which says less than the schema of the tool', () => {
    for (const schema of [{ type: 'number' }, { type: 'string', pattern: '^(yes|no)$' }])
      assert.equal(decisionFor(asks(schema), { interruptId: 'q1', status: 'resolved', payload: 'YES' }), {
        callId: 'q1',
        decision: { value: 'YES' },
      })
  })
})
