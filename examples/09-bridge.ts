// An agent behind a WebSocket, driven from elsewhere: the connection breaks, and nothing is lost.
import { createRuntime, defineAgent, defineTool, policyModel } from '../src/index.ts'
// In your project: 'escapement/client', in a browser or in Node from 22 on.
import { connect } from '../src/client.ts'
import { z } from 'zod'

// The server's side.
const wind = defineTool({
  name: 'wind',
  description: 'Wind a clock.',
  input: z.object({ clock: z.string() }),
  needsApproval: true,
  run: ({ clock }) => `The ${clock} clock is wound.`,
})
const model = policyModel(({ messages }) => {
  const last = messages.at(-1)!
  const text = last.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  return last.role === 'toolResult' ? text : { toolCalls: [{ name: 'wind', input: { clock: 'tower' } }] }
})
const keeper = defineAgent({ name: 'keeper', model, tools: [wind] })
const runtime = await createRuntime()
const tokens = { 'a-token-of-the-keeper': 'admin', 'a-token-of-a-colleague': 'observe' } as const
let server = await runtime.serve({ definitions: [keeper], tokens })

// The client's side: a remote agent has the shape of a local one.
const client = connect(server.url, { token: 'a-token-of-the-keeper', retry: { baseMs: 20 } })
client.onStatus((status) => console.log(`  (${status})`))
await client.ready
console.log(`${client.role} of ${client.definitions.join(', ')}`)
const agent = await client.spawn('keeper', { id: 'k1' })
const run = agent.prompt('Wind the tower clock.')
for await (const event of run) {
  if (event.type === 'approval.requested') {
    console.log(`record ${event.seq}: may ${event.name} run?`)
    // The server goes away and comes back while somebody thinks about it. The agent does not notice.
    const { port } = server
    await server.close()
    server = await runtime.serve({ port, definitions: [keeper], tokens })
    void agent.decide(event.callId, 'approve')
  }
  if (event.type === 'tool.end') console.log(`record ${event.seq}: ${event.name} has run`)
}
console.log((await run.result).text)

const { nodes } = await agent.conversation('trunk')
console.log(`${nodes.length} messages, ${(await agent.snapshot()).state}`)

// Somebody else may look on, and no more: they see everything, instructions too. Customers are given the role 'talk'.
const colleague = connect(server.url, { token: 'a-token-of-a-colleague' })
const seen: string[] = []
const events = colleague.agent('k1').events({ fromSeq: 1, deltas: false })
for await (const { type } of events) if (seen.push(type) && type === 'run.end') break
console.log(`${colleague.role} saw ${seen.length} records, from ${seen[0]} to ${seen.at(-1)}`)
console.log((await colleague.agent('k1').prompt('Wind it again.').result).error?.code)

colleague.close()
client.close()
await runtime.close()
