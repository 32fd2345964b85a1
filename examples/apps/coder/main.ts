// node examples/apps/coder/main.ts [folder] [die] — without a key: the model is a function. With `die` the process is killed half-way.
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { policyModel } from '../../../src/index.ts'
import { work } from './coder.ts'

const [given, mode] = process.argv.slice(2)
const folder = given ?? (await mkdtemp(join(tmpdir(), 'coder-')))
if (given === undefined || mode === 'die') {
  await writeFile(join(folder, 'package.json'), '{"type":"module","scripts":{"test":"node test.js"}}')
  await writeFile(join(folder, 'sum.js'), 'export const sum = (a, b) => a - b\n')
  await writeFile(join(folder, 'test.js'), "import { sum } from './sum.js'\nif (sum(2, 2) !== 4) process.exit(1)\n")
}

const model = policyModel(({ messages }) => {
  const done = messages.flatMap((message) => (message.role === 'toolResult' ? [message.toolName] : []))
  if (!done.includes('edit_file'))
    return { toolCalls: [{ name: 'edit_file', input: { path: 'sum.js', oldText: 'a - b', newText: 'a + b' } }] }
  if (mode === 'die') process.kill(process.pid, 'SIGKILL')
  if (!done.includes('run_command')) return { toolCalls: [{ name: 'run_command', input: { command: 'node test.js' } }] }
  return 'sum adds now, and its test passes.'
})

const asked = async (command: unknown): Promise<boolean> => {
  console.log(`may it? ${JSON.stringify(command)}`)
  return true
}
console.log(await work({ id: 'fix-sum', folder, task: 'Make the test pass.', model }, asked))
