// A tool: its arguments are checked by zod before it runs, and its result goes back to the model.
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, policyModel } from '../src/index.ts'

const stock = new Map([
  ['spring', 12],
  ['pallet', 0],
])

const countStock = defineTool({
  name: 'count_stock',
  description: 'How many of a part are in stock.',
  input: z.object({ part: z.string() }),
  run: ({ part }) => {
    const count = stock.get(part)
    if (count === undefined) throw new Error(`There is no part "${part}". Parts: ${[...stock.keys()].join(', ')}.`)
    return { part, count }
  },
})

// The embedded model asks for a part that does not exist, reads the error, and asks again.
const model = policyModel(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role !== 'toolResult') return { toolCalls: [{ name: 'count_stock', input: { part: 'sprnig' } }] }
  if (last.isError) return { toolCalls: [{ name: 'count_stock', input: { part: 'spring' } }] }
  return `The stock says: ${last.content.map((block) => (block.type === 'text' ? block.text : '')).join('')}`
})

const runtime = await createRuntime()
const agent = await runtime.spawn(defineAgent({ name: 'clerk', model, tools: [countStock] }))

const run = agent.prompt('How many springs are left?')
for await (const event of run) {
  if (event.type === 'tool.start') console.log(`${event.name} ${JSON.stringify(event.input)}`)
  if (event.type === 'tool.end')
    console.log(`  ${event.message.isError ? 'error' : 'result'}: ${JSON.stringify(event.message.content)}`)
}
console.log((await run.result).text)
await runtime.close()
