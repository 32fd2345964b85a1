/** `node agentChild.ts <folder>`: an agent that calls three tools of a server that never answers, until it is killed. */
import { join } from 'node:path'
import { createRuntime, defineAgent, fileStore, policyModel, type AgentDefinition } from '../../../../../src/index.ts'
import { mcpTools } from '../../../../../src/mcp.ts'

const names = ['look', 'add', 'write']

/** An agent with a server beside it, whose tools in `hangs` do not answer. Its log and the server's journal are in the folder. */
export function jobAgent(folder: string, hangs: readonly string[]): AgentDefinition {
  const pages = [names.map((name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } }))]
  const raw = JSON.stringify({ pages, hangs, journal: join(folder, 'journal') })
  const model = policyModel(({ messages }) =>
    messages.some(({ role }) => role === 'toolResult')
      ? 'done'
      : { toolCalls: names.map((name) => ({ name, input: {} })) },
  )
  const server = mcpTools({
    name: 'raw',
    command: process.execPath,
    args: [join(import.meta.dirname, 'rawServer.ts'), raw],
    effects: { look: 'none', add: 'idempotent' },
    approve: 'none',
  })
  return defineAgent({ name: 'clerk', model, tools: [server] })
}

if (import.meta.main) {
  const folder = process.argv[2]!
  const runtime = await createRuntime({ store: fileStore(join(folder, 'logs')) })
  const agent = await runtime.spawn(jobAgent(folder, names), { id: 'clerk' })
  await agent.prompt('go').result
}
