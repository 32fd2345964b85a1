/** A process that dies in the tests: its agent begins a command in the background, and waits. Prints what the command has put out. */
import { policyModel } from '../../../models/src/policyModel.ts'
import { createRuntime, defineAgent } from '../../../../src/index.ts'
import { fileStore } from '../../../stores/src/fileStore.ts'
import { workspaceTools } from '../../src/workspace/workspaceTools.ts'

const [logs = '', folder = ''] = process.argv.slice(2)
const model = policyModel(({ messages }) =>
  messages.length > 1
    ? 'meanwhile'
    : { toolCalls: [{ name: 'run_command', input: { command: 'echo $$; exec sleep 1000', background: true } }] },
)
const runtime = await createRuntime({ store: fileStore(logs) })
const agent = await runtime.spawn(
  defineAgent({ name: 'builder', model, tools: workspaceTools(folder, { background: true }) }),
  { id: 'a1' },
)
agent.subscribe((event) => {
  if (event.type === 'tool.progress') process.stdout.write((event.progress as { output: string }).output)
})
await agent.prompt('go').result
