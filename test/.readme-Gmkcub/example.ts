import { policyModel } from '../../src/index.ts'
const anthropic = (_: string) => policyModel(({ messages }) => {
  const { role, content } = messages.at(-1)!
  if (role === process.env['KILLED_AT']) process.kill(process.pid, 'SIGKILL')
  if (role !== 'toolResult') return { toolCalls: [{ name: 'refund', input: { order: 'A17', eur: 80 } }] }
  return content[0]?.type === 'text' ? content[0].text : ''
})
import { createRuntime, defineAgent, defineTool, fileStore } from '../../src/index.ts'
import { z } from 'zod'

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back to the customer of an order.',
  input: z.object({ order: z.string(), eur: z.number() }),
  effects: 'idempotent', // your payment service books each `key` once
  needsApproval: ({ eur }) => eur > 50,
  run: ({ order, eur }, { key }) => `Paid ${eur} EUR back for ${order} (booking ${key}).`,
})
const desk = defineAgent({ name: 'desk', model: anthropic('claude-sonnet-5-5'), tools: [refund] })

const runtime = await createRuntime({ store: fileStore('.escapement') })
const agent = await runtime.open('order-A17', desk) // new, or as the last process left it
agent.subscribe((event) => event.type === 'reply.delta' && process.stdout.write(event.text))
for (const { key } of agent.pending()) agent.decide(key, 'approve') // a person's decision, in your application
if (agent.conversation.trunk().length === 0) agent.prompt('Order A17 arrived broken. Pay the 80 EUR back.')
console.log((await agent.settled()).status) // first "waiting" for the approval, then "idle"
await runtime.close({ detach: true })
