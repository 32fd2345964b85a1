import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { aiSdkModel } from '../../../../src/aiSdk.ts'
import { askForCache } from '../../src/adapters/askForCache.ts'
import { cacheWay } from '../../src/adapters/cacheWays.ts'
import { toCallOptions } from '../../src/adapters/toCallOptions.ts'
import { askModel } from '../../../../src/actors/turn/askModel.ts'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import type { Block } from '../../../../src/protocol/messages.ts'
import type { ModelRequest, ModelSettings, RequestMessage } from '../../../../src/protocol/ports/model.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { anthropicWire } from '../../../../test/support/wireServer/anthropicWire.ts'
import { ask, partsOf, useWire } from '../../../../test/support/wireServer/useWire.ts'
import { fakeKey } from '../../../../test/support/wireServer/wireFamily.ts'

const text = (value: string): Block => ({ type: 'text', text: value })
const user = (...content: readonly Block[]): RequestMessage => ({ role: 'user', content })
const look = { name: 'look', description: 'Looks.', inputSchema: { type: 'object', properties: {} } }

/** A step of the model with so many calls, and their results. */
const step = (id: string, calls = 1): RequestMessage[] => [
  {
    role: 'assistant',
    content: [
      { type: 'thinking', text: 'hm', signature: 's' },
      ...Array.from({ length: calls }, (_, n): Block => ({
        type: 'toolCall',
        callId: `${id}${n}`,
        name: 'look',
        input: {},
      })),
    ],
  },
  ...Array.from({ length: calls }, (_, n) => toolSays(`${id}${n}`, `seen ${id}${n}`)),
]
const toolSays = (callId: string, value: string): RequestMessage => ({
  role: 'toolResult',
  callId,
  toolName: 'look',
  content: [text(value)],
  isError: false,
})

type Body = Record<string, unknown>

/** The bodies that a real package sends, without a server. */
function wire(): { readonly bodies: Body[]; readonly fetch: typeof globalThis.fetch } {
  const bodies: Body[] = []
  const fetch: typeof globalThis.fetch = async (_, init) => {
    bodies.push(JSON.parse(init?.body as string) as Body)
    return Response.json({ error: { message: 'seen' } }, { status: 400 })
  }
  return { bodies, fetch }
}

async function anthropicBody(request: ModelRequest, options = {}): Promise<Body> {
  const { bodies, fetch } = wire()
  await partsOf(
    aiSdkModel(createAnthropic({ apiKey: fakeKey, fetch })('claude-sonnet-5-5'), options),
    request,
    new AbortController().signal,
  )
  return bodies[0]!
}

/** Where the marks stand, and what is marked. */
function marksIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { cache_control: mark, ...rest } = value as Body
  const what = rest['text'] ?? rest['content'] ?? rest['name'] ?? ''
  return [
    ...(mark === undefined
      ? []
      : [
          `${path} ${typeof what === 'string' ? what.slice(0, 24) : ''} ${(mark as { ttl?: string }).ttl ?? ''}`.trim(),
        ]),
    ...Object.entries(rest).flatMap(([name, field]) => marksIn(field, path === '' ? name : `${path}.${name}`)),
  ]
}

const session = (more: readonly RequestMessage[] = [], settings: ModelSettings = {}): ModelRequest => ({
  system: 'Look.',
  tools: [look],
  messages: [user(text('go')), ...step('a'), ...step('b', 22), ...more],
  settings,
})

describe('prompt caching with Anthropic', (it) => {
  it('is asked for by default: at the frame, at the end of the request before, and at the end', async () => {
    assert.equal(marksIn(await anthropicBody(session())), [
      'system.0 Look.',
      'messages.2.content.0 seen a0',
      'messages.4.content.21 seen b21',
    ])
  })

  it('also where the next fold begins to write: before the index, or after the newest memo or summary', async () => {
    const memo = text('<brake-note kind="memo" steps="n2–n9">looked</brake-note>')
    const index = text('<brake-note kind="index">\nn2 Name\n</brake-note>')
    const folded = (...notes: readonly Block[]): ModelRequest => ({
      ...session(),
      messages: [user(text('go'), ...notes), ...step('a'), ...step('b')],
    })
    for (const notes of [
      [memo, index],
      [memo, text('and')],
      [text('<conversation-summary span="n1–n9">\nx\n</conversation-summary>'), text('and')],
    ]) {
      const marks = marksIn(await anthropicBody(folded(...notes)))
      assert.is(marks.length, 4)
      assert.match(marks[1]!, /^messages\.0\.content\.1 <(brake-note kind="memo"|conversation-summary)/)
    }
  })

  it('keeps for an hour what outlives a turn, once requests often come late, and never after what is kept less long', async () => {
    const way = cacheWay('anthropic.messages', 'claude-sonnet-5-5')!
    const memo = text('<brake-note kind="memo" steps="n2–n9">looked</brake-note>')
    const times = (messages: readonly RequestMessage[], ttl: '5m' | '1h', lasting: '5m' | '1h'): string[] => {
      const request = { ...session(), messages }
      const options = toCallOptions(request, {
        provider: 'anthropic',
        toolImages: 'result',
        cache: { way, ttl, lasting },
      })
      const marks = JSON.stringify(options.prompt).match(/"cacheControl":\{[^}]*\}/g) ?? []
      return marks.map((mark) => (mark.includes('1h') ? '1h' : '5m'))
    }
    const folded = [user(text('go'), memo, text('and')), ...step('a'), ...step('b')]
    assert.equal(times(folded, '5m', '1h'), ['1h', '1h', '5m', '5m'])
    assert.equal(times(folded, '5m', '5m'), ['5m', '5m', '5m', '5m'])
    assert.equal(times(folded, '1h', '1h'), ['1h', '1h', '1h', '1h'])
    // All steps are folded: the memo stands behind the end of the request before.
    const late = [user(text('go')), ...step('a'), user(text('x'), memo, text('and'))]
    const marks = times(late, '5m', '1h')
    assert.is(marks.length, 4)
    assert.not.match(marks.join(), /5m,1h/)
  })

  it('asks for that with auto alone, which is the default', async () => {
    const bodyOf = async (cache: ModelSettings['cache'], comesLate?: true): Promise<string> => {
      const { bodies, fetch } = wire()
      const model = aiSdkModel(createAnthropic({ apiKey: fakeKey, fetch })('claude-sonnet-5-5'))
      const settings = cache === undefined ? {} : { cache }
      const options = { signal: new AbortController().signal, ...(comesLate && { comesLate }) }
      for await (const _ of model.stream(session([], settings), options));
      return JSON.stringify(bodies[0])
    }
    for (const cache of [undefined, {}, { ttl: 'auto' }] as const) {
      assert.not.match(await bodyOf(cache), '1h')
      assert.is((await bodyOf(cache, true)).split('"ttl":"1h"').length, 2)
    }
    assert.not.match(await bodyOf({ ttl: '5m' }, true), '1h')
    assert.not.match(await bodyOf(false, true), 'cache_control')
  })

  it('marks what is sent again, and no note after the conversation', async () => {
    const limit = text('<runtime-note kind="limit">The last turn.</runtime-note>')
    const repair = text('<runtime-note kind="repair">Again.</runtime-note>')
    const marks = marksIn(await anthropicBody(session([user(limit, repair)])))
    assert.equal(marks.at(-1), 'messages.4.content.21 seen b21')
  })

  it('marks no thinking and no empty text', async () => {
    const thought: RequestMessage = { role: 'assistant', content: [{ type: 'thinking', text: 'hm', signature: 's' }] }
    const bare = (messages: readonly RequestMessage[]) => anthropicBody({ ...session(), messages })
    assert.equal(marksIn(await bare([user(text('go')), ...step('a'), thought])), [
      'system.0 Look.',
      'messages.0.content.0 go',
      'messages.2.content.0 seen a0',
    ])
    assert.equal(marksIn(await bare([user(text('go')), step('a')[0]!, toolSays('a0', '')])), [
      'system.0 Look.',
      'messages.0.content.0 go',
    ])
  })

  it('marks the last tool where there are no instructions', async () => {
    assert.equal(marksIn(await anthropicBody({ ...session(), system: '' }))[0], 'messages.2.content.0 seen a0')
    assert.ok(marksIn(await anthropicBody({ ...session(), system: '' })).some((mark) => mark.startsWith('tools.0')))
  })

  it('is kept for an hour when told to, by the model or by the settings, which win', async () => {
    const hour = { ttl: '1h' } as const
    for (const [settings, options] of [
      [{ cache: hour }, {}],
      [{}, { cache: hour }],
      [{ cache: hour }, { cache: false }],
    ] as const)
      assert.ok(marksIn(await anthropicBody(session([], settings), options)).every((mark) => mark.endsWith(' 1h')))
    assert.ok(
      marksIn(await anthropicBody(session([], { cache: {} }), { cache: hour })).every((mark) => !mark.endsWith(' 1h')),
    )
  })

  it('switched off, a request has the bytes that it would have without any of this', async () => {
    const { bodies, fetch } = wire()
    const language = createAnthropic({ apiKey: fakeKey, fetch })('claude-sonnet-5-5')
    const options = { provider: 'anthropic', cache: false, toolImages: 'result' } as const
    await language.doStream(toCallOptions(session(), options)).then(undefined, () => {})
    const plain = JSON.stringify(bodies[0])
    assert.not.match(plain, 'cache')
    assert.is(JSON.stringify(await anthropicBody(session([], { cache: false }))), plain)
    assert.is(JSON.stringify(await anthropicBody(session(), { cache: false })), plain)
  })

  it('leaves the rest of a request as it is', async () => {
    const without = (value: unknown): string =>
      JSON.stringify(value, (key, field: unknown) => (key === 'cache_control' ? undefined : field))
    assert.is(without(await anthropicBody(session())), without(await anthropicBody(session(), { cache: false })))
  })

  it("leaves it to the application where that marks the whole request, and adds to its tools' marks no more than four", async () => {
    const whole = { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }
    const body = await anthropicBody(session([], whole))
    assert.equal([marksIn(body), body['cache_control']], [[''], { type: 'ephemeral' }])
    const tool = (n: number, ttl?: string) => ({
      ...look,
      name: `look${n}`,
      providerOptions: { anthropic: { cacheControl: { type: 'ephemeral', ...(ttl && { ttl }) } } },
    })
    for (const count of [1, 2, 3, 4]) {
      const tools = Array.from({ length: count }, (_, n) => tool(n))
      const marks = marksIn(await anthropicBody({ ...session([], { cache: { ttl: '1h' } }), tools }))
      assert.ok(
        marks.length <= 4 && marks.filter((mark) => mark.startsWith('tools')).length === count,
        marks.join('\n'),
      )
      // An hour may not come after five minutes.
      assert.ok(marks.every((mark) => !mark.endsWith(' 1h')))
    }
  })

  it('is not asked for by a question that nobody goes on from', async (test) => {
    const { server, model } = await useWire(test, anthropicWire, [{ blocks: [{ text: ['a'] }], stop: 'end_turn' }], {})
    const clock = simulatedClock()
    await askModel(model, { system: 'Sum up.', text: 'all', maxTokens: 9, timeoutMs: 9, clock, signal: test.signal })
    assert.not.match(JSON.stringify(server.requests[0]!.body), 'cache')
  })
})

describe('prompt caching elsewhere', (it) => {
  it('is asked for in the way of each provider, by its name and the model', () => {
    const way = (provider: string, model: string) => {
      const found = cacheWay(provider, model)
      return found?.by === 'marks' ? Object.keys(found.mark('5m'))[0] : found?.by
    }
    for (const [provider, model, expected] of [
      ['anthropic.messages', 'claude-sonnet-5-5', 'anthropic'],
      ['vertex.anthropic.messages', 'claude-sonnet-4@20250514', 'anthropic'],
      ['googleVertex.anthropic.messages', 'claude-sonnet-4@20250514', 'anthropic'],
      ['bedrock.anthropic.messages', 'anthropic.claude-sonnet-5', 'anthropic'],
      ['gateway', 'anthropic/claude-sonnet-5-5', 'anthropic'],
      ['gateway', 'openai/gpt-5', undefined],
      ['amazon-bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'bedrock'],
      ['amazon-bedrock', 'anthropic.claude-3-5-haiku-20241022-v1:0', 'bedrock'],
      ['amazon-bedrock', 'anthropic.claude-3-haiku-20240307-v1:0', undefined],
      ['amazon-bedrock', 'anthropic.claude-v2:1', undefined],
      ['amazon-bedrock', 'meta.llama3-3-70b-instruct-v1:0', undefined],
      ['openrouter.chat', 'anthropic/claude-sonnet-5-5', 'openrouter'],
      ['openrouter', 'deepseek/deepseek-v4', undefined],
      ['openai.responses', 'gpt-5', 'key'],
      ['azure.responses', 'my-deployment', 'key'],
      ['deepseek.chat', 'deepseek-chat', undefined],
      ['google.generative-ai', 'gemini-3', undefined],
      ['not-anthropic', 'claude', undefined],
    ] as const)
      assert.is(way(provider, model), expected, `${provider} ${model}`)
  })

  it('changes nothing for any other model', async () => {
    for (const name of ['local', 'deepseek', 'openrouter']) {
      const { bodies, fetch } = wire()
      const language = createOpenAICompatible({ name, baseURL: 'http://localhost', fetch })('qwen')
      for (const cache of [true, false])
        await partsOf(aiSdkModel(language, { cache }), session(), new AbortController().signal)
      assert.equal(bodies[0], bodies[1])
      assert.not.match(JSON.stringify(bodies[0]), 'cache')
    }
  })

  it('reaches OpenRouter through the package for compatible servers', async () => {
    const { bodies, fetch } = wire()
    const language = createOpenAICompatible({ name: 'openrouter', baseURL: 'http://localhost', fetch })(
      'anthropic/claude-sonnet-5-5',
    )
    await partsOf(aiSdkModel(language), session(), new AbortController().signal)
    assert.is(JSON.stringify(bodies[0]).split('"cache_control":{"type":"ephemeral"}').length - 1, 3)
  })

  it('is a key for OpenAI: one for each conversation, and the same for its forks; the application’s own wins', () => {
    const keyed = (request: ModelRequest) => {
      const way = cacheWay('openai.responses', 'gpt-5')!
      const options = toCallOptions(request, {
        provider: 'openai',
        cache: { way, ttl: '5m', lasting: '5m' },
        toolImages: 'result',
      })
      return options.providerOptions as { openai?: { promptCacheKey: string }; azure?: { promptCacheKey: string } }
    }
    const key = (request: ModelRequest) => keyed(request).openai!.promptCacheKey
    assert.match(key(session()), /^escapement-[\w.]{5,40}$/)
    assert.is(key(session()), key(session([user(text('more'))])))
    assert.is.not(key(session()), key(ask('another')))
    const own = { providerOptions: { openai: { promptCacheKey: 'mine', store: false } } }
    assert.equal(keyed(session([], own)), own.providerOptions)
    const azure = keyed(session([], { providerOptions: { azure: { store: false } } })).azure!
    assert.ok(azure.promptCacheKey.startsWith('escapement-'))
  })

  it('marks Bedrock’s messages with points behind them', () => {
    const way = cacheWay('amazon-bedrock', 'anthropic.claude-sonnet-4-5-20250929-v1:0')!
    const options = toCallOptions(session(), { provider: 'amazon-bedrock', cache: false, toolImages: 'result' })
    const { prompt } = askForCache(options, { way, ttl: '1h', lasting: '1h' })
    const points = JSON.stringify(prompt).split('{"bedrock":{"cachePoint":{"type":"default","ttl":"1h"}}}').length - 1
    assert.is(points, 3)
  })
})

describe('the option cache of an agent', (it) => {
  it('goes into the settings of its requests', () => {
    const { model } = { model: createAnthropic({ apiKey: fakeKey })('claude-sonnet-5-5') }
    const settingsOf = (options: object) => defineAgent({ name: 'a', model, ...options }).settings
    assert.equal(settingsOf({}), {})
    assert.equal(settingsOf({ cache: false }), { cache: false })
    assert.equal(settingsOf({ cache: { ttl: '1h' }, settings: { maxTokens: 9 } }), {
      cache: { ttl: '1h' },
      maxTokens: 9,
    })
  })

  it('is false, or how long', () => {
    const { model } = { model: createAnthropic({ apiKey: fakeKey })('claude-sonnet-5-5') }
    for (const cache of [true, 'yes', { ttl: '2h' }, { for: '5m' }])
      assert.throws(() => defineAgent({ name: 'a', model, cache: cache as never }), /cache/)
  })
})
