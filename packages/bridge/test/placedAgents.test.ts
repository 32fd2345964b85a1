import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpAgent } from '@ag-ui/client'
import { EventType, type Event, type Interrupt } from '@ag-ui/core'
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
import { Chat } from '@ai-sdk/react'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { acp } from '../../../src/acp.ts'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { agUi } from '../../../src/agUi.ts'
import { aiSdkChat } from '../../../src/aiSdk.ts'
import { createRuntime, type Runtime } from '../src/createRuntime.ts'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { noUsage } from '../../../src/protocol/messages.ts'
import type { Model } from '../../../src/protocol/ports/model.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { mcpServer } from '../../mcp/src/server/mcpServer.ts'
import { sqliteStore } from '../../sqlite/src/sqliteStore.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { checkLog } from '../../../test/support/journeyRules.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { choose, openEditor } from '../../acp/test/acpHarness.ts'
import { inputOf, ofType, readEvents, say, Stream, verified } from '../../ag-ui/test/agUiHarness.ts'
import { settled, shape, until } from '../../ai-sdk/test/chatHarness.ts'
import { placer, type Placer } from './server/placing.ts'
import { call } from '../../mcp/test/server/mcpHarness.ts'

const patient = { timeoutMs: 15_000 }

const careful = defineTool({
  name: 'careful',
  description: 'Asks first.',
  input: z.object({}),
  needsApproval: true,
  run: async () => 'done',
})
const asks = { toolCalls: [{ name: 'careful', input: {}, callId: 'c1' }] }

/** Says something, and then nothing more until it is to answer. */
function hanging(): { answers: boolean; readonly model: Model; asked(times: number): Promise<void> } {
  const waiting = new Map<number, () => void>()
  let count = 0
  const story = { answers: false }
  const model: Model = {
    id: 'story',
    async *stream(_request, { signal }) {
      waiting.get(++count)?.()
      yield { type: 'text.delta', text: story.answers ? 'the end' : 'once' }
      if (!story.answers) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      const content = [{ type: 'text' as const, text: 'the end' }]
      yield { type: 'done', reply: { content, stopReason: 'stop', usage: noUsage } }
    },
  }
  const asked = (times: number): Promise<void> =>
    new Promise((resolve) => (count >= times ? resolve() : waiting.set(times, resolve)))
  return Object.assign(story, { model, asked })
}

interface House {
  readonly engine: Placer
  readonly definitions: readonly AgentDefinition[]
  /** Runtime of the server, in which nothing works. */
  readonly runtime: Runtime
  store(): Store
  place(path: string): string
}

/** A server whose agents work in another process, as an engine would have it. */
async function openHouse(
  { cleanup }: CaseContext,
  definitions: readonly AgentDefinition[],
  { isHere = false } = {},
): Promise<House> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-placed-'))
  cleanup(() => rm(dir, { recursive: true, force: true }))
  const store = (): Store => sqliteStore(join(dir, 'agents.db'))
  const runtime = await createRuntime({ store: store() })
  cleanup(() => runtime.close())
  const engine = await placer({ cleanup }, store, definitions, isHere ? runtime : undefined)
  const endpoints = [agUi(), aiSdkChat(), acp(), mcpServer(runtime, definitions).endpoint()]
  const server = await runtime.serve({ definitions, endpoints, dispatch: engine })
  return { engine, definitions, runtime, store, place: (path) => `http://127.0.0.1:${server.port}${path}` }
}

async function checkAll({ runtime, store, engine }: House, id: string): Promise<void> {
  assert.equal(runtime.agents(), [], 'nothing works in the server')
  assert.ok(engine.runtime.agent(id))
  const records = []
  for await (const record of store().read(id)) records.push(record)
  assert.equal(checkLog(records, { isWhole: true }), [])
}

const endOf = (events: readonly Event[]) => ofType(events, EventType.RUN_FINISHED)[0]

function interruptsOf(events: readonly Event[]): readonly Interrupt[] {
  const { outcome } = endOf(events)!
  return outcome?.type === 'interrupt' ? outcome.interrupts : []
}

describe('other protocols where an engine has the agents', (it) => {
  it('have them prompted and decided there by AG-UI', patient, async (context) => {
    const model = scriptedModel([asks, 'went well', 'and on'])
    const house = await openHouse(context, [defineAgent({ name: 'a', model, tools: [careful] })])
    const agent = new HttpAgent({ url: house.place('/ag-ui'), threadId: 'thread' })
    const [interrupt] = interruptsOf(await say(agent, 'do it'))
    assert.is(interrupt?.reason, 'tool_call')
    const resume = [{ interruptId: interrupt!.id, status: 'resolved', payload: { approved: true } }] as const
    const decided = await say(agent, undefined, { resume: [...resume] })
    assert.equal(endOf(decided)?.result, { stopReason: 'stop', text: 'went well' })
    assert.equal(endOf(await say(agent, 'more'))?.result, { stopReason: 'stop', text: 'and on' })
    assert.equal(
      agent.messages.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant'],
    )
    assert.equal(house.engine.commands, ['agent.prompt', 'agent.decide', 'agent.prompt'])
    await checkAll(house, 'thread')
  })

  it('have them prompted and decided there by useChat', patient, async (context) => {
    const model = scriptedModel([asks, 'went well', 'and on'])
    const house = await openHouse(context, [defineAgent({ name: 'a', model, tools: [careful] })])
    const chat = new Chat<UIMessage>({
      id: 'chat',
      transport: new DefaultChatTransport({ api: house.place('/api/chat') }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    })
    await chat.sendMessage({ text: 'do it' })
    const part = chat.lastMessage!.parts.find(isToolUIPart)
    assert.is(part?.state, 'approval-requested')
    if (part?.state !== 'approval-requested') return
    await chat.addToolApprovalResponse({ id: part.approval.id, approved: true })
    await until(chat, ({ lastMessage }) => shape(lastMessage).includes('text went well'))
    await settled(chat)
    await chat.sendMessage({ text: 'more' })
    assert.match(JSON.stringify(chat.lastMessage), 'and on')
    assert.is(chat.error, undefined)
    await checkAll(house, 'chat')
  })

  it('have them prompted and decided there by ACP', patient, async (context) => {
    const model = scriptedModel([asks, 'went well'])
    const house = await openHouse(context, [defineAgent({ name: 'a', model, tools: [careful] })])
    const stream = createWebSocketStream(house.place('/acp').replace('http', 'ws'), { WebSocket })
    const editor = await openEditor(context, stream, { answer: () => choose('allow') })
    const sessionId = await editor.open()
    assert.is((await editor.say(sessionId, 'do it')).stopReason, 'end_turn')
    assert.is(editor.text('agent_message_chunk'), 'went well')
    assert.is(editor.asked.length, 1)
    await checkAll(house, sessionId)
  })

  for (const mode of ['legacy', { pin: '2026-07-28' }] as const)
    it(`have them called there by MCP (${JSON.stringify(mode)})`, patient, async (context) => {
      const model = scriptedModel(['one', 'two'])
      const house = await openHouse(context, [defineAgent({ name: 'a', description: 'answers', model })])
      const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
      context.cleanup(() => client.close().catch(() => {}))
      await client.connect(new StreamableHTTPClientTransport(new URL(house.place('/mcp'))))
      const first = await call(client, 'a', { task: 'hello' })
      assert.is(first.text, 'one')
      assert.is((await call(client, 'a', { task: 'more', session: first.session })).text, 'two')
      await checkAll(house, first.session)
    })

  it('hear of a run that goes on elsewhere as of one run, in AG-UI and useChat', patient, async (context) => {
    const story = hanging()
    const house = await openHouse(context, [defineAgent({ name: 'a', model: story.model })])
    const post = (path: string, body: object): Promise<Response> =>
      fetch(house.place(path), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const [run, chat] = await Promise.all([
      post('/ag-ui', inputOf()),
      post('/api/chat', { id: 'chat', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }] }),
    ])
    await story.asked(2)
    story.answers = true
    await house.engine.move()
    const events = await readEvents(run)
    assert.equal(endOf(events)?.result, { stopReason: 'stop', text: 'the end' })
    assert.is(ofType(events, EventType.RUN_STARTED).length, 1)
    const said = await chat.text()
    assert.match(said, 'the end')
    assert.match(said, '"finishReason":"stop"')
    await Promise.all([checkAll(house, 'thread'), checkAll(house, 'chat')])
  })

  it('are told what the engine refuses, and nothing has begun then', patient, async (context) => {
    const house = await openHouse(context, [defineAgent({ name: 'a', model: scriptedModel(['one', 'two']) })])
    const command = house.engine.command
    const agent = new HttpAgent({ url: house.place('/ag-ui'), threadId: 'thread' })
    await say(agent, 'hello')
    Object.assign(house.engine, {
      command: async () => {
        throw new RuntimeError('QUEUE_FULL', 'It has enough to do.')
      },
    })
    const refused = await fetch(house.place('/ag-ui'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(inputOf({ runId: 'r2', messages: [{ id: 'm2', role: 'user', content: 'more' }] })),
    })
    assert.match(await refused.text(), 'QUEUE_FULL')
    Object.assign(house.engine, { command })
    assert.equal(endOf(await say(agent, 'again'))?.result, { stopReason: 'stop', text: 'two' })
  })

  it('ask what agents below them ask, and hear them while they work', patient, async (context) => {
    const child = defineAgent({
      name: 'child',
      description: 'asks',
      model: scriptedModel([asks, 'asked']),
      tools: [careful],
    })
    const model = scriptedModel([{ toolCalls: [{ name: 'child', input: { task: 'go' } }] }, 'all done'])
    const house = await openHouse(context, [defineAgent({ name: 'a', model, agents: [child] })])
    const agent = new HttpAgent({ url: house.place('/ag-ui'), threadId: 'thread' })
    const [interrupt] = interruptsOf(await say(agent, 'do it'))
    assert.ok(interrupt?.subagentRunId)
    const resume = [{ interruptId: interrupt.id, status: 'resolved', payload: { approved: true } }] as const
    const decided = await say(agent, undefined, { resume: [...resume] })
    assert.equal(endOf(decided)?.result, { stopReason: 'stop', text: 'all done' })
    assert.match(JSON.stringify(decided), 'asked')
    await checkAll(house, 'thread')
  })

  it('abort what an engine has, and a second client sees the same', patient, async (context) => {
    const story = hanging()
    const house = await openHouse(context, [defineAgent({ name: 'a', model: story.model })])
    const ask = (runId: string, more: object = {}): Promise<Response> =>
      fetch(house.place('/ag-ui'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(inputOf({ runId, ...more })),
      })
    const first = await ask('r1')
    await story.asked(1)
    const second = new Stream(await ask('r1'))
    await readEvents(await ask('r2', { messages: [], forwardedProps: { command: 'abort' } }))
    assert.is(endOf(await readEvents(first))?.outcome?.type, 'cancelled')
    await second.ended
    assert.is(endOf(second.events)?.outcome?.type, 'cancelled')
  })

  it('hear a reply grow where the server itself has the agent, and once what was cut off', patient, async (context) => {
    const story = hanging()
    const house = await openHouse(context, [defineAgent({ name: 'a', model: story.model })], { isHere: true })
    const post = (path: string, body: object): Promise<Response> =>
      fetch(house.place(path), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const run = new Stream(await post('/ag-ui', inputOf()))
    await run.until(({ events }) => ofType(events, EventType.TEXT_MESSAGE_CONTENT)[0]?.delta === 'once')
    const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }]
    const chat = await post('/api/chat', { id: 'chat', messages })
    const reader = chat.body!.pipeThrough(new TextDecoderStream()).getReader()
    let said = ''
    while (!said.includes('"delta":"once"')) said += (await reader.read()).value ?? ''
    story.answers = true
    for (const id of ['thread', 'chat']) {
      await house.runtime.detach(id)
      await house.runtime.open(id, house.definitions[0]!)
    }
    await run.ended
    assert.equal(endOf(run.events)?.result, { stopReason: 'stop', text: 'the end' })
    const client = await verified(run.events)
    assert.equal(
      client.messages.map(({ content }) => content),
      ['hello', 'the end'],
    )
    for (let read = await reader.read(); !read.done; read = await reader.read()) said += read.value
    assert.match(said, 'the end')
  })
})
