// A script in place of many calls: it reads all stocks at once, and each order waits for a person as a call of the model would.
import { z } from 'zod'
import { codeTool } from '../src/code.ts'
import { createRuntime, defineAgent, defineTool, policyModel } from '../src/index.ts'

const stock: Record<string, number> = { spring: 2, wheel: 40, anchor: 0, hand: 7 }

const list = defineTool({
  name: 'parts',
  description: 'The names of all parts.',
  input: z.object({}),
  output: z.array(z.string()),
  effects: 'none',
  run: () => Object.keys(stock),
})
const count = defineTool({
  name: 'count',
  description: 'How many of a part are left.',
  input: z.object({ part: z.string() }),
  output: z.object({ left: z.number() }),
  effects: 'none',
  run: ({ part }) => ({ left: stock[part] ?? 0 }),
})
const order = defineTool({
  name: 'order',
  description: 'Orders ten of a part.',
  input: z.object({ part: z.string() }),
  needsApproval: true,
  effects: 'irreversible',
  run: ({ part }) => `ten of ${part} are on their way`,
})

/** A script as a language model would write it. */
const script = `const names = await tools.parts()
const counts = await Promise.all(names.map((part) => tools.count({ part })))
const few = names.filter((_, at) => counts[at].left < 5)
for (const part of few)
  try {
    console.log(await tools.order({ part }))
  } catch (error) {
    console.log(part, error.code)
  }
return few.length + ' of ' + names.length + ' parts were short'`

const model = policyModel(({ messages }) => {
  const last = messages.at(-1)
  const said = (last?.content ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('')
  return last?.role === 'toolResult' ? said : { toolCalls: [{ name: 'run_code', input: { code: script } }] }
})

const buyer = defineAgent({ name: 'buyer', model, tools: [codeTool([list, count, order], { only: true })] })

const runtime = await createRuntime()
const agent = await runtime.spawn(buyer)
agent.subscribe((event) => {
  if (event.type === 'inner.end') console.log(`call ${event.n} of the script: ${event.name}`)
  if (event.type === 'approval.requested') {
    const { part } = event.input as { part: string }
    console.log(`may it order ${part}?`)
    agent.decide(event.key, part === 'spring' ? 'approve' : 'deny')
  }
})
console.log((await agent.prompt('Order what is short.').result).text)
await runtime.close()
