// node examples/apps/useChat/main.ts — without a key: the model is a function. With `serve` it serves the page, else it talks by itself.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, isToolUIPart, type UIMessage } from 'ai'
import { build, type Rollup } from 'vite'
import { escapementChat } from '../../../src/client.ts'
import { fileStore, memoryStore, policyModel } from '../../../src/index.ts'
import { serveDesk } from './server.ts'

const model = policyModel(({ messages }) =>
  messages.at(-1)?.role === 'toolResult'
    ? 'It is on its way to you.'
    : { text: 'I pay it back.', toolCalls: [{ name: 'refund', input: { order: 'o7', euros: 30 } }] },
)

const server = createServer().listen(Number(process.env['PORT'] ?? 0), '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

if (process.argv[2] === 'serve') {
  const [bundle] = (await build({
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"development"' },
    build: {
      write: false,
      minify: false,
      lib: { entry: join(import.meta.dirname, 'page.ts'), formats: ['es'], fileName: 'page' },
    },
  })) as Rollup.RollupOutput[]
  await serveDesk(server, model, fileStore('.escapement/useChat'), bundle!.output[0].code)
  console.log(`Open ${url}`)
} else {
  const runtime = await serveDesk(server, model, memoryStore(), '')
  const transport = new DefaultChatTransport<UIMessage>(escapementChat({ api: `${url}/api/chat` }))
  const chat = new Chat({ id: 'o7', transport })
  await chat.sendMessage({ text: 'My clock never came.' })
  for (const part of chat.messages.at(-1)!.parts)
    if (isToolUIPart(part) && part.state === 'approval-requested')
      await chat.addToolApprovalResponse({ id: part.approval.id, approved: true })
  await chat.sendMessage()
  for (const { role, parts } of chat.messages)
    for (const part of parts) {
      if (part.type === 'text') console.log(`${role}: ${part.text}`)
      if (isToolUIPart(part)) console.log(`${role}: ${JSON.stringify(part.input)} ${part.state}`)
    }
  await runtime.close()
  server.closeAllConnections()
  server.close()
}
