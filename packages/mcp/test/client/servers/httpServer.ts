/** A server of the Model Context Protocol of 2026-07-28 at the port that is its argument; it speaks older versions too. */
import { createServer, type RequestListener } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  acceptedContent,
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server'

let isMore = false
let calls = 0

const says = (text: string) => ({ content: [{ type: 'text' as const, text }] })
const nothing = fromJsonSchema<object>({ type: 'object' })
const form = {
  type: 'object' as const,
  properties: { name: { type: 'string' as const } },
  required: ['name'],
}

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'http', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } })
  server.registerTool(
    'echo',
    { inputSchema: fromJsonSchema<{ text?: string }>({ type: 'object', properties: { text: { type: 'string' } } }) },
    ({ text }) => says(text ?? ''),
  )
  server.registerTool('slow', { inputSchema: nothing }, async (_, context) => {
    // oxlint-disable-next-line no-underscore-dangle -- the protocol's name
    const progressToken = context.mcpReq._meta?.progressToken
    if (progressToken !== undefined)
      await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
    return new Promise<never>(() => {})
  })
  server.registerTool('header', { inputSchema: nothing }, (_, context) =>
    says(context.http?.req?.headers.get('x-key') ?? 'none'),
  )
  server.registerTool('big', { inputSchema: nothing }, () => says('x'.repeat(2_000_000)))
  server.registerTool('change', { inputSchema: nothing }, () => {
    isMore = true
    handler.notify.toolsChanged()
    return says('changed')
  })
  server.registerTool('greet', { inputSchema: nothing }, (_, context) => {
    calls += 1
    const answer = acceptedContent<{ name: string }>(context.mcpReq.inputResponses, 'who')
    if (answer !== undefined) return says(`Hello ${answer.name}, after ${calls} calls`)
    if (context.mcpReq.inputResponses?.['who'] !== undefined) return says('Nobody to greet')
    return inputRequired({
      inputRequests: { who: inputRequired.elicit({ message: 'Who are you?', requestedSchema: form }) },
    })
  })
  if (isMore) server.registerTool('fresh', { inputSchema: nothing }, () => says('fresh'))
  return server
})

const answer = toNodeHandler(handler) as unknown as RequestListener
createServer(answer).listen(Number(process.argv[2]), '127.0.0.1', () => {
  process.stdout.write('listening\n')
})
