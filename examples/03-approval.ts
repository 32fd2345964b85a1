// A call that a person must allow: the run waits, for ever if need be, until it is decided.
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, policyModel } from '../src/index.ts'

const refund = defineTool({
  name: 'refund',
  description: 'Pay money back.',
  input: z.object({ customer: z.string(), euros: z.number() }),
  needsApproval: ({ euros }) => euros > 100,
  run: ({ customer, euros }) => `${customer} gets ${euros} euros back.`,
})

const model = policyModel(({ messages }) => {
  const results = messages.filter((message) => message.role === 'toolResult')
  const calls = [20, 500, 900].map((euros) => ({ name: 'refund', input: { customer: 'Ada', euros } }))
  return results.length === 0
    ? { toolCalls: calls }
    : `${results.filter(({ isError }) => !isError).length} of 3 refunds were paid.`
})

const runtime = await createRuntime()
const agent = await runtime.spawn(defineAgent({ name: 'support', model, tools: [refund] }))

const run = agent.prompt('Ada wants her money back.')
for await (const event of run) {
  if (event.type === 'approval.requested') {
    const { euros } = event.input as { euros: number }
    console.log(`asked for ${euros} euros`)
    if (euros <= 500) agent.decide(event.callId, 'approve')
    else agent.decide(event.callId, 'deny', 'too much; offer 500')
  }
  if (event.type === 'tool.end')
    console.log(event.message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''))
}
console.log((await run.result).text)
await runtime.close()
