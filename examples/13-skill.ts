// A skill: a folder with instructions and a script. The model sees its description, reads it when it fits, and runs the script.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime, defineAgent, policyModel, workspaceTools, type Block } from '../src/index.ts'

const textOf = (content: readonly Block[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')

const folder = await mkdtemp(join(tmpdir(), 'release-'))
await writeFile(join(folder, 'changes.txt'), 'feat: doors have names\nchore: new linter\nfix: the door opens again\n')

// The embedded model knows only what the request shows: that there is a skill, where its folder is, what the script printed.
const model = policyModel(({ system, messages }) => {
  const last = messages.at(-1)!
  const said = textOf(last.content)
  if (last.role !== 'toolResult')
    return { toolCalls: [{ name: 'read_skill', input: { name: /^- ([a-z-]+): .*release notes/m.exec(system)![1] } }] }
  const place = /in (\/[^;\]]+)/.exec(said)?.[1]
  if (last.toolName === 'read_skill')
    return { toolCalls: [{ name: 'run_command', input: { command: `node ${place}/scripts/group.js changes.txt` } }] }
  return said
})

const clerk = defineAgent({
  name: 'clerk',
  model,
  skills: [join(import.meta.dirname, 'skills')],
  tools: workspaceTools(folder),
})

const runtime = await createRuntime()
const agent = await runtime.spawn(clerk)
agent.subscribe((event) => {
  if (event.type === 'tool.start')
    console.log(`${event.name} ${JSON.stringify(event.input)}`.replace(import.meta.dirname, '…'))
})
const { text } = await agent.prompt('Write the release notes of changes.txt.').result
console.log(text)
console.log(
  `kept in sight: ${agent.conversation
    .pins()
    .map((step) => `n${step}`)
    .join(', ')}`,
)
await runtime.close()
await rm(folder, { recursive: true })
