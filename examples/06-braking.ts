// The braking layer: the model abandons a dead end. It sees it no more; a lesson stands in its place.
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, policyModel, type Block, type ConversationNode } from '../src/index.ts'

const findPage = defineTool({
  name: 'find_page',
  description: 'Find the page of a word in a dictionary of 5000 pages, with at most 100 looks.',
  input: z.object({ by: z.enum(['leafing', 'halving']) }),
  run: ({ by }) => {
    let [low, high, looks] = [1, 5000, 0]
    while (low < high) {
      if (++looks > 100) throw new Error(`gave up by ${by}: 100 looks were not enough`)
      const page = by === 'leafing' ? low : Math.floor((low + high) / 2)
      if (page < 3217) low = page + 1
      else high = page
    }
    return `page ${low}, after ${looks} looks by ${by}`
  },
})

const textOf = (content: readonly Block[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block))).join(' ')

// The embedded model knows only what the request shows: the lesson, and each step's id as a line like [n1].
const model = policyModel(({ messages }) => {
  const last = messages.at(-1)!
  const seen = messages.map(({ content }) => textOf(content)).join('\n')
  if (last.role === 'toolResult' && !last.isError) return `Found: ${textOf(last.content).split('\n')[0]}.`
  const by = seen.includes('leafing is too slow') ? 'halving' : 'leafing'
  if (last.role === 'user') return { toolCalls: [{ name: 'find_page', input: { by } }] }
  const input = { category: 'failure', step: /\[(n\d+)\]/.exec(seen)![1], summary: `${by} is too slow` }
  return { toolCalls: [{ name: 'revert_to_state', input }] }
})

const runtime = await createRuntime()
const agent = await runtime.spawn(defineAgent({ name: 'reader', model, tools: [findPage], braking: { revert: true } }))
await agent.prompt('On which page is "pallet"?').result

const show = ({ id, message }: ConversationNode): void => console.log(`  n${id} ${textOf(message.content)}`)
console.log('trunk:')
agent.conversation.trunk().forEach(show)
console.log('abandoned:')
agent.conversation.abandoned().forEach(show)
for (const { nodeId, tag } of agent.conversation.tags()) console.log(`${tag.kind} at n${nodeId}: ${tag.text}`)
await runtime.close()
