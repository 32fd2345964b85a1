import { decisionFor } from '../../../src/server/agUi/decisions.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import { withCode } from '../../support/agentHarness.ts'
import { assert, describe } from '../../support/suite.ts'

/** An agent that asks for an answer with this schema. */
const asks = (schema: object): Agent =>
  ({ pending: () => [{ kind: 'question', key: 'q1', schema }] }) as unknown as Agent

const answer = { interruptId: 'q1', status: 'resolved', payload: 'yes' } as const

describe('the answer to an interrupt that asks', (it) => {
  it('is checked against the schema as far as that can be read here', () => {
    assert.throws(() => decisionFor(asks({ type: 'number' }), answer), withCode('ANSWER_INVALID', 'q1', 'number'))
    for (const schema of [{ type: 'string' }, { type: 'string', not: { const: 'no' } }])
      assert.equal(decisionFor(asks(schema), answer), { callId: 'q1', decision: { value: 'yes' } })
  })
})
