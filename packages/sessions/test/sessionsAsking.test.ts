import { z } from 'zod'
import { sessionOf } from '../src/sessionProjection.ts'
import { calls, gate, startAgent, tool } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('the session of an agent whose tool asks', (it) => {
  it('is paused until the answer, and then runs', async (context) => {
    const opened = gate()
    const poll = tool('poll', async (_, { ask }) => {
      await ask(z.string(), 'Who?')
      await opened.promise
    })
    const { agent, records, untilState } = await startAgent(context, {
      tools: [poll],
      replies: [calls('a', 'poll'), 'done'],
    })
    const now = async () => {
      await agent.durable()
      const { status, runs } = sessionOf(await records())
      return [status, runs[0]!.reason?.type, runs[0]!.turns[0]!.toolCalls[0]!.status]
    }
    const run = agent.prompt('go')
    await untilState('paused')
    assert.equal(await now(), ['paused', 'approvals', 'held'])
    agent.decide('a0', { value: 'Ann' })
    assert.equal(await now(), ['running', undefined, 'running'])
    opened.resolve()
    await run.result
    assert.equal(await now(), ['completed', undefined, 'ended'])
  })
})
