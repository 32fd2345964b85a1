import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { aiSdkModel, type AiSdkModel } from '../../../../src/aiSdk.ts'
import type { ProviderBlock } from '../../../../src/protocol/messages.ts'
import { startAgent } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { anthropicWire } from '../../../../test/support/wireServer/anthropicWire.ts'
import { ask, followUp, partsOf, replyOf, useWire } from '../../../../test/support/wireServer/useWire.ts'

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
}
const finish: LanguageModelV4StreamPart = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage }
const text = (id: string, delta: string): LanguageModelV4StreamPart[] => [
  { type: 'text-start', id },
  { type: 'text-delta', id, delta },
  { type: 'text-end', id },
]

/** A language model that streams these replies, and keeps what it was asked. */
function handmade(
  provider: string,
  replies: readonly (readonly unknown[])[],
): { model: AiSdkModel; asked: LanguageModelV4CallOptions[] } {
  const asked: LanguageModelV4CallOptions[] = []
  const doStream = async (options: LanguageModelV4CallOptions) => {
    asked.push(options)
    const parts = [...(replies[asked.length - 1] ?? []), finish] as LanguageModelV4StreamPart[]
    return { stream: ReadableStream.from(parts) }
  }
  return { model: { specificationVersion: 'v4', provider, modelId: 'm1', doStream }, asked }
}

const searching: readonly unknown[] = [
  { type: 'tool-input-start', id: 's1', toolName: 'web_search', providerExecuted: true },
  { type: 'tool-input-delta', id: 's1', delta: '{"query":"Ulm"}' },
  { type: 'tool-input-end', id: 's1' },
  {
    type: 'tool-call',
    toolCallId: 's1',
    toolName: 'web_search',
    input: '{"query":"Ulm"}',
    providerExecuted: true,
    providerMetadata: { hand: { id: 'x1' } },
  },
  { type: 'tool-result', toolCallId: 's1', toolName: 'web_search', result: { hits: 0 }, preliminary: true },
  { type: 'tool-result', toolCallId: 's1', toolName: 'web_search', result: { hits: 1 } },
  { type: 'source', sourceType: 'url', id: 'u1', url: 'https://ulm.example/', title: 'Ulm' },
  ...text('t1', 'It lies on the Danube.'),
]

/** Kind and name of each block that a search leaves. */
const kindsIn = (blocks: readonly { type: string }[]): unknown[] =>
  blocks.map((block) =>
    block.type === 'provider' ? [(block as ProviderBlock).kind, (block as ProviderBlock).name] : block.type,
  )

describe('what a provider does by itself', (it) => {
  it('is kept in the conversation and told in events, answered by nobody, and sent back as it came', async (context) => {
    const { model, asked } = handmade('hand.made', [searching, text('t2', 'Bye.')])
    const { agent, ofType, records } = await startAgent(context, { model: aiSdkModel(model), checkRequests: true })
    const first = await agent.prompt('Where is Ulm?').result
    assert.equal([first.text, first.stopReason, first.turns], ['It lies on the Danube.', 'stop', 1])
    assert.is((await agent.prompt('Thanks.').result).text, 'Bye.')
    assert.equal(kindsIn(ofType('reply.end')[0]!.message.content), [
      ['call', 'web_search'],
      ['result', 'web_search'],
      ['source', 'Ulm'],
      'text',
    ])
    assert.equal(asked[1]!.prompt[1], {
      role: 'assistant',
      content: [
        {
          type: 'tool-call',
          toolCallId: 's1',
          toolName: 'web_search',
          input: { query: 'Ulm' },
          providerExecuted: true,
          providerOptions: { hand: { id: 'x1' } },
        },
        { type: 'tool-result', toolCallId: 's1', toolName: 'web_search', output: { type: 'json', value: { hits: 1 } } },
        { type: 'text', text: 'It lies on the Danube.' },
      ],
    })
    const [, asking] = ofType('turn.request')
    assert.equal(kindsIn(asking!.request.messages[1]!.content), [
      ['call', 'web_search'],
      ['result', 'web_search'],
      'text',
    ])
    assert.equal(ofType('tool.start'), [])
    assert.match(JSON.stringify(await records()), 'https://ulm.example/')
  })

  it('is kept by its own provider through a log, files at addresses and content of its own kind too', async ({
    signal,
  }) => {
    const parts = [
      { type: 'file', mediaType: 'audio/mp3', data: { type: 'data', data: new Uint8Array([1, 2, 3]) } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://pictures.example/a.png') } },
      { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
      { type: 'custom', kind: 'hand.fallback', providerMetadata: { hand: { from: 'm0' } } },
      { type: 'tool-result', toolCallId: 's9', toolName: 'run', result: 'no', isError: true },
    ]
    const { model, asked } = handmade('hand.made', [[...parts, ...text('t', 'ok')], []])
    const { content } = await replyOf(aiSdkModel(model), ask('hi'), signal)
    const kept = JSON.parse(JSON.stringify(content)) as typeof content
    await replyOf(aiSdkModel(model), ask('', { messages: followUp('hi', kept, ...ask('go on').messages) }), signal)
    assert.equal(asked[1]!.prompt[1]!.content, [
      { type: 'file', mediaType: 'audio/mp3', data: { type: 'data', data: 'AQID' } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://pictures.example/a.png') } },
      { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
      { type: 'custom', kind: 'hand.fallback', providerOptions: { hand: { from: 'm0' } } },
      { type: 'tool-result', toolCallId: 's9', toolName: 'run', output: { type: 'error-json', value: 'no' } },
      { type: 'text', text: 'ok' },
    ])
  })

  it('keeps the sources that a text cites, after the text', async ({ signal }) => {
    const source = { type: 'source', sourceType: 'url', id: 'u1', url: 'https://ulm.example/' }
    const [start, delta] = text('t', 'Ulm.')
    const end = { type: 'text-end', id: 't', citations: [{ source, startIndex: 0, endIndex: 3 }] }
    const { model } = handmade('hand.made', [[start, delta, end]])
    const { content } = await replyOf(aiSdkModel(model), ask('hi'), signal)
    assert.equal(kindsIn(content), ['text', ['source', 'https://ulm.example/']])
    assert.equal((content[1] as ProviderBlock).data, { source, startIndex: 0, endIndex: 3 })
  })

  it('is not sent to another provider, which is said', async ({ signal }) => {
    const searched = handmade('hand.made', [searching])
    const { content } = await replyOf(aiSdkModel(searched.model), ask('hi'), signal)
    const other = handmade('other.chat', [text('t', 'ok'), text('t', 'ok')])
    const messages = followUp('hi', content, ...ask('go on').messages)
    const parts = await partsOf(aiSdkModel(other.model), ask('', { messages }), signal)
    assert.equal(parts[0], {
      type: 'warning',
      message: 'What hand did by itself in this conversation is not sent to other.',
    })
    assert.equal(other.asked[0]!.prompt[1]!.content, [{ type: 'text', text: 'It lies on the Danube.' }])
    const onlySearch = content.filter(({ type }) => type === 'provider')
    await partsOf(
      aiSdkModel(other.model),
      ask('', { messages: followUp('hi', onlySearch, ...ask('x').messages) }),
      signal,
    )
    assert.equal(
      other.asked[1]!.prompt.map(({ role }) => role),
      ['user', 'user'],
    )
  })

  it('names the model that answered, where that is not the one that was asked for', async ({ signal }) => {
    const named = async (...modelIds: readonly (string | undefined)[]): Promise<string | undefined> => {
      const metadata = modelIds.map((modelId) => ({ type: 'response-metadata', id: 'r1', modelId }))
      const { model } = handmade('hand.made', [[...metadata, ...text('t', 'ok')]])
      const last = (await partsOf(aiSdkModel(model), ask('hi'), signal)).at(-1)
      return last?.type === 'done' ? last.reply.responseModel : 'it is not done'
    }
    assert.is(await named('m1-2026-11-24'), 'm1-2026-11-24')
    assert.is(await named(undefined, 'm1-new', undefined), 'm1-new')
    assert.is(await named('m1'), undefined)
    assert.is(await named(undefined), undefined)
  })

  it('is said when it cannot be kept, as are warnings of the provider', async ({ signal }) => {
    const warnings = [
      { type: 'unsupported', feature: 'seed' },
      { type: 'unsupported', feature: 'responseFormat', details: 'no schema' },
      { type: 'compatibility', feature: 'topK', details: 'rounded' },
      { type: 'deprecated', setting: 'old', message: 'use new' },
      { type: 'other', message: 'hm' },
    ]
    const { model } = handmade('hand.made', [
      [
        { type: 'stream-start', warnings },
        { type: 'response-metadata', id: 'r1' },
        { type: 'ping' },
        { type: 'raw', rawValue: 1 },
        { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 's1' },
        { type: 'toString' },
        { type: 'from-the-future' },
        ...text('t', 'ok'),
      ],
    ])
    const parts = await partsOf(aiSdkModel(model), ask('hi'), signal)
    assert.equal(
      parts.flatMap((part) => (part.type === 'warning' ? [part.message] : [])),
      [
        '"seed" is not supported',
        '"responseFormat" is not supported: no schema',
        '"topK" is only partly supported: rounded',
        '"old" is deprecated: use new',
        'hm',
        'The provider asks for approval of its own call s1, which cannot be given: let its tool run without.',
        'A part of unknown type "toString" was left out of the reply.',
        'A part of unknown type "from-the-future" was left out of the reply.',
      ],
    )
  })

  it('goes over the wire of anthropic and back', async (test) => {
    const event = (data: { type: string; [key: string]: unknown }) =>
      `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
    const block = (index: number, first: unknown, ...deltas: readonly unknown[]) => [
      event({ type: 'content_block_start', index, content_block: first }),
      ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
      event({ type: 'content_block_stop', index }),
    ]
    const found = {
      type: 'web_search_result',
      url: 'https://ulm.example/',
      title: 'Ulm',
      encrypted_content: 'EqQB==',
      page_age: null,
    }
    const said = { blocks: [], stop: 'end_turn' }
    const { server, model } = await useWire(test, anthropicWire, [
      (exchange) => {
        exchange.send(
          ...anthropicWire.open(said),
          ...block(
            0,
            { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
            { type: 'input_json_delta', partial_json: '{"query":"Ulm"}' },
          ),
          ...block(1, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [found] }),
          ...block(2, { type: 'text', text: '' }, { type: 'text_delta', text: 'On the Danube.' }),
          ...anthropicWire.finish(said),
        )
        exchange.end()
      },
      { blocks: [{ text: ['ok'] }], stop: 'end_turn' },
    ])
    const { content } = await replyOf(model, ask('hi'), test.signal)
    assert.equal(kindsIn(content), [['call', 'web_search'], ['result', 'web_search'], ['source', 'Ulm'], 'text'])
    await replyOf(model, ask('', { messages: followUp('hi', content, ...ask('go on').messages) }), test.signal)
    const { messages } = server.requests.at(-1)!.body as { messages: { content: unknown }[] }
    assert.equal(messages[1]!.content, [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'Ulm' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [found] },
      { type: 'text', text: 'On the Danube.' },
    ])
  })
})
