// Three ways to speak to an agent at work: steer it, add a follow-up, abort it.
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, policyModel, type Block } from '../src/index.ts'

const wind = defineTool({
  name: 'wind',
  description: 'Wind a clock.',
  input: z.object({ clock: z.string() }),
  // The tower takes an hour; an abort reaches it through the signal.
  run: async ({ clock }, { signal }) => {
    await pause(clock === 'tower' ? 3_600_000 : 0, undefined, { signal })
    return `The ${clock} clock is wound.`
  },
})

const textOf = (content: readonly Block[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')
const model = policyModel(({ messages }) => {
  const last = messages.at(-1)
  const said = last?.role === 'user' ? textOf(last.content) : 'done'
  const clocks = said.startsWith('Wind') ? (said.match(/kitchen|hall|tower/g) ?? []) : []
  return clocks.length === 0
    ? `Understood: ${said}`
    : { toolCalls: clocks.map((clock) => ({ name: 'wind', input: { clock } })) }
})

const runtime = await createRuntime()
const agent = await runtime.spawn(defineAgent({ name: 'keeper', model, tools: [wind], toolExecution: 'sequential' }))
agent.subscribe((event) => {
  if (event.type === 'tool.end') console.log(`  ${textOf(event.message.content)}`)
  if (event.type === 'reply.end' && event.message.stopReason === 'stop')
    console.log(`  ${textOf(event.message.content)}`)
  if (event.type !== 'tool.start') return
  const { clock } = event.input as { clock: string }
  if (clock === 'kitchen') agent.steer('Leave the hall clock alone.')
  if (clock === 'tower') agent.abort()
})

const first = agent.prompt('Wind the kitchen and the hall clock.')
agent.followUp('Thank you.')
console.log(`steered, then followed up: ${(await first.result).stopReason}`)
console.log(`aborted: ${(await agent.prompt('Wind the tower clock.').result).stopReason}`)
console.log(`usable again: ${(await agent.prompt('Good night.').result).stopReason}`)
await runtime.close()
