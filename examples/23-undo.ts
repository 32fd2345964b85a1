// A revert that takes back what commands did to a folder, and leaves what a person did there.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime, defineAgent, policyModel, workspaceTools } from '../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'undo-'))
writeFileSync(join(folder, 'menu.md'), '- soup\n- bread\n')
writeFileSync(join(folder, 'prices.md'), '- soup 3\n')

/** Commands, one a turn, as a language model would run them. */
const commands = ["sed -i.bak 's/-/*/' *.md", 'rm *.bak && mkdir -p old/2025 && mv menu.md old/2025']

const cook = defineAgent({
  name: 'cook',
  model: policyModel(({ messages }) => {
    const command = commands[messages.filter(({ role }) => role === 'toolResult').length]
    return command === undefined ? 'Tidied up.' : { toolCalls: [{ name: 'run_command', input: { command } }] }
  }),
  tools: workspaceTools(folder, { snapshots: 'tree' }),
  braking: { revert: true },
})

const runtime = await createRuntime()
const agent = await runtime.spawn(cook)
console.log((await agent.prompt('Tidy up here.').result).text)
console.log('after the commands:', readdirSync(folder).join(', '))
writeFileSync(join(folder, 'prices.md'), '- soup 4\n')

agent.revert('n1', { category: 'failure', summary: 'Nobody finds the menu now.', undo: true })
await agent.settled()
console.log('after the undo:', readdirSync(folder).join(', '))
const [{ tag } = {}] = agent.conversation.tags()
for (const what of tag?.undo?.undone ?? []) console.log('undone:', what)
for (const { what, why } of tag?.undo?.kept ?? []) console.log('left:', what, `(${why})`)
await runtime.close()
rmSync(folder, { recursive: true })
