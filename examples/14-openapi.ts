/** A service with an OpenAPI document: its operations are tools of an agent, which asks before it changes anything. */
import { createServer } from 'node:http'
import { createRuntime, defineAgent, policyModel } from '../src/index.ts'
import { openApiTools } from '../src/openapi.ts'

// The service: a workshop with an address, a key, and a document that describes it.
const clocks = [
  { id: 1, name: 'tower clock', wound: true, maker: { name: 'Graham', born: 1673 } },
  { id: 2, name: 'cuckoo clock', wound: false, maker: { name: 'Ketterer', born: 1676 } },
]
const key = 'the-key-of-the-workshop'
const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } }
const document = {
  openapi: '3.1.0',
  info: { title: 'Workshop', version: '1' },
  servers: [{ url: '/' }],
  security: [{ workshopKey: [] }],
  components: { securitySchemes: { workshopKey: { type: 'apiKey', in: 'header', name: 'X-Workshop-Key' } } },
  paths: {
    '/clocks': { get: { operationId: 'listClocks', summary: 'All clocks.' } },
    '/clocks/{id}/wind': { post: { operationId: 'windClock', summary: 'Winds a clock.', parameters: [id] } },
    '/clocks/{id}': { delete: { operationId: 'scrapClock', parameters: [id] } },
  },
}
const service = createServer((request, response) => {
  const answer = (value: unknown, status = 200): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  if (request.url === '/openapi.json') return answer(document)
  console.log(`the service: ${request.method} ${request.url}`)
  if (request.headers['x-workshop-key'] !== key) return answer({ error: 'Who are you?' }, 401)
  if (request.url === '/clocks') return answer(clocks)
  const clock = clocks.find(({ id: one }) => request.url === `/clocks/${one}/wind`)
  if (clock === undefined) return answer({ error: 'There is no such clock.' }, 404)
  clock.wound = true
  return answer(clock)
})
await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
const { port } = service.address() as { port: number }

// The agent's side.
const workshop = await openApiTools(`http://127.0.0.1:${port}/openapi.json`, {
  exclude: ['DELETE *'],
  auth: { workshopKey: key },
  responses: { fields: { '*': ['id', 'name', 'wound'] } },
})
for (const { name, method, path, effects } of workshop.operations)
  console.log(`${name}: ${method} ${path} (${effects})`)

/** Looks for a clock that stands still, and winds it; in place of a model, so that this needs no key. */
const model = policyModel(({ messages }) => {
  const last = messages.at(-1)!
  const text = last.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  if (last.role !== 'toolResult') return { toolCalls: [{ name: 'listClocks', input: {} }] }
  if (last.toolName === 'windClock') return `Wound: ${text}`
  console.log(`the model sees: ${text}`)
  const still = (JSON.parse(text) as typeof clocks).find(({ wound }) => !wound)!
  return { toolCalls: [{ name: 'windClock', input: { id: still.id } }] }
})
const keeper = defineAgent({ name: 'keeper', model, tools: [workshop] })

const runtime = await createRuntime()
const agent = await runtime.spawn(keeper)
agent.subscribe((event) => {
  if (event.type !== 'approval.requested') return
  console.log(`may it? ${event.name} ${JSON.stringify(event.input)}`)
  agent.decide(event.key, 'approve')
})
console.log((await agent.prompt('Is every clock wound?').result).text)
await runtime.close()
service.close()
