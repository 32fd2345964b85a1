// node examples/apps/web/main.ts — without a key: the model is a function. Two users talk to the server, and see their own agents only.
import { connect, conversationStore } from '../../../src/client.ts'
import { memoryStore, policyModel } from '../../../src/index.ts'
import { startServer } from './server.ts'

const model = policyModel(() => 'It leaves the workshop tomorrow.')
const users = new Map([
  ['the-cookie-of-ann', 'ann'],
  ['the-cookie-of-bob', 'bob'],
])
const { runtime, server, conversationOf } = await startServer(model, memoryStore(), (credentials = '') =>
  users.get(credentials),
)
for (const [token, user] of users) {
  const client = connect(server.url, { token })
  const { id } = await conversationOf(user)
  const agent = client.agent(id)
  const store = conversationStore(agent)
  await agent.prompt('When does my clock come?').result
  const { sessions } = await client.sessions()
  console.log(`${user} sees ${sessions.length} of ${runtime.agents().length} agents:`)
  for (const { role, text } of store.getSnapshot().messages) console.log(`  ${role}: ${text}`)
  client.close()
}
await runtime.close()
