// Tools from elsewhere: the reference server for files, of the Model Context Protocol, in a folder of its own. Writing waits for a person.
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime, defineAgent, policyModel } from '../src/index.ts'
import { mcpTools } from '../src/mcp.ts'

const folder = await realpath(await mkdtemp(join(tmpdir(), 'escapement-')))
await writeFile(join(folder, 'clocks.txt'), 'tower: stopped\nhall: runs\n')

// Fetched the first time.
const server = ['-y', '@modelcontextprotocol/server-filesystem', folder]
const files = mcpTools({ name: 'files', command: 'npx', args: server, approve: 'writes' })

// The embedded model reads, edits, and says what it did.
const model = policyModel(({ messages, tools }) => {
  const results = messages.filter(({ role }) => role === 'toolResult').length
  if (results === 0) {
    console.log(`${tools.length} tools, among them ${tools[0]?.name}`)
    return { toolCalls: [{ name: 'read_text_file', input: { path: join(folder, 'clocks.txt') } }] }
  }
  const edits = [{ oldText: 'tower: stopped', newText: 'tower: runs' }]
  if (results === 1) return { toolCalls: [{ name: 'edit_file', input: { path: join(folder, 'clocks.txt'), edits } }] }
  return 'The tower clock runs again.'
})

const runtime = await createRuntime()
const agent = await runtime.spawn(defineAgent({ name: 'keeper', model, tools: [files] }))
const run = agent.prompt('Start the tower clock.')
for await (const event of run) {
  if (event.type === 'tools.changed') console.log(`offered by ${event.added[0]?.source}`)
  if (event.type === 'tool.start') console.log(`${event.name} runs`)
  if (event.type === 'approval.requested') {
    console.log(`may ${event.name} run?`)
    agent.decide(event.key, 'approve')
  }
}
console.log((await run.result).text)
console.log((await readFile(join(folder, 'clocks.txt'), 'utf8')).split('\n')[0])

// The server ends with the runtime.
await runtime.close()
await rm(folder, { recursive: true })
