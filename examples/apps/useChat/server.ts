// A desk that pays money back, for `useChat`: a person has to approve each payment.
import type { Server } from 'node:http'
import { z } from 'zod'
import { aiSdkChat } from '../../../src/aiSdk.ts'
import { createRuntime, defineAgent, defineTool, type Model, type Runtime, type Store } from '../../../src/index.ts'

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  input: z.object({ order: z.string(), euros: z.number() }),
  needsApproval: true,
  effects: 'irreversible',
  run: async ({ order, euros }) => ({ order, paid: euros }),
})
const html = '<!doctype html><meta charset="utf-8"><body><script type="module" src="/page.js"></script>'

/** Serves the desk, and a page with a script, once the server listens. */
export async function serveDesk(server: Server, model: Model, store: Store, script: string): Promise<Runtime> {
  const runtime = await createRuntime({ store })
  const desk = defineAgent({ name: 'desk', instructions: 'You help customers.', model, tools: [refund] })
  // Nobody else goes on with what the last process was doing: reading a chat wakes nothing.
  await runtime.resumeAll({ definitions: [desk] })
  const chats = await runtime.serve({ server, definitions: [desk], endpoints: [aiSdkChat()] })
  server.on('request', (request, response) => {
    if (chats.handle(request, response)) return
    const isScript = request.url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html').end(isScript ? script : html)
  })
  return runtime
}
