// A lead that calls two sub-agents side by side; one crashes and is begun anew from its log; a person allows what a third wants.
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, estimateTokens, policyModel } from '../src/index.ts'

const textOf = (content: readonly { type: string }[]): string =>
  content.map((block) => ('text' in block ? String(block.text) : '')).join('')

const publish = defineTool({
  name: 'publish',
  description: 'Publish a page.',
  input: z.object({ title: z.string() }),
  needsApproval: true,
  run: ({ title }) => `"${title}" is online.`,
})

// A defect of ours: the first result this agent gets makes it crash in the middle of a step.
let defects = 1
const fragile = {
  ...estimateTokens,
  message: (message: Parameters<typeof estimateTokens.message>[0]) => {
    if (message.role === 'toolResult' && Object.isFrozen(message) && defects-- > 0) throw new Error('a defect')
    return estimateTokens.message(message)
  },
}

const search = defineTool({
  name: 'search',
  description: 'Search the library.',
  input: z.object({ words: z.string() }),
  effects: 'none',
  run: ({ words }) => `Three books about ${words}.`,
})

const researcher = defineAgent({
  name: 'researcher',
  description: 'Finds out what is known.',
  model: policyModel(({ messages }) =>
    messages.some(({ role }) => role === 'toolResult')
      ? `I found: ${textOf(messages.at(-1)!.content)}`
      : { toolCalls: [{ name: 'search', input: { words: 'clocks' } }] },
  ),
  tools: [search],
  tokenCounter: fragile,
})

const editor = defineAgent({
  name: 'editor',
  description: 'Publishes pages.',
  model: policyModel(({ messages }) =>
    messages.some(({ role }) => role === 'toolResult')
      ? textOf(messages.at(-1)!.content)
      : { toolCalls: [{ name: 'publish', input: { title: 'On escapements' } }] },
  ),
  tools: [publish],
})

const lead = defineAgent({
  name: 'lead',
  model: policyModel(({ messages }) => {
    const answers = messages.filter(({ role }) => role === 'toolResult').map(({ content }) => textOf(content))
    const calls = ['researcher', 'editor'].map((name) => ({ name, input: { task: 'do your part' } }))
    return answers.length === 0 ? { toolCalls: calls } : answers.join(' ')
  }),
  agents: [{ definition: researcher, backoffMs: 10 }, editor],
  limits: { tokens: 100_000 },
})

const runtime = await createRuntime()
const agent = await runtime.spawn(lead, { id: 'lead' })
agent.subscribe(
  (event) => {
    if (event.type === 'run.start') console.log(`${event.agentId}: run ${event.cause}`)
    if (event.type === 'error') console.log(`${event.agentId}: ${event.error.message}`)
  },
  { descendants: true },
)

const run = agent.prompt('Publish what is known about escapements.')
for await (const event of run) {
  if (event.type !== 'approval.requested') continue
  console.log(`${event.agentId} asks: ${event.name} ${JSON.stringify(event.input)}`)
  console.log(JSON.stringify(agent.tree()))
  agent.decide(event.key, 'approve')
}
const { text, usage } = await run.result
console.log(text)
console.log(`the whole tree used ${usage.input + usage.output} tokens`)
await runtime.close()
