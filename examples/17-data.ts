/** A model reads a sentence, the application gets rows, and the call that hands them in ends the run: the model is not asked again. */
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, policyModel, type ToolEventOf } from '../src/index.ts'

const stock = [
  { clock: 'tower', price: 9_000 },
  { clock: 'cuckoo', price: 120 },
  { clock: 'wall', price: 80 },
]

const offer = defineTool({
  name: 'offer',
  description: 'Offers the customer all clocks up to a price.',
  input: z.object({ upTo: z.number() }),
  output: z.object({ rows: z.array(z.object({ clock: z.string(), price: z.number() })) }),
  effects: 'none',
  // Without an offer there is nothing to hand in, and the model says what else there is.
  endsRun: ({ rows }) => rows.length > 0,
  run: ({ upTo }) => ({ rows: stock.filter(({ price }) => price <= upTo) }),
  toModel: ({ rows }) => `${rows.length} clocks are offered.`,
})

const model = policyModel(({ messages }) => {
  const last = messages.at(-1)!
  const text = last.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  if (last.role === 'toolResult') return `Nothing is that cheap: ${text}`
  return { toolCalls: [{ name: 'offer', input: { upTo: Number(/\d+/.exec(text)) } }] }
})

const seller = defineAgent({ name: 'seller', model, tools: [offer] })

/** Draws what the page of a shop would. */
function draw(event: ToolEventOf<typeof seller>): void {
  if (event.type !== 'tool.end') return
  for (const { clock, price } of event.data?.rows ?? []) console.log(`| ${clock.padEnd(8)} | ${price} |`)
}

const runtime = await createRuntime()
const agent = await runtime.spawn(seller)
agent.subscribe((event) => event.type === 'tool.end' && event.name === 'offer' && draw(event))

for (const budget of [200, 50]) {
  const { text, turns } = await agent.prompt(`Something for up to ${budget} euros.`).result
  console.log(`${text} (the model was asked ${turns === 1 ? 'once' : `${turns} times`})`)
}

await runtime.close()
