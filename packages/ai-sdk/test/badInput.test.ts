import { defineAgent, defineTool, policyModel } from '../../../src/index.ts'
import { aiSdkChat } from '../../../src/aiSdk.ts'
import { scriptedModel } from '../../../src/testing.ts'
import { isToolUIPart, type UIMessage } from 'ai'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { assert, describe } from '../../../test/support/suite.ts'
import { said, serveChats, shape, until } from './chatHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(({ messages }) => `${messages.length}`) })
const good = { id: 'chat', messages: [said('m1', 'go')] }

/** Bodies with the status and the sentence they are refused with. */
const refused: readonly (readonly [what: string, body: unknown, status: number, sentence: RegExp])[] = [
  ['no JSON', '{', 400, /^The request is not JSON\./],
  ['something else', { some: 'thing' }, 400, /^This is not a request of useChat: id/],
  ['no messages', { id: 'chat', messages: [] }, 400, /messages/],
  ['an id that is a path', { ...good, id: '../secret' }, 400, /"\.\.\/secret" is not an agent id/],
  ['a message that says nothing', { id: 'chat', messages: [{ id: 'm1', role: 'user', parts: [] }] }, 400, /empty/],
  ['a message without an id', { id: 'chat', messages: [said('', 'go')] }, 400, /cannot be the id of a message/],
  [
    'a video by its address',
    {
      id: 'chat',
      messages: [
        { id: 'm1', role: 'user', parts: [{ type: 'file', mediaType: 'video/mp4', url: 'https://a.example/b.mp4' }] },
      ],
    },
    400,
    /A file of type "video\/mp4" came by its address/,
  ],
  [
    'a decision of nothing',
    { id: 'chat', messages: [{ id: 'a1', role: 'assistant', parts: [] }] },
    409,
    /waits any more/,
  ],
  ['another answer to nothing', { ...good, trigger: 'regenerate-message' }, 400, /Only the newest answer/],
  [
    'a rule that holds for no time that there is',
    { ...good, answers: { a: { decision: 'approve', grant: { rule: 'x', scope: 'ever' } } } },
    400,
    /answers/,
  ],
  ['answers that are none', { ...good, answers: { a: 'perhaps' } }, 400, /answers/],
  ['what is nested too deep', `{"id":"chat","messages":${'['.repeat(80)}${']'.repeat(80)}}`, 400, /nested deeper/],
]

describe('a chat is refused, in a sentence and with nothing done,', (it) => {
  for (const [what, body, status, sentence] of refused) {
    it(what, async (context) => {
      const serving = await serveChats(context, [echo])
      const response = await serving.post(body)
      assert.equal([response.status, response.headers.get('content-type')], [status, 'text/plain; charset=utf-8'])
      const text = await response.text()
      assert.match(text, sentence)
      assert.not.match(text, /docs\/protocol\.md|named option/, 'the advice is for this endpoint')
      if (status === 400 && !/an agent id|empty|came by/.test(text))
        assert.match(text, / escapement\/docs\/useChat\.md lists the requests\.$/)
      assert.equal(serving.runtime.agent('chat')?.conversation.log() ?? [], [])
    })
  }

  it('by another method, at another place or as another type', async (context) => {
    const { api, post } = await serveChats(context, [echo])
    const asked = await Promise.all([
      fetch(api),
      fetch(`${api}/chat/stream`, { method: 'POST' }),
      fetch(`${api}/chat/other`),
      fetch(`${api}/`),
      post(good, { headers: { 'content-type': 'text/plain' } }),
    ])
    assert.equal(
      asked.map(({ status }) => status),
      [405, 405, 404, 404, 415],
    )
    assert.equal(
      [asked[0].headers.get('allow'), asked[1].headers.get('allow')],
      ['POST, OPTIONS', 'GET, DELETE, OPTIONS'],
    )
  })

  it('when it is larger than the server takes', async (context) => {
    const serving = await serveChats(context, [echo], { limits: { frameBytes: 1_000 } })
    const response = await serving.post({ id: 'chat', messages: [said('m1', 'x'.repeat(2_000))] })
    assert.is(response.status, 413)
    assert.match(await response.text(), /larger than 1000 bytes/)
  })

  it('an approval that is given for something else', async (context) => {
    const asks = defineTool({
      name: 'asks',
      description: 'Asks.',
      input: z.object({}),
      needsApproval: true,
      run: async () => 'done',
    })
    const model = scriptedModel([{ toolCalls: [{ name: 'asks', input: {} }] }])
    const serving = await serveChats(context, [defineAgent({ name: 'a', model, tools: [asks] })])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'go' })
    const [message] = chat.messages.slice(1)
    const parts = message!.parts.map((part) =>
      isToolUIPart(part) ? { ...part, state: 'approval-responded', approval: { id: 'another', approved: true } } : part,
    )
    const response = await serving.post({ id: 'chat', messages: [{ ...message, parts }] })
    assert.is(response.status, 409)
    assert.is(serving.runtime.agent('chat')!.pending().length, 1)
  })

  it('to change what was said', async (context) => {
    const serving = await serveChats(context, [echo])
    const chat = serving.chat()
    await chat.sendMessage({ text: 'go' })
    await chat.sendMessage({ text: 'stop', messageId: chat.messages[0]!.id })
    assert.match(chat.error?.message ?? '', /what was said cannot be changed/)
  })

  it('over a WebSocket', async (context) => {
    const serving = await serveChats(context, [echo])
    const socket = new WebSocket(serving.api.replace('http', 'ws'))
    context.cleanup(() => socket.terminate())
    const answers: { type: string; requestId: string; errorText?: string }[] = []
    const all = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        answers.push(JSON.parse(data.toString()) as (typeof answers)[number])
        if (answers.length === 4) resolve()
      })
    })
    await new Promise((resolve) => socket.on('open', resolve))
    socket.send('{')
    socket.send('{"type":"shout","requestId":"r1"}')
    socket.send(JSON.stringify({ type: 'send', requestId: 'r2', id: 'chat', messages: [] }))
    socket.send(JSON.stringify({ type: 'abort', requestId: 'unknown' }))
    socket.send(JSON.stringify({ type: 'resume', requestId: 'r3', id: '../x' }))
    await all
    assert.equal(
      answers.map(({ type, requestId }) => [type, requestId]),
      [
        ['error', ''],
        ['error', 'r1'],
        ['error', 'r2'],
        ['error', 'r3'],
      ],
    )
  })

  it('with a definition that is not served, when the server starts', async (context) => {
    const endpoints = [aiSdkChat({ definition: 'ecco' })]
    await assert.rejects(
      serveChats(context, [echo], { endpoints }),
      /aiSdkChat: "ecco" is not among the definitions of serve \(there are: echo; did you mean "echo"\?\)/,
    )
  })

  it('with the id of an agent of another definition than the one the endpoint is for', async (context) => {
    const other = defineAgent({ name: 'other', model: policyModel(() => 'A secret of the other.') })
    const serving = await serveChats(context, [other, echo], { endpoints: [aiSdkChat({ definition: 'echo' })] })
    const agent = await serving.runtime.spawn(other, { id: 'chat' })
    await agent.prompt('go').result
    const at = (path: string, init: RequestInit = {}) => fetch(`${serving.api}/chat${path}`, init)
    const answers = await Promise.all([
      serving.post({ id: 'chat', messages: [said('m1', 'go')] }),
      at('/stream'),
      at('/stream', { method: 'DELETE' }),
      at(''),
    ])
    for (const answer of answers) {
      assert.is(answer.status, 400, answer.url)
      assert.match(
        await answer.text(),
        /^id: "chat" is an agent of "other", and this is for those of "echo"\. escapement\/docs/,
      )
    }
    assert.is(agent.conversation.log().length, 2)
  })

  it('with options that are none', () => {
    for (const options of [{ path: 'chat' }, { path: '/' }, { definition: '' }, { agent: 'a' }])
      assert.throws(() => aiSdkChat(options), /aiSdkChat: /)
    assert.throws(() => aiSdkChat({ defintion: 'a' } as object), /did you mean "definition"\?/)
  })
})

describe('a chat goes on', (it) => {
  it('for a client that shows parts of its own making', async (context) => {
    const asks = defineTool({
      name: 'asks',
      description: 'Asks.',
      input: z.object({}),
      needsApproval: true,
      run: async () => 'done',
    })
    const made: readonly (readonly object[])[] = [
      [{ type: 'text', growing: null }],
      [{ type: 'step-start' }, { type: 'dynamic-tool', growing: { of: 'call' }, approval: null }],
      [
        { type: 'step-start', growing: { of: 'text' } },
        { type: 'data-x', id: null },
      ],
    ]
    for (const [index, parts] of made.entries()) {
      const model = scriptedModel([{ toolCalls: [{ name: 'asks', input: {} }] }, 'Done.'])
      const serving = await serveChats(context, [defineAgent({ name: 'a', model, tools: [asks] })])
      const chat = serving.chat()
      await chat.sendMessage({ text: 'go' })
      const [asked, { id, role }] = chat.messages as [UIMessage, UIMessage]
      const answers = { [serving.runtime.agent('chat')!.pending()[0]!.key]: 'approve' }
      const response = await serving.post({ id: 'chat', messages: [asked, { id, role, parts }], answers })
      assert.match(await response.text(), /"delta":"Done\."[^]*\[DONE\]\n\n$/, `${index}`)
    }
  })
})

describe('chats of several users', (it) => {
  it('are out of reach of one another', async (context) => {
    const users = new Map([
      ['Bearer the-token-of-ann', 'ann'],
      ['Bearer the-token-of-bob', 'bob'],
    ])
    const serving = await serveChats(context, [echo], {
      endpoints: [aiSdkChat({ definition: 'echo' })],
      authenticate: ({ headers }) => {
        const userId = users.get(headers.authorization ?? '')
        return userId === undefined ? null : { role: 'admin', metadata: { userId } }
      },
    })
    const [ann, bob] = [...users.keys()].map((authorization) => ({ authorization }))
    await serving.chat({ id: 'of-ann', headers: ann! }).sendMessage({ text: 'go' })
    const requests: readonly (readonly [string, RequestInit])[] = [
      ['/of-ann', {}],
      ['/of-ann/stream', {}],
      ['/of-ann/stream', { method: 'DELETE' }],
    ]
    for (const [path, init] of requests) {
      // Nothing tells that there is such a chat.
      const response = await fetch(`${serving.api}${path}`, { ...init, headers: bob! })
      assert.ok(response.status === 204 || (await response.text()) === '[]', path)
      assert.is((await fetch(`${serving.api}${path}`, init)).status, 401, path)
      const own = await fetch(`${serving.api}${path}`, { ...init, headers: ann! })
      if (init.method === undefined) assert.match(await own.text(), /go|finish/, path)
    }
    const other = serving.chat({ id: 'of-ann', headers: bob! })
    await other.sendMessage({ text: 'and I?' })
    assert.is(other.status, 'error')
    assert.is(serving.runtime.agent('of-ann')?.conversation.log().length, 2)
  })
})

describe('a client that does not read', (it) => {
  it('takes no memory for what it misses, and has all of it in the end', { timeoutMs: 20_000 }, async (context) => {
    const piece = 'word '.repeat(10_000)
    const count = 400
    const parts = (async function* () {
      for (let index = 0; index < count; index += 1) {
        await new Promise((resolve) => setImmediate(resolve))
        yield { type: 'text.delta', text: piece } as const
      }
      const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
      const content = [{ type: 'text', text: piece.repeat(count) } as const]
      yield { type: 'done', reply: { content, stopReason: 'stop', usage } } as const
    })()
    const serving = await serveChats(context, [defineAgent({ name: 'a', model: scriptedModel([{ parts }]) })])
    const response = await serving.post(good)
    const agent = serving.runtime.agent('chat')!
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (agent.state === 'idle') resolve()
      }
      agent.subscribe(look)
      look()
    })
    const chunks = (await response.text())
      .split('\n\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)) as { type: string; delta?: string })
    const deltas = chunks.flatMap(({ type, delta = '' }) => (type === 'text-delta' ? [delta] : []))
    assert.is(deltas.join(''), piece.repeat(count))
    assert.ok(deltas.length < count, `${deltas.length} pieces`)
    assert.is(chunks.at(-1)?.type, 'finish')
  })
})

describe('a tool of a chat', (it) => {
  it('shows its progress, which no message keeps', async (context) => {
    const gate = Promise.withResolvers<void>()
    const digs = defineTool({
      name: 'digs',
      description: 'Digs.',
      input: z.object({}),
      run: async (_, { report }) => {
        report({ percent: 40 })
        await gate.promise
        return 'done'
      },
    })
    const model = scriptedModel([{ toolCalls: [{ name: 'digs', input: {} }] }, 'Deep.'])
    const serving = await serveChats(context, [defineAgent({ name: 'a', model, tools: [digs] })])
    const seen: unknown[] = []
    const chat = serving.chat({
      onData: (part) => {
        seen.push(part)
        gate.resolve()
      },
    })
    await chat.sendMessage({ text: 'go' })
    await until(chat, ({ status }) => status === 'ready')
    assert.equal(seen, [{ type: 'data-progress', id: 'call_0_0', data: { percent: 40 }, transient: true }])
    assert.equal(shape(chat.messages[1]), ['step-start', 'digs:output-available', 'step-start', 'text Deep.'])
  })
})
