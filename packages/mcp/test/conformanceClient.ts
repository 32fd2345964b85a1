/**
 * The client that the conformance kit of the protocol starts: `conformanceClient.ts <folder> <address>`. An agent calls each tool of the server
 * once; a person signs in where that is wanted, and takes what a form offers.
 */
import { join } from 'node:path'
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/client'
import { createRuntime, defineAgent, policyModel } from '../../../src/index.ts'
import { fileAuth, mcpTools, type McpAuth } from '../../../src/mcp.ts'

const [folder = '', url = ''] = process.argv.slice(2)
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''

/** Fields that the kit tells of some scenarios. */
interface Told {
  readonly client_id?: string
  readonly client_secret?: string
  readonly private_key_pem?: string
  readonly signing_algorithm?: string
}
const told = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Told

/** Sign-ins that were begun, and are over once the browser is back. */
const signIns: Promise<unknown>[] = []
const mostSignIns = 3

const person = (): McpAuth =>
  fileAuth(join(folder, `${process.pid}`), {
    port: 20_000 + (process.pid % 20_000),
    ...(told.client_id === undefined ? {} : { clientId: told.client_id }),
    ...(told.client_secret === undefined ? {} : { clientSecret: told.client_secret }),
    // A browser that follows the server back to us, and a person who has enough of it some time.
    show: (address) => {
      if (signIns.length < mostSignIns) signIns.push(fetch(address))
    },
  })

/** A program that signs in by itself, with a provider of the SDK. */
async function program(): Promise<McpAuth> {
  const { client_id: clientId = '', client_secret: clientSecret, private_key_pem: privateKey = '' } = told
  const metadata = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', url))
  const { authorization_servers: issuers } = (await metadata.json()) as { readonly authorization_servers: string[] }
  const expectedIssuer = issuers[0]!
  return clientSecret === undefined
    ? new PrivateKeyJwtProvider({ clientId, privateKey, algorithm: told.signing_algorithm ?? '', expectedIssuer })
    : new ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer })
}

const auth = scenario.startsWith('auth/client-credentials') ? await program() : person()
const server = mcpTools({ name: 'kit', url, approve: 'none', auth })
/** Number of tools in the last request. */
let offered = 0
const inputs: { readonly [name: string]: object } = { add_numbers: { a: 5, b: 3 } }
const caller = defineAgent({
  name: 'caller',
  tools: [server],
  model: policyModel(({ messages, tools }) => {
    offered = tools.length
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
// After a sign-in the server is reached anew, and may want another one for a call.
for (let tries = 0; tries < 30 && signIns.length < mostSignIns; tries += 1) {
  const before = signIns.length
  await agent.prompt('go').result
  if (signIns.length === before && offered > 0) break
  await Promise.allSettled(signIns)
  await new Promise((resolve) => setTimeout(resolve, 100))
}
await runtime.close()
process.exit(0)
