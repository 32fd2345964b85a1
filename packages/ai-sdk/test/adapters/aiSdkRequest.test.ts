import type { AiSdkModelOptions } from '../../../../src/aiSdk.ts'
import { toCallOptions } from '../../src/adapters/toCallOptions.ts'
import type { Block } from '../../../../src/protocol/messages.ts'
import type { ModelRequest } from '../../../../src/protocol/ports/model.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { anthropicWire } from '../../../../test/support/wireServer/anthropicWire.ts'
import { openaiWire } from '../../../../test/support/wireServer/openaiWire.ts'
import { ask, followUp, partsOf, replyOf, useWire, wireFamilies } from '../../../../test/support/wireServer/useWire.ts'
import type { WireFamily, WireReply } from '../../../../test/support/wireServer/wireFamily.ts'
import type { WireServer } from '../../../../test/support/wireServer/wireServer.ts'

/** A 1×1 GIF. */
const pixel = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'
const schema = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
  additionalProperties: false,
}
const readFile = { name: 'read_file', description: 'Read a file.', inputSchema: schema }
const image: Block = { type: 'image', data: pixel, mimeType: 'image/gif' }
const call = (callId: string): Block => ({ type: 'toolCall', callId, name: 'read_file', input: { path: 'a' } })
const result = (callId: string, content: readonly Block[], isError = false): ModelRequest['messages'][number] => ({
  role: 'toolResult',
  callId,
  toolName: 'read_file',
  content,
  isError,
})
const said = (...content: readonly Block[]): ModelRequest['messages'][number] => ({ role: 'user', content })
const text = (value: string): Block => ({ type: 'text', text: value })
const ok = (family: WireFamily): WireReply => ({ blocks: [{ text: ['ok'] }], stop: family.stops.stop })

interface Wire {
  messages: Record<string, unknown>[]
  [key: string]: unknown
}

/** The messages of the last request on the wire. */
const messagesOf = (server: WireServer): Wire['messages'] => lastBody(server).messages

const lastBody = (server: WireServer): Wire => ({ messages: [], ...server.requests.at(-1)?.body })

/** The body on the wire of one request. */
async function bodyOf(
  test: Parameters<typeof useWire>[0],
  family: WireFamily,
  request: ModelRequest,
  options: AiSdkModelOptions = { cache: false },
): Promise<Wire> {
  const { server, model } = await useWire(test, family, [ok(family)], options)
  await replyOf(model, request, test.signal)
  return lastBody(server)
}

describe('AI SDK request to anthropic', (it) => {
  it('puts instructions, tools and settings where the provider expects them', async (test) => {
    const settings = { maxTokens: 99, temperature: 0.5, stopSequences: ['END'], seed: 7 }
    const body = await bodyOf(test, anthropicWire, ask('hi', { system: 'Be brief.', tools: [readFile], settings }))
    assert.equal(body['system'], [{ type: 'text', text: 'Be brief.' }])
    assert.equal(body.messages, [{ role: 'user', content: [text('hi')] }])
    assert.is(body['max_tokens'], 99)
    assert.is(body['temperature'], 0.5)
    assert.equal(body['stop_sequences'], ['END'])
    const [tool] = body['tools'] as Record<string, unknown>[]
    assert.is(tool?.['name'], 'read_file')
    assert.equal(tool?.['input_schema'], schema)
  })

  it('sends a choice of tools, and none without tools', async (test) => {
    for (const [toolChoice, sent] of [
      ['required', { type: 'any' }],
      ['auto', { type: 'auto' }],
      [{ tool: 'read_file' }, { type: 'tool', name: 'read_file' }],
    ] as const) {
      const body = await bodyOf(test, anthropicWire, ask('hi', { tools: [readFile], settings: { toolChoice } }))
      assert.equal(body['tool_choice'], sent)
    }
    const bare = ask('hi', { settings: { toolChoice: 'required' } })
    assert.is((await bodyOf(test, anthropicWire, bare))['tool_choice'], undefined)
    const options = { provider: 'any', cache: false, toolImages: 'user' } as const
    assert.is(toCallOptions(bare, options).toolChoice, undefined)
  })

  it('sends a signed thought back as it came, byte for byte', async (test) => {
    const signature = 'EqQBCkgIAxABGAIiQL+/zz==\\u00e9"'
    const thinking = { thinking: ['deep ', 'thought\n'], signature }
    const calls = { call: 'call_1', name: 'read_file', input: ['{"path":"a"}'] }
    const { server, model } = await useWire(test, anthropicWire, [
      { blocks: [thinking, calls], stop: 'tool_use' },
      ok(anthropicWire),
    ])
    const parts = await partsOf(model, ask('hi'), test.signal)
    assert.equal(
      parts.slice(0, 3).map(({ type }) => type),
      ['thinking.delta', 'thinking.delta', 'toolCall.delta'],
    )
    const last = parts.at(-1)
    const content = last?.type === 'done' ? last.reply.content : []
    assert.equal(content[0], { type: 'thinking', text: 'deep thought\n', signature })
    await replyOf(
      model,
      ask('hi', { messages: followUp('hi', viaJson(content), result('call_1', [text('A')])) }),
      test.signal,
    )
    const [, assistant, user] = messagesOf(server)
    assert.equal(assistant?.['content'], [
      { type: 'thinking', thinking: 'deep thought\n', signature },
      { type: 'tool_use', id: 'call_1', name: 'read_file', input: { path: 'a' } },
    ])
    assert.equal(user, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'A' }] })
  })

  it('sends redacted thinking back as it came', async (test) => {
    const redacted = 'EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpPkNRj2YfWXGmKDxH4mPnZ5sQ7=='
    const { server, model } = await useWire(test, anthropicWire, [
      { blocks: [{ redacted }, { text: ['hm'] }], stop: 'end_turn' },
      ok(anthropicWire),
    ])
    const { content } = await replyOf(model, ask('hi'), test.signal)
    assert.is(content[0]?.type, 'thinking')
    await replyOf(
      model,
      ask('hi', { messages: followUp('hi', viaJson(content), ...ask('go on').messages) }),
      test.signal,
    )
    const [, assistant] = messagesOf(server)
    assert.equal(assistant?.['content'], [{ type: 'redacted_thinking', data: redacted }, text('hm')])
  })

  it('marks an error result and puts parallel results into one message', async (test) => {
    const messages = followUp(
      'hi',
      [call('c1'), call('c2')],
      result('c1', [text('A')]),
      result('c2', [text('no such file')], true),
    )
    const body = await bodyOf(test, anthropicWire, ask('', { messages }))
    assert.is(body.messages.length, 3)
    assert.equal(body.messages[2]?.['content'], [
      { type: 'tool_result', tool_use_id: 'c1', content: 'A' },
      { type: 'tool_result', tool_use_id: 'c2', content: 'no such file', is_error: true },
    ])
  })

  it('sends images of the user and of a tool result', async (test) => {
    const source = { type: 'base64', media_type: 'image/gif', data: pixel }
    const messages = [
      { role: 'user' as const, content: [text('look'), image] },
      { role: 'assistant' as const, content: [call('c1')] },
      result('c1', [text('a picture'), image]),
    ]
    const body = await bodyOf(test, anthropicWire, ask('', { messages }))
    assert.equal(body.messages[0]?.['content'], [text('look'), { type: 'image', source }])
    assert.equal(body.messages[2]?.['content'], [
      { type: 'tool_result', tool_use_id: 'c1', content: [text('a picture'), { type: 'image', source }] },
    ])
  })

  it('sends images by address as such, of the user and of a tool result', async (test) => {
    const there: Block = { type: 'image', url: 'https://pictures.example/cat.png' }
    const source = { type: 'url', url: 'https://pictures.example/cat.png' }
    const messages = [
      { role: 'user' as const, content: [text('look'), there] },
      { role: 'assistant' as const, content: [call('c1')] },
      result('c1', [there]),
    ]
    const body = await bodyOf(test, anthropicWire, ask('', { messages }))
    assert.equal(body.messages[0]?.['content'], [text('look'), { type: 'image', source }])
    assert.equal(body.messages[2]?.['content'], [
      { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'image', source }] },
    ])
  })

  it('keeps the error mark and the images of an error result, side by side', async (test) => {
    const messages = followUp('hi', [call('c1')], result('c1', [image], true))
    const body = await bodyOf(test, anthropicWire, ask('', { messages }))
    const [answer, , picture] = (body.messages[2]?.['content'] ?? []) as Record<string, unknown>[]
    assert.is(answer?.['is_error'], true)
    assert.is(picture?.['type'], 'image')
  })

  it("turns the thinking level into the provider's own setting", async (test) => {
    const body = await bodyOf(test, anthropicWire, ask('hi', { settings: { thinkingLevel: 'low' } }))
    assert.is((body['thinking'] as Record<string, unknown>)['type'], 'enabled')
  })

  it('passes provider options through', async (test) => {
    const providerOptions = { anthropic: { metadata: { userId: 'u1' } } }
    const body = await bodyOf(test, anthropicWire, ask('hi', { settings: { providerOptions } }))
    assert.equal(body['metadata'], { user_id: 'u1' })
  })
})

describe('AI SDK request to openai-compatible', (it) => {
  it('puts instructions, tools and settings where the provider expects them', async (test) => {
    const settings = {
      maxTokens: 99,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ['END'],
      seed: 7,
      thinkingLevel: 'low' as const,
    }
    const body = await bodyOf(test, openaiWire, ask('hi', { system: 'Be brief.', tools: [readFile], settings }))
    assert.equal(body.messages, [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ])
    assert.is(body['max_tokens'], 99)
    assert.is(body['temperature'], 0.5)
    assert.is(body['top_p'], 0.9)
    assert.is(body['seed'], 7)
    assert.is(body['reasoning_effort'], 'low')
    assert.equal(body['stop'], ['END'])
    const [tool] = body['tools'] as { function: unknown }[]
    assert.equal(tool?.function, { name: 'read_file', description: 'Read a file.', parameters: schema })
  })

  it('sends thinking, the call and its result back as one exchange', async (test) => {
    const { server, model } = await useWire(test, openaiWire, [
      {
        blocks: [
          { thinking: ['hmm'] },
          { text: ['on it'] },
          { call: 'c1', name: 'read_file', input: ['{"path":"a"}'] },
        ],
        stop: 'tool_calls',
      },
      ok(openaiWire),
    ])
    const { content } = await replyOf(model, ask('hi'), test.signal)
    await replyOf(
      model,
      ask('hi', { messages: followUp('hi', viaJson(content), result('c1', [text('A')])) }),
      test.signal,
    )
    assert.equal(messagesOf(server).slice(1), [
      {
        role: 'assistant',
        content: 'on it',
        reasoning_content: 'hmm',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'A' },
    ])
  })

  it('sends the thought signature of a tool call back with that call', async (test) => {
    const signed = { call: 'c1', name: 'read_file', input: ['{}'], thoughtSignature: 'c2lnbmF0dXJl' }
    const { server, model } = await useWire(test, openaiWire, [
      { blocks: [signed, { call: 'c2', name: 'read_file', input: ['{}'] }], stop: 'tool_calls' },
      ok(openaiWire),
    ])
    const { content } = await replyOf(model, ask('hi'), test.signal)
    assert.equal(
      content.filter((block) => block.type === 'toolCall').map((block) => block.callId),
      ['c1', 'c2'],
    )
    const results = [result('c1', [text('A')]), result('c2', [text('B')])]
    await replyOf(model, ask('hi', { messages: followUp('hi', viaJson(content), ...results) }), test.signal)
    const [, assistant] = messagesOf(server)
    const [first, second] = (assistant?.['tool_calls'] ?? []) as Record<string, unknown>[]
    assert.equal(first?.['extra_content'], { google: { thought_signature: 'c2lnbmF0dXJl' } })
    assert.is(second?.['extra_content'], undefined)
    assert.is(assistant?.['reasoning_content'], undefined)
  })

  it('sends images by address as such, with their type or without', async (test) => {
    const url = 'https://pictures.example/cat.webp'
    const images: Block[] = [
      { type: 'image', url },
      { type: 'image', url, mimeType: 'image/webp' },
    ]
    const body = await bodyOf(test, openaiWire, ask('', { messages: [{ role: 'user', content: images }] }))
    const sent = { type: 'image_url', image_url: { url } }
    assert.equal(body.messages[0]?.['content'], [sent, sent])
  })

  it('sends images of the user inline, and those of a tool result in a user message after all results', async (test) => {
    const url = { type: 'image_url', image_url: { url: `data:image/gif;base64,${pixel}` } }
    const messages = [
      { role: 'user' as const, content: [text('look'), image] },
      { role: 'assistant' as const, content: [call('c1'), call('c2')] },
      result('c1', [text('a picture'), image]),
      result('c2', [text('B')]),
    ]
    const body = await bodyOf(test, openaiWire, ask('', { messages }))
    assert.equal(body.messages[0]?.['content'], [text('look'), url])
    assert.equal(body.messages.slice(2), [
      { role: 'tool', tool_call_id: 'c1', content: 'a picture' },
      { role: 'tool', tool_call_id: 'c2', content: 'B' },
      { role: 'user', content: [text('Images from the result of read_file (call c1):'), url] },
    ])
  })

  it("passes provider options through, by the provider's name", async (test) => {
    const settings = { providerOptions: { local: { reasoningEffort: 'high', top_k: 3 } } }
    const body = await bodyOf(test, openaiWire, ask('hi', { settings }))
    assert.is(body['reasoning_effort'], 'high')
    assert.is(body['top_k'], 3)
  })

  it('asks not to be strict about a schema that strict rules cannot say, and leaves others alone', async (test) => {
    for (const [strict, sent] of [
      [false, false],
      [true, true],
      [undefined, true],
    ] as const) {
      const responseFormat = { type: 'json' as const, schema, ...(strict === undefined ? {} : { strict }) }
      const body = await bodyOf(test, openaiWire, ask('hi', { settings: { responseFormat } }))
      assert.is((body['response_format'] as { json_schema: { strict: boolean } }).json_schema.strict, sent)
    }
  })
})

for (const family of wireFamilies) {
  describe(`AI SDK request to ${family.name}, either way`, (it) => {
    it('sends the schema of structured output', async (test) => {
      const responseFormat = { type: 'json' as const, schema, name: 'answer' }
      const body = await bodyOf(test, family, ask('hi', { settings: { responseFormat } }))
      const sent =
        family === anthropicWire
          ? (body['output_config'] as { format: { schema: unknown } }).format.schema
          : (body['response_format'] as { json_schema: { schema: unknown; name: string } }).json_schema.schema
      assert.equal(sent, schema)
    })

    it('says nothing about what the request leaves open', async (test) => {
      const body = await bodyOf(test, family, ask('hi'))
      const allowed = ['model', 'max_tokens', 'messages', 'stream', 'stream_options']
      assert.equal(
        Object.keys(body).filter((key) => !allowed.includes(key)),
        [],
      )
    })

    it('sends a drawing as the text that it is, which no provider takes for an image', async (test) => {
      const drawing: Block = {
        type: 'image',
        mimeType: 'image/svg+xml',
        data: Buffer.from('<svg/>').toString('base64'),
      }
      const messages = followUp('hi', [call('c1')], result('c1', [text('Drawn:'), drawing]))
      const sent = JSON.stringify(await bodyOf(test, family, ask('', { messages: [...messages, said(drawing)] })))
      assert.is(sent.split('<svg/>').length, 3)
      assert.not.match(sent, /base64|"image/)
    })

    it('sends no half of a character, which providers refuse with the whole request', async (test) => {
      const half = 'cut \ud83d'
      const input = { path: half, deep: [{ [half]: 1 }] }
      const messages = followUp(half, [{ ...call('c1'), input } as Block], result('c1', [text(`${half}, whole 😀`)]))
      const tools = [{ ...readFile, description: half, inputSchema: { ...schema, title: half } }]
      const sent = JSON.stringify(await bodyOf(test, family, ask('', { system: half, messages, tools })))
      assert.not.match(sent, /\\ud[89a-f]/)
      assert.match(sent, /cut \ufffd, whole 😀/)
    })

    it('sends a tool input that was not JSON in a form the provider accepts', async (test) => {
      const bad: Block = { type: 'toolCall', callId: 'c1', name: 'read_file', input: '{"path' }
      const messages = followUp('hi', [bad], result('c1', [text('not JSON')], true))
      const body = await bodyOf(test, family, ask('', { messages }))
      const wrapped = { rawInvalidInput: '{"path' }
      const [block] = (body.messages[1]?.['content'] ?? []) as { input: unknown }[]
      const [sent] = (body.messages[1]?.['tool_calls'] ?? []) as { function: { arguments: string } }[]
      assert.equal(family === anthropicWire ? block?.input : JSON.parse(sent?.function.arguments ?? ''), wrapped)
    })
  })
}

/** Blocks after a stay in the log. */
const viaJson = (content: readonly Block[]): Block[] => JSON.parse(JSON.stringify(content))
