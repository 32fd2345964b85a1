import type { AgentEvent } from '../../src/protocol/events.ts'
import { collectGarbage } from '../support/collectGarbage.ts'
import { done, quiet, startAgent, tool } from '../support/agentHarness.ts'
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

  it('does not keep the array that each model got', { timeoutMs: 10_000 }, async (context) => {
    const turns = 200
    const arrays: WeakRef<object>[] = []
    const { agent } = await startAgent(context, {
      tools: [tool('look', () => 'seen')],
      limits: { turns },
      model: {
        id: 'test:long',
        async *stream({ messages }) {
          arrays.push(new WeakRef(messages))
          const call = { type: 'toolCall', callId: `c${arrays.length}`, name: 'look', input: {} } as const
          yield arrays.length < turns ? done([call], { stopReason: 'toolUse' }) : done([{ type: 'text', text: 'end' }])
        },
      },
    })
    const told: AgentEvent[] = []
    agent.subscribe((event) => {
      if (event.type === 'turn.request') told.push(event)
    })
    assert.is((await agent.prompt('go').result).turns, turns)
    await quiet()
    collectGarbage()
    assert.ok(arrays.filter((ref) => ref.deref() !== undefined).length <= 2)
    assert.is(told.length, turns)
  })
})
