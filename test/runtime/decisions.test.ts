import { z } from 'zod'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { calls, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const risky = tool('risky', () => 'done', { needsApproval: true })
const page = defineTool({ name: 'page', description: 'On a page.', input: z.object({}) })
const curious = defineTool({
  name: 'curious',
  description: 'Asks.',
  input: z.object({}),
  run: async (_, { ask }) => `You said ${await ask(z.number(), 'How many?')}`,
})

/** An agent whose call `c0` waits for people. */
async function waiting(context: CaseContext, name: string) {
  const started = await startAgent(context, { tools: [risky, page, curious], replies: [calls('c', name), 'done'] })
  const run = started.agent.prompt('go')
  await started.agent.settled()
  assert.equal(
    started.agent.pending().map(({ callId }) => callId),
    ['c0'],
  )
  return { ...started, run }
}

const decisions = {
  approve: 'approve',
  deny: 'deny',
  value: { value: 7 },
  result: { result: 7 },
  error: { error: 'no' },
} as const

/** Decisions that each kind takes, and the words for them. */
const kinds = {
  risky: { allowed: ['approve', 'deny'], words: ['waits for an approval', "'approve' or 'deny'"] },
  curious: { allowed: ['deny', 'value'], words: ['waits for the answer to a question', "{ value } or 'deny'"] },
  page: { allowed: ['deny', 'result', 'error'], words: ['waits for a result', "{ result }, { error } or 'deny'"] },
} as const

describe('a decision', (it) => {
  for (const [name, { allowed, words }] of Object.entries(kinds))
    it(`is one of those that the call waits for, and else leaves it as it is: ${name}`, async (context) => {
      const { agent, run } = await waiting(context, name)
      for (const [kind, decision] of Object.entries(decisions)) {
        if (allowed.some((one) => one === kind)) continue
        assert.throws(() => agent.decide('c0', decision), withCode('ANSWER_INVALID', '"c0"', `"${name}"`, ...words))
        assert.is(agent.pending().length, 1)
      }
      agent.decide('c0', 'deny')
      assert.is((await run.result).stopReason, 'stop')
    })

  for (const [name, { allowed }] of Object.entries(kinds))
    for (const kind of allowed)
      it(`counts once: ${kind} for ${name}`, async (context) => {
        const { agent, run } = await waiting(context, name)
        agent.decide('c0', decisions[kind])
        for (const again of Object.values(decisions))
          assert.throws(() => agent.decide('c0', again), withCode('CALL_NOT_PENDING', '"c0"', 'waiting: none'))
        assert.is((await run.result).stopReason, 'stop')
      })

  it('names those that wait when it is of none of them', async (context) => {
    const { agent, untilState } = await startAgent(context, {
      tools: [risky],
      replies: [calls('c', 'risky', 'risky'), 'done'],
    })
    agent.prompt('go')
    await untilState('paused')
    assert.throws(() => agent.decide('c7', 'approve'), withCode('CALL_NOT_PENDING', '"c7"', 'waiting: c0, c1'))
    agent.decide('c0', 'deny')
    assert.throws(() => agent.decide('c7', 'approve'), withCode('CALL_NOT_PENDING', 'waiting: c1'))
  })

  it('that does not fit the question leaves it open, and says what is wrong', async (context) => {
    const { agent, run } = await waiting(context, 'curious')
    for (const value of ['seven', null])
      assert.throws(() => agent.decide('c0', { value }), withCode('ANSWER_INVALID', 'asks "How many?"'))
    agent.decide('c0', { value: 7 })
    assert.is((await run.result).stopReason, 'stop')
  })
})
