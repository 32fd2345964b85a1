import { z } from 'zod'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { mcpTools } from '../../../../src/mcp.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { openHost } from './mcpHarness.ts'

describe('an agent that calls another over MCP, with both sides ours', (it) => {
  it(
    'gives it tasks, goes on with its session, and has its own people asked',
    { timeoutMs: 20_000 },
    async (context) => {
      const refund = defineTool({
        name: 'refund',
        description: 'Pay back.',
        input: z.object({ euros: z.number() }),
        needsApproval: true,
        run: ({ euros }) => `paid ${euros}`,
      })
      const clerk = defineAgent({
        name: 'clerk',
        description: 'Pays back.',
        tools: [refund],
        model: policyModel(({ messages }) => {
          const last = messages.at(-1)!
          const tasks = messages.filter(({ role }) => role === 'user').length
          return last.role === 'user'
            ? { toolCalls: [{ name: 'refund', input: { euros: tasks } }] }
            : textOf(last.content)
        }),
      })
      const { server } = await openHost(context, [clerk])
      const office = mcpTools({
        name: 'office',
        url: `http://127.0.0.1:${server.port}/mcp`,
        approve: 'none',
        elicitation: true,
      })
      const sessionIn = (text: string): string => /session: (\S+)/.exec(text)![1]!
      const lead = defineAgent({
        name: 'lead',
        tools: [office],
        model: policyModel(({ messages }) => {
          const last = messages.at(-1)!
          const results = messages.filter(({ role }) => role === 'toolResult')
          if (results.length === 2) return results.map(({ content }) => textOf(content).split('\n')[0]).join(', ')
          const session = last.role === 'toolResult' ? { session: sessionIn(textOf(last.content)) } : {}
          return { toolCalls: [{ name: 'clerk', input: { task: 'pay', ...session } }] }
        }),
      })
      const runtime = await createRuntime()
      context.cleanup(() => runtime.close())
      const agent = await runtime.spawn(lead)
      const asked: string[] = []
      agent.subscribe((event) => {
        if (event.type !== 'question.asked') return
        asked.push(event.question)
        agent.decide(event.key, { value: { approve: true } })
      })
      assert.is((await agent.prompt('go').result).text, 'paid 1, paid 2')
      assert.is(asked.length, 2)
      assert.match(asked[0]!, /May clerk-\S+ call refund \{"euros":1\}\?/)
    },
  )
})
