/**
 * One life of a server that will be killed: `node serveChild.ts <folder> <port>` serves an agent whose sub-agent has a server of its own, from the
 * logs of that folder. Prints `ready`.
 */
import { join } from 'node:path'
import { createRuntime, defineAgent, fileStore, policyModel } from '../../../../../src/index.ts'
import { mcpTools } from '../../../../../src/mcp.ts'

const [folder = '', port] = process.argv.slice(2)
const raw = JSON.stringify({ journal: join(folder, 'journal') })
const server = mcpTools({
  name: 'raw',
  command: process.execPath,
  args: [join(import.meta.dirname, 'rawServer.ts'), raw],
})

/** Calls the server, finds that this leads nowhere, takes it back and says so. */
const seeker = defineAgent({
  name: 'seeker',
  description: 'Seeks.',
  braking: { revert: true },
  tools: [server],
  model: policyModel(({ messages }) => {
    const last = messages.at(-1)!
    if (JSON.stringify(messages).includes('nothing is there')) return 'I sought in vain.'
    if (last.role !== 'toolResult') return { toolCalls: [{ name: 'echo', input: { text: 'an echo' } }] }
    const revert = { step: 'n1', category: 'failure', summary: 'nothing is there but an echo' }
    return { toolCalls: [{ name: 'revert_to_state', input: revert }] }
  }),
})
const boss = defineAgent({
  name: 'boss',
  agents: [seeker],
  model: policyModel(({ messages }) => {
    const last = messages.at(-1)!
    if (last.role !== 'toolResult') return { toolCalls: [{ name: 'seeker', input: { task: 'Seek.' } }] }
    return `It says: ${last.content.map((block) => (block.type === 'text' ? block.text : '')).join('')}`
  }),
})
const runtime = await createRuntime({ store: fileStore(join(folder, 'logs')) })
await runtime.serve({ port: Number(port), definitions: [boss, seeker] })
process.stdout.write('ready\n')
