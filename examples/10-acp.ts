/** An editor talks to an agent by the Agent Client Protocol: over a WebSocket, a permission, and the session loaded again. */
import {
  client,
  methods,
  type ClientContext,
  type ContentBlock,
  type NewSessionRequest,
} from '@agentclientprotocol/sdk'
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
import { z } from 'zod'
import { acp } from '../src/acp.ts'
import { createRuntime, defineAgent, defineTool, policyModel } from '../src/index.ts'

// The server's side. `escapement acp ./agents.ts` is the same over standard input and output, for an editor that starts it.
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
const { port } = await runtime.serve({ definitions: [keeper], endpoints: [acp()] })

// The editor's side: the protocol's own client.
const editor = client({ name: 'an editor' })
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    console.log(`may it? ${params.toolCall.title}: ${params.options.map(({ name }) => name).join(' or ')}`)
    return { outcome: { outcome: 'selected', optionId: 'allow' } }
  })
  .onNotification(methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') {
      console.log(`${update.sessionUpdate}: ${update.status}`)
    } else if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text') {
      console.log(`the agent says: ${update.content.text.trim()}`)
    }
  })

const connect = <T>(work: (agent: ClientContext) => Promise<T>): Promise<T> =>
  editor.connectWith(createWebSocketStream(`ws://127.0.0.1:${port}/acp`), async (agent) => {
    await agent.request(methods.agent.initialize, { protocolVersion: 1 })
    return await work(agent)
  })

const folder: NewSessionRequest = { cwd: process.cwd(), mcpServers: [] }
const sessionId = await connect(async (agent) => {
  const { sessionId: id } = await agent.request(methods.agent.session.new, folder)
  const prompt: ContentBlock[] = [{ type: 'text', text: 'Wind the tower clock.' }]
  const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId: id, prompt })
  console.log(`the turn ended: ${stopReason}`)
  return id
})

console.log('(the editor comes back)')
await connect((agent) => agent.request(methods.agent.session.load, { sessionId, ...folder }))
await runtime.close()
