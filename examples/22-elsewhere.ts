/** An agent that has another one work for it, in a process of its own: here our own `escapement acp`, as any coding agent that speaks the Agent Client Protocol. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { acpAgent } from '../src/acp.ts'
import { createRuntime, defineAgent, policyModel } from '../src/index.ts'

// The other agent, as its own project has it: it winds clocks, and asks before.
const folder = mkdtempSync(join(tmpdir(), 'escapement-elsewhere-'))
writeFileSync(
  join(folder, 'agents.ts'),
  `import { defineAgent, defineTool, policyModel } from '${new URL('../src/index.ts', import.meta.url).href}'
const wind = defineTool({ name: 'wind', description: 'Wind a clock.', input: { jsonSchema: { type: 'object' } }, needsApproval: true, run: () => 'The tower clock is wound.' })
export const keeper = defineAgent({
  name: 'keeper',
  tools: [wind],
  model: policyModel(({ messages }) => {
    const last = messages.at(-1)
    return last.role === 'toolResult' ? last.content[0].text : { toolCalls: [{ name: 'wind', input: {} }] }
  }),
})
`,
)

const keeper = acpAgent({
  name: 'keeper',
  description: 'Winds clocks.',
  command: process.execPath,
  args: [join(import.meta.dirname, '../packages/cli/src/main.ts'), 'acp', './agents.ts'],
  cwd: folder,
})
const mayor = defineAgent({
  name: 'mayor',
  agents: [keeper],
  model: policyModel(({ messages }) => {
    const last = messages.at(-1)!
    const text = last.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    return last.role === 'toolResult'
      ? `The keeper says: ${text}`
      : { toolCalls: [{ name: 'keeper', input: { task: 'Wind the tower clock.' } }] }
  }),
})

const runtime = await createRuntime()
const agent = await runtime.spawn(mayor)
agent.subscribe((event) => {
  if (event.type === 'child.noted') console.log(`${event.name} works elsewhere, by ${event.protocol}`)
  if (event.type === 'child.update') console.log(`${event.kind}: ${event.text}`)
  if (event.type !== 'approval.requested') return
  console.log(`may it? ${event.name}`)
  setImmediate(() => agent.decide(event.key, 'approve'))
})
const { text, stopReason } = await agent.prompt('What of the tower clock?').result
console.log(text)
console.log(stopReason)
await runtime.close()
rmSync(folder, { recursive: true })
