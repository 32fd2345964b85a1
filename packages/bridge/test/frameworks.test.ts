import { serve } from '@hono/node-server'
import express from 'express'
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from '../../../src/client.ts'
import { createRuntime, defineAgent, policyModel, type Runtime } from '../../../src/index.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

const support = defineAgent({ name: 'support', model: policyModel(() => 'It is on its way.') })

/** The routes of docs/inYourApplication.md. */
const frameworks: Readonly<Record<string, (runtime: Runtime) => Server>> = {
  Express: (runtime) => {
    const app = express()
    // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 takes care of what they reject with
    app.post('/chats/:id', express.json(), async (request, response) => {
      const { text } = request.body as { text: string }
      const agent = await runtime.open(request.params.id, support)
      response.type('text/event-stream')
      for await (const event of agent.prompt(text))
        if (event.type === 'reply.delta') response.write(`data: ${JSON.stringify(event.text)}\n\n`)
      response.end()
    })
    return app.listen(0)
  },
  Hono: (runtime) => {
    const app = new Hono()
    app.post('/chats/:id', async (context) => {
      const { text } = await context.req.json<{ text: string }>()
      const agent = await runtime.open(context.req.param('id'), support)
      return streamSSE(context, async (stream) => {
        for await (const event of agent.prompt(text))
          if (event.type === 'reply.delta') await stream.writeSSE({ data: JSON.stringify(event.text) })
      })
    })
    return serve({ fetch: app.fetch, port: 0 }) as Server
  },
}

async function started({ cleanup }: CaseContext, start: (runtime: Runtime) => Server) {
  const runtime = await createRuntime()
  cleanup(() => runtime.close())
  const server = start(runtime)
  cleanup(() => {
    server.closeAllConnections()
    server.close()
  })
  if (!server.listening) await once(server, 'listening')
  return { runtime, server, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const said = (events: string): string =>
  [...events.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as string).join('')

for (const [name, start] of Object.entries(frameworks))
  describe(`a server of ${name}`, (it) => {
    it('streams an answer, and goes on with the conversation', async (context) => {
      const { runtime, base } = await started(context, start)
      for (const text of ['Where is my order?', 'When?']) {
        const response = await fetch(`${base}/chats/c1`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ text }),
        })
        assert.match(response.headers.get('content-type') ?? '', /text\/event-stream/)
        assert.is(said(await response.text()), 'It is on its way.')
      }
      assert.is(runtime.agent('c1')?.conversation.trunk().length, 4)
    })

    it('takes WebSockets of the bridge beside its routes', async (context) => {
      const { runtime, server } = await started(context, start)
      const bridge = await runtime.serve({ server, definitions: [support] })
      const client = connect(bridge.url)
      context.cleanup(() => client.close())
      const agent = await client.spawn('support', { id: 'c2' })
      assert.is((await agent.prompt('Hello?').result).text, 'It is on its way.')
    })
  })
