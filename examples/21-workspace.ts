// The tools for a folder, over files in memory: nothing touches the disk, and there are no commands.
import { createRuntime, defineAgent, policyModel, workspaceTools } from '../src/index.ts'
import { memoryWorkspace } from '../src/workspaces.ts'

const files = memoryWorkspace({ 'menu.md': '# Today\n\n- soup\n- bread\n' })

/** Calls, one a turn, as a language model would make them. */
const calling = (...steps: readonly (readonly [name: string, input: object])[]) =>
  policyModel(({ messages }) => {
    const done = messages.filter(({ role }) => role === 'toolResult').length
    const last = messages.at(-1)?.content ?? []
    const said = last.map((block) => (block.type === 'text' ? block.text : '')).join('')
    const step = steps[done]
    return step === undefined ? said : { toolCalls: [{ name: step[0], input: { ...step[1] } }] }
  })

const cook = defineAgent({
  name: 'cook',
  model: calling(
    ['search_files', { pattern: 'soup' }],
    ['edit_file', { path: 'menu.md', oldText: '- soup', newText: '- soup of the day' }],
    ['run_command', { command: 'cat menu.md' }],
    ['read_file', { path: 'menu.md' }],
  ),
  tools: workspaceTools(files),
})

const runtime = await createRuntime()
const agent = await runtime.spawn(cook)
agent.subscribe((event) => {
  if (event.type !== 'tool.end') return
  const [first] = event.message.content
  if (first?.type === 'text') console.log(`${event.name}: ${first.text.split('\n')[0]}`)
})
console.log((await agent.prompt('Say which soup it is.').result).text)
await runtime.close()
console.log([...files.files().keys()].join(', '))
