import { EventType, type Event } from '@ag-ui/core'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../../src/index.ts'
import type { ModelPart } from '../../../src/protocol/ports/model.ts'
import { scriptedModel, simulatedClock } from '../../../src/testing.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import {
  customs,
  delta,
  hears,
  heldReply,
  inputOf,
  ofType,
  readEvents,
  say,
  serveFrontEnds,
  someUsage as usage,
  Stream,
  typesOf,
  verified,
} from './agUiHarness.ts'
import { readOn, serveWatched, stalled } from './slowClient.ts'

describe('AG-UI connections', (it) => {
  it('goes on when the client leaves, and gives the rest to the same runId without running twice', async (context) => {
    const held = heldReply([delta('one ')], 'one two')
    const model = scriptedModel([held])
    const { post, runtime } = await serveFrontEnds(context, [defineAgent({ name: 'a', model })])
    const leaving = new AbortController()
    const first = new Stream(await post(inputOf(), { signal: leaving.signal }))
    await first.until(hears('one'))
    leaving.abort()
    await first.ended
    const second = new Stream(await post(inputOf()))
    await second.until(({ events }) => events.some(({ type }) => type === EventType.TEXT_MESSAGE_START))
    const third = new Stream(await post(inputOf()))
    await third.until(({ events }) => events.some(({ type }) => type === EventType.TEXT_MESSAGE_START))
    held.release()
    await Promise.all([second.ended, third.ended])
    for (const { events } of [second, third]) {
      const client = await verified(events, inputOf().messages)
      assert.equal(
        client.messages.map(({ role, content }) => [role, content]),
        [
          ['user', 'hello'],
          ['assistant', 'one two'],
        ],
      )
    }
    assert.is(model.requests.length, 1)
    assert.is(runtime.agent('thread')!.conversation.trunk().length, 2)
    const late = await readEvents(await post(inputOf()))
    assert.is(late.at(-1)!.type, 'RUN_FINISHED')
    assert.is(model.requests.length, 1)
  })

  it('does not abort a run because the client was stopped, and aborts it when told to', async (context) => {
    const held = heldReply([delta('one ')], 'one two')
    const {
      post,
      agent: dial,
      runtime,
    } = await serveFrontEnds(context, [defineAgent({ name: 'a', model: scriptedModel([held]) })])
    const watching = new Stream(await post(inputOf()))
    await watching.until(hears('one'))
    const client = dial()
    client.addMessage({ id: 'm1', role: 'user', content: 'hello' })
    let seen = (): void => {}
    const attached = new Promise<void>((resolve) => (seen = resolve))
    const running = client.runAgent({ runId: 'r1' }, { onTextMessageStartEvent: () => seen() })
    await attached
    client.abortRun()
    await running
    assert.is(runtime.agent('thread')!.state, 'replying.streaming')
    const events = await readEvents(await post(inputOf({ runId: 'stop', forwardedProps: { command: 'abort' } })))
    assert.is(events.at(-1)!.type, 'RUN_FINISHED')
    await watching.ended
    await verified(watching.events)
    assert.equal(ofType(watching.events, EventType.RUN_FINISHED)[0]!.outcome, { type: 'cancelled' })
    held.release()
  })

  it('queues a run behind the one under way', async (context) => {
    const held = heldReply([delta('one ')], 'one two')
    const model = scriptedModel([held, 'three'])
    const { post } = await serveFrontEnds(context, [defineAgent({ name: 'a', model })])
    const first = new Stream(await post(inputOf()))
    await first.until(hears('one'))
    const second = new Stream(
      await post(inputOf({ runId: 'r2', messages: [{ id: 'm2', role: 'user', content: 'next' }] })),
    )
    await second.until(({ events }) => events.length > 0)
    held.release()
    await Promise.all([first.ended, second.ended])
    assert.ok(!hears('three')(first) && !hears('two')(second))
    const client = await verified(second.events, [{ id: 'm2', role: 'user', content: 'next' }])
    assert.is(client.messages.at(-1)!.content, 'three')
    await verified(first.events)
  })

  it(
    'keeps memory bounded for a client that does not read, and shows it how things stand once it does',
    { timeoutMs: 10_000 },
    async (context) => {
      const piece = 'x'.repeat(65_536)
      const pieces = 200
      const parts: ModelPart[] = Array.from({ length: pieces }, () => delta(piece))
      const text = piece.repeat(pieces)
      const done: ModelPart = { type: 'done', reply: { content: [{ type: 'text', text }], stopReason: 'stop', usage } }
      const model = scriptedModel([
        {
          parts: (async function* () {
            for (const [index, part] of parts.entries()) {
              if (index % 2 === 0) await new Promise((resolve) => setImmediate(resolve))
              yield part
            }
            yield done
          })(),
        },
      ])
      const definition = defineAgent({ name: 'a', model })
      const { runtime, url, waiting } = await serveWatched(context, definition)
      const response = await stalled(context, url)
      const agent = runtime.agent('thread')!
      let most = 0
      await new Promise<void>((resolve) => {
        const look = (): void => {
          most = Math.max(most, waiting())
          if (agent.state === 'idle' && agent.conversation.trunk().length === 2) resolve()
          else setImmediate(look)
        }
        look()
      })
      assert.ok(most > 0 && most < 2_000_000, `${most} bytes waited`)
      const events = await readOn(response)
      assert.ok(ofType(events, EventType.TEXT_MESSAGE_CONTENT).length < pieces / 2)
      const client = await verified(events, inputOf().messages)
      assert.is((client.messages.at(-1)!.content as string).length, text.length)
    },
  )

  it('says now and then that it is there', async (context) => {
    const clock = simulatedClock()
    const held = heldReply([delta('one ')], 'one two')
    const { post } = await serveFrontEnds(context, [defineAgent({ name: 'a', model: scriptedModel([held]) })], {
      runtime: { clock },
      limits: { pingMs: 5_000, drainMs: 1 },
    })
    const stream = new Stream(await post(inputOf()))
    await stream.until(hears('one'))
    await clock.advance(11_000)
    await stream.until(({ comments }) => comments.length === 2)
    held.release()
    await stream.ended
    assert.is(stream.comments.length, 2)
  })

  it('carries several runs over one socket, each event with the ids of its run', async (context) => {
    const held = heldReply([delta('one ')], 'one two')
    const models = [scriptedModel([held]), scriptedModel(['other'])]
    const { url, runtime } = await serveFrontEnds(context, [
      defineAgent({ name: 'a', model: models[0]! }),
      defineAgent({ name: 'b', model: models[1]! }),
    ])
    const socket = new WebSocket(url.replace('http', 'ws'))
    context.cleanup(() => socket.terminate())
    const byRun = new Map<string | undefined, Event[]>()
    const looks = new Set<() => void>()
    socket.on('message', (data) => {
      const { threadId, runId, ...event } = JSON.parse((data as Buffer).toString()) as Event & {
        threadId?: string
        runId?: string
      }
      const back =
        event.type === EventType.RUN_STARTED || event.type === EventType.RUN_FINISHED ? { threadId, runId } : {}
      byRun.set(runId, [...(byRun.get(runId) ?? []), { ...event, ...back } as Event])
      for (const look of looks) look()
    })
    const until = (fits: () => boolean): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => {
          if (fits()) resolve()
        }
        looks.add(look)
        look()
      })
    const has = (runId: string | undefined, type: EventType) => (): boolean =>
      byRun.get(runId)?.some((event) => event.type === type) === true
    await new Promise((resolve) => socket.on('open', resolve))
    socket.send(JSON.stringify(inputOf()))
    await until(has('r1', EventType.TEXT_MESSAGE_CONTENT))
    socket.send(JSON.stringify(inputOf({ threadId: 'second', runId: 'r2', forwardedProps: { definition: 'b' } })))
    await until(has('r2', EventType.RUN_FINISHED))
    assert.not(has('r1', EventType.RUN_FINISHED)())
    socket.send(JSON.stringify(inputOf({ runId: 'r3', forwardedProps: { command: 'abort' } })))
    await until(has('r1', EventType.RUN_FINISHED))
    assert.equal(ofType(byRun.get('r1')!, EventType.RUN_FINISHED)[0]!.outcome, { type: 'cancelled' })
    await verified(byRun.get('r1')!)
    await verified(byRun.get('r2')!)
    socket.send('{')
    await until(has(undefined, EventType.RUN_ERROR))
    assert.is(ofType(byRun.get(undefined)!, EventType.RUN_ERROR)[0]!.code, 'BRIDGE_FRAME')
    socket.send(JSON.stringify(inputOf({ runId: 'r4', messages: [] })))
    await until(has('r4', EventType.RUN_ERROR))
    assert.is(runtime.agent('second')!.definition, 'b')
    held.release()
  })

  it('takes context once, and shows what other doors said', async (context) => {
    const model = scriptedModel(['one', 'two', 'three'])
    const { agent: dial, runtime } = await serveFrontEnds(context, [defineAgent({ name: 'a', model })])
    const agent = dial()
    const known = { context: [{ description: 'the page', value: 'prices' }] }
    await say(agent, 'hi', known)
    await say(agent, 'again', known)
    const conversation = runtime.agent('thread')!.conversation
    const [first] = conversation.trunk()
    assert.equal(first!.message.role === 'user' && first!.message.provenance, {
      type: 'memoryTier',
      tier: 'ag-ui',
      recordId: 'the page',
    })
    assert.is(conversation.trunk().length, 5)
    assert.equal(
      agent.messages.map(({ role }) => role),
      ['user', 'assistant', 'user', 'assistant'],
    )
    const stranger = dial()
    stranger.setMessages([{ id: 'made-up', role: 'assistant', content: 'I said so' }])
    const events = await say(stranger, 'and now', {
      tools: [{ name: 'paint', description: 'Paints.', parameters: {} }],
    })
    assert.equal(customs(events, 'tools.ignored'), [{ names: ['paint'] }])
    assert.ok(typesOf(events).includes('MESSAGES_SNAPSHOT'))
    assert.equal(
      stranger.messages.map(({ content }) => content),
      ['hi', 'one', 'again', 'two', 'and now', 'three'],
    )
  })

  it('takes the decision that a server which was started again is waiting for', async (context) => {
    const store = { ...memoryStore(), close: async () => {} }
    const careful = defineTool({
      name: 'careful',
      description: 'Asks.',
      input: z.object({}),
      needsApproval: true,
      run: async () => 'done',
    })
    const definition = (model: ReturnType<typeof scriptedModel>) => defineAgent({ name: 'a', model, tools: [careful] })
    const before = await serveFrontEnds(
      context,
      [definition(scriptedModel([{ toolCalls: [{ name: 'careful', input: {} }] }]))],
      { runtime: { store } },
    )
    const agent = before.agent()
    await say(agent, 'hi')
    const [asked] = agent.pendingInterrupts
    await before.server.close()
    await before.runtime.close()
    const model = scriptedModel(['fine'])
    const after = await serveFrontEnds(context, [definition(model)], { runtime: { store } })
    agent.url = after.url
    await say(agent, undefined, {
      resume: [{ interruptId: asked!.id, status: 'resolved', payload: { approved: true } }],
    })
    assert.is(agent.messages.at(-1)!.content, 'fine')
  })
})
