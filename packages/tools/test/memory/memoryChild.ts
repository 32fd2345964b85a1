/** Puts records into a memory until it is killed, and says which are kept: `node memoryChild.ts markdown|sqlite <path> <name>`. */
import { markdownMemory } from '../../src/memory/markdownMemory.ts'
import { sqliteMemory } from '../../src/memory/sqliteMemory.ts'
import { fact } from './memoryFolder.ts'

const [kind, path = '', name = ''] = process.argv.slice(2)
const memory = kind === 'sqlite' ? sqliteMemory(path) : markdownMemory(path)
const most = 2_000
for (let index = 0; index < most; index += 1) {
  await memory.put(fact('shared', 'Known to all.', { confirmations: [`${name}/r0`] }))
  await memory.put(fact(`${name}-${index}`, `Number ${index} of ${name}.`))
  process.stdout.write(`${name}-${index}\n`)
}
