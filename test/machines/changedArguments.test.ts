import { textOf } from '../../src/protocol/messages.ts'
import { calls, gate, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

describe('a call whose arguments a person changed', (it) => {
  for (const how of ['steer', 'abort', 'nothing'] as const)
    it(`says so only if it ran: ${how}`, async (context) => {
      const [begun, end] = [gate(), gate()]
      const slow = tool('slow', async () => {
        begun.resolve()
        await end.promise
        return 'slow'
      })
      const risky = tool('risky', () => 'risky', { needsApproval: true })
      const { agent, until, ofType } = await startAgent(context, {
        tools: [slow, risky],
        toolExecution: 'sequential',
        replies: [calls('c', 'slow', 'risky'), 'done'],
      })
      const run = agent.prompt('go')
      await Promise.all([begun.promise, until(({ type }) => type === 'approval.requested')])
      agent.decide('c1', 'approve', { input: { changed: true } })
      await until(({ type }) => type === 'approval.decided')
      if (how === 'steer') agent.steer('rather not')
      if (how === 'abort') agent.abort()
      end.resolve()
      await run.result
      const risked = ofType('tool.end').find(({ callId }) => callId === 'c1')!
      assert.is(/A person changed/.test(textOf(risked.message.content)), how === 'nothing')
    })
})
