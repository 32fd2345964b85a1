import type { AgentEvent } from '../../src/protocol/events.ts'
import { startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

describe('the request of a long conversation', (it) => {
  it(
    'is listed as it was sent, whenever it is read and though the event was frozen',
    { timeoutMs: 10_000 },
    async (context) => {
      const turns = 140
      const calls = Array.from({ length: turns - 1 }, () => ({ toolCalls: [{ name: 'look', input: {} }] }))
      const { agent, script } = await startAgent(context, {
        replies: [...calls, 'done'],
        tools: [tool('look', () => 'seen')],
        limits: { turns },
      })
      const told: Extract<AgentEvent, { type: 'turn.request' }>[] = []
      agent.subscribe((event) => {
        if (event.type === 'turn.request') told.push(Object.freeze(event))
      })
      assert.is((await agent.prompt('go').result).turns, turns)
      assert.is(told.length, turns)
      for (const [turn, { request, provenance }] of told.entries()) {
        assert.is(request.messages.length, 2 * turn + 1)
        assert.is(provenance.length, 2 * turn + 1)
        assert.equal(request.messages, script.requests[turn]!.messages)
      }
      const last = told.at(-1)!
      assert.is(last.request, last.request)
      assert.equal(JSON.parse(JSON.stringify(last)).request.messages, last.request.messages)
      assert.equal(Object.keys({ ...last }).includes('request'), true)
    },
  )
})
