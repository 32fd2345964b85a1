import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EventType } from '@ag-ui/core'
import { agUi } from '../../../src/agUi.ts'
import { defineAgent } from '../../../src/index.ts'
import { scriptedModel, simulatedClock } from '../../../src/testing.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { delta, hears, heldReply, inputOf, longReply, ofType, serveFrontEnds, Stream, verified } from './agUiHarness.ts'
import { readOn, serveWatched, stalled } from './slowClient.ts'

const until = async (fits: () => boolean): Promise<void> => {
  while (!fits()) await new Promise((resolve) => setImmediate(resolve))
}

describe('AG-UI answers', (it) => {
  it('count as connections until they end', async (context) => {
    const held = heldReply([delta('one ')], 'one two')
    const definition = defineAgent({ name: 'a', model: scriptedModel([held, 'three']) })
    const { post, server } = await serveFrontEnds(context, [definition], { limits: { connections: 1, drainMs: 50 } })
    const stream = new Stream(await post(inputOf()))
    await stream.until(hears('one'))
    assert.is(server.connections, 1)
    assert.is((await post(inputOf({ runId: 'r2' }))).status, 503)
    held.release()
    await stream.ended
    await until(() => server.connections === 0)
    const messages = [{ id: 'm2', role: 'user' as const, content: 'more' }]
    assert.is((await post(inputOf({ runId: 'r2', messages }))).status, 200)
  })

  it('say that the server shuts down and end, and the run is there to be joined at the next', async (context) => {
    const held = heldReply([delta('one ')], 'one two')
    const definition = defineAgent({ name: 'a', model: scriptedModel([held]) })
    const { post, server, runtime } = await serveFrontEnds(context, [definition], { limits: { drainMs: 1_000 } })
    const stream = new Stream(await post(inputOf()))
    await stream.until(hears('one'))
    await server.close()
    await stream.ended
    const [end] = ofType(stream.events, EventType.RUN_ERROR)
    assert.is(end?.code, 'SERVER_CLOSED')
    assert.is(stream.events.at(-1), end)
    assert.is(runtime.agent('thread')!.state, 'replying.streaming')
    const second = await runtime.serve({ definitions: [definition], endpoints: [agUi()], limits: { drainMs: 50 } })
    const url = `http://127.0.0.1:${second.port}/ag-ui`
    const again = new Stream(
      await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(inputOf()),
      }),
    )
    await again.until(({ events }) => events.some(({ type }) => type === EventType.TEXT_MESSAGE_START))
    held.release()
    await again.ended
    const client = await verified(again.events, inputOf().messages)
    assert.is(client.messages.at(-1)!.content, 'one two')
  })

  it('are refused once the server is closed, on an HTTP server that goes on', async (context) => {
    const http = createServer()
    const definition = defineAgent({ name: 'a', model: scriptedModel(['no']) })
    const { server, runtime } = await serveFrontEnds(context, [definition], { server: http })
    http.on('request', (asked, answering) => server.handle(asked, answering))
    http.listen(0, '127.0.0.1')
    await once(http, 'listening')
    context.cleanup(() => {
      http.closeAllConnections()
      http.close()
    })
    await server.close()
    const response = await fetch(`http://127.0.0.1:${(http.address() as AddressInfo).port}/ag-ui`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(inputOf()),
    })
    await response.text()
    assert.is(response.status, 503)
    assert.is(runtime.agent('thread'), undefined)
  })

  it('are cut off when nothing of them is read', { timeoutMs: 10_000 }, async (context) => {
    const clock = simulatedClock()
    const definition = defineAgent({ name: 'a', model: scriptedModel([longReply('x'.repeat(65_536), 200)]) })
    const { url, server, runtime } = await serveFrontEnds(context, [definition], {
      runtime: { clock },
      limits: { pingMs: 5_000, drainMs: 1 },
    })
    const response = await stalled(context, url)
    await until(() => runtime.agent('thread')!.state === 'idle')
    await clock.advance(11_000)
    assert.is(server.connections, 1, 'it may take its time')
    await clock.advance(10_000)
    await until(() => server.connections === 0)
    const cutOff = new Promise((resolve) => response.on('close', resolve))
    response.resume()
    await cutOff
    assert.is(response.complete, false)
    assert.is(runtime.agent('thread')!.conversation.trunk().length, 2)
  })

  it('of a whole conversation go in pieces, as the client takes them', { timeoutMs: 10_000 }, async (context) => {
    const text = 'é🜁x'.repeat(200_000)
    const definition = defineAgent({ name: 'a', model: scriptedModel(Array.from({ length: 12 }, () => text)) })
    const { runtime, url, waiting } = await serveWatched(context, definition)
    const agent = await runtime.spawn(definition, { id: 'thread' })
    for (let turn = 0; turn < 11; turn += 1) await agent.prompt(`say ${turn}`).result
    const response = await stalled(context, url)
    let most = 0
    const look = (): void => void (most = Math.max(most, waiting()))
    await until(() => {
      look()
      return agent.state === 'idle' && agent.conversation.trunk().length === 24
    })
    const events = await readOn(response, look)
    assert.ok(most > 0 && most < 500_000, `${most} bytes waited`)
    const client = await verified(events, inputOf().messages)
    const said = client.messages.filter(({ role }) => role === 'assistant')
    assert.is(said.length, 12)
    assert.ok(said.every(({ content }) => content === text))
  })
})
