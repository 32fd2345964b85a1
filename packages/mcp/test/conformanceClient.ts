/**
 * The client that the conformance kit of the protocol starts: `conformanceClient.ts <folder> <address>`. An agent calls each tool of the server
 * once; a person signs in where that is wanted, and takes what a form offers.
 */
import { join } from 'node:path'
import { createRuntime, defineAgent, policyModel } from '../../../src/index.ts'
import { fileAuth, mcpTools } from '../../../src/mcp.ts'

const [folder = '', url = ''] = process.argv.slice(2)
const { client_id: clientId, client_secret: clientSecret } = JSON.parse(
  process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}',
) as { client_id?: string; client_secret?: string }
/** Sign-ins that were begun, and are over once the browser is back. */
const signIns: Promise<unknown>[] = []
const auth = fileAuth(join(folder, `${process.pid}`), {
  port: 20_000 + (process.pid % 20_000),
  ...(clientId === undefined ? {} : { clientId }),
  ...(clientSecret === undefined ? {} : { clientSecret }),
  // A browser that follows the server back to us.
  show: (address) => void signIns.push(fetch(address)),
})
const server = mcpTools({ name: 'kit', url, approve: 'none', auth })
const inputs: { readonly [name: string]: object } = { add_numbers: { a: 5, b: 3 } }
const caller = defineAgent({
  name: 'caller',
  tools: [server],
  model: policyModel(({ messages, tools }) => {
    const asked = messages.findLastIndex(({ role }) => role === 'user')
    const done = messages.slice(asked).filter(({ role }) => role === 'toolResult').length
    const next = tools[done]
    return next === undefined ? 'done' : { toolCalls: [{ name: next.name, input: inputs[next.name] ?? {} }] }
  }),
})
const runtime = await createRuntime()
const agent = await runtime.spawn(caller)
agent.subscribe((event) => {
  if (event.type === 'question.asked') agent.decide(event.key, { value: {} })
})
// A prompt for each sign-in: with its token the next call is let in, or wants another one.
for (let prompts = 0; prompts <= Math.min(signIns.length, 3); prompts += 1) {
  await signIns[prompts - 1]
  await agent.prompt('go').result
}
await runtime.close()
process.exit(0)
