import { z } from 'zod'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { calls, tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { call, openHost, ways } from './mcpHarness.ts'

/** An agent that answers when it is let go. */
function slow() {
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<string>()
  const model = policyModel(() => {
    begun.resolve()
    return end.promise
  })
  return { agent: defineAgent({ name: 'slow', model }), begun: begun.promise, letGo: () => end.resolve('did it') }
}

/** One more client of the older protocol, which keeps no request open. */
async function enter(port: number): Promise<void> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const hello = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  await hello.text()
  assert.is(hello.status, 200)
}

describe('a call over MCP that takes long', (it) => {
  const limits = { connections: 4, sessionMs: 60_000 }
  for (const [how, others, ms] of [
    ['others crowd in', 6, 0],
    ['it is older than any connection may be without use', 1, 10 * limits.sessionMs],
  ] as const)
    it(`keeps its connection while ${how}`, async (context) => {
      const { agent, begun, letGo } = slow()
      const clock = simulatedClock()
      const { connect, server } = await openHost(context, [agent], { clock, serve: { limits } })
      const client = await connect('HTTP, legacy')
      const answer = call(client, 'slow', { task: 'x' })
      answer.catch(() => {})
      await begun
      await clock.advance(ms)
      for (let index = 0; index < others; index += 1) await enter(server.port)
      letGo()
      assert.is((await answer).text, 'did it')
    })
})

describe('people whose answers are taken', (it) => {
  const fills = [
    ['at once', 8, () => 'Anna'],
    ['each at the second try', 4, (index: number) => (index % 2 === 0 ? 'Bert' : 'Anna')],
  ] as const
  for (const way of ways)
    for (const [how, questions, fill] of fills)
      it(`are asked as often as the agent wants to know something: ${how} (${way})`, async (context) => {
        const model = scriptedModel([...Array.from({ length: questions }, () => calls('c', 'ask')), 'done'])
        const ask = tool('ask', (_, { ask: question }) =>
          question(
            z.string().refine((name) => name === 'Anna'),
            'Which name?',
          ),
        )
        const { connect } = await openHost(context, [defineAgent({ name: 'asker', model, tools: [ask] })])
        let asked = -1
        const client = await connect(way, {
          fill: () => ({ action: 'accept', content: { answer: fill((asked += 1)) } }),
        })
        const { stopReason, text } = await call(client, 'asker', { task: 'x' })
        assert.equal([stopReason, text], ['stop', 'done'])
      })
})
