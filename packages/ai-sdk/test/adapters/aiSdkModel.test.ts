import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { aiSdkModel, type AiSdkModel, isAiSdkModel } from '../../../../src/aiSdk.ts'
import { readError } from '../../src/adapters/readError.ts'
import type { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { ModelPart } from '../../../../src/protocol/ports/model.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { ask, iterate, partsOf, replyOf } from '../../../../test/support/wireServer/useWire.ts'

type DoStream = (
  options: LanguageModelV4CallOptions,
) => PromiseLike<{ stream: ReadableStream<LanguageModelV4StreamPart> }>

/** A language model of version v4 written by hand, for what no real provider package does on demand. */
const handmade = (doStream: DoStream, more: Partial<AiSdkModel> = {}): AiSdkModel => ({
  specificationVersion: 'v4',
  provider: 'hand.made',
  modelId: 'm1',
  doStream,
  ...more,
})

const usage = {
  inputTokens: { total: 10, noCache: undefined, cacheRead: 4, cacheWrite: undefined },
  outputTokens: { total: undefined, text: 3, reasoning: 2 },
}
const finish: LanguageModelV4StreamPart = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage }

const streamOf = (parts: readonly unknown[], end?: (controller: ReadableStreamDefaultController) => void) =>
  new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      for (const part of parts) controller.enqueue(part as LanguageModelV4StreamPart)
      if (end) end(controller)
      else controller.close()
    },
  })

const says = (...parts: readonly unknown[]) => aiSdkModel(handmade(async () => ({ stream: streamOf(parts) })))
const provided = (kind: 'call' | 'result', data: unknown) => ({
  type: 'provider' as const,
  provider: 'hand',
  kind,
  name: 'web_search',
  data,
})
const none: never[] = []
const hang = () => new Promise<never>(() => none)

describe('AI SDK model', (it) => {
  it("is named by the provider's family and the model id", () => {
    const idOf = (provider: string, modelId = 'm1') => aiSdkModel(handmade(hang, { provider, modelId })).id
    assert.is(idOf('anthropic.messages', 'claude-sonnet-4-5'), 'anthropic:claude-sonnet-4-5')
    assert.is(idOf('google.generative-ai', 'gemini'), 'google:gemini')
    assert.is(idOf('amazon-bedrock'), 'amazon-bedrock:m1')
    assert.is(idOf('My Provider!.chat', 'llama3:8b'), 'my-provider-:llama3:8b')
    assert.is(idOf(''), 'unknown:m1')
    assert.is(aiSdkModel(handmade(hang), { id: 'cheap' }).id, 'cheap')
  })

  it('is known by its shape, whatever its version', () => {
    assert.ok(isAiSdkModel(handmade(hang)))
    assert.ok(isAiSdkModel(handmade(hang, { specificationVersion: 'v2' })))
    for (const other of [null, undefined, 'openai/gpt-5', {}, () => {}, { id: 'a:b', stream: () => {} }])
      assert.not.ok(isAiSdkModel(other))
  })

  it('refuses another version of the interface and says which it saw and which it needs', () => {
    const thrown = assert.throws(() => aiSdkModel(handmade(hang, { specificationVersion: 'v2' })), /"v2".*"v4"/)
    assert.is((thrown as RuntimeError).code, 'INVALID_DEFINITION')
  })

  it('refuses a model id without a provider, and what is no model at all', () => {
    for (const [value, words] of [
      ['openai/gpt-5', /is a string/],
      [{ id: 'x' }, /not an AI SDK language model/],
      [undefined, /not an AI SDK language model/],
      [() => {}, /a function/],
    ] as const) {
      const thrown = assert.throws(() => aiSdkModel(value as unknown as AiSdkModel), words)
      assert.is((thrown as RuntimeError).code, 'INVALID_DEFINITION')
    }
  })

  it('closes the connection of a reply that an error ended', async ({ signal }) => {
    const cancelled = Promise.withResolvers<unknown>()
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      start: (controller) => controller.enqueue({ type: 'error', error: new Error('no more') }),
      cancel: (reason) => cancelled.resolve(reason),
    })
    const parts = await partsOf(aiSdkModel(handmade(async () => ({ stream }))), ask('hi'), signal)
    assert.equal(
      parts.map(({ type }) => type),
      ['error'],
    )
    assert.match(String(await cancelled.promise), 'the reply has ended')
  })

  it('streams nothing of calls the provider ran itself, and takes none of them for one to be answered', async ({
    signal,
  }) => {
    const model = says(
      { type: 'stream-start', warnings: [] },
      { type: 'tool-input-start', id: 's1', toolName: 'web_search', providerExecuted: true },
      { type: 'tool-input-delta', id: 's1', delta: '{}' },
      { type: 'tool-call', toolCallId: 's1', toolName: 'web_search', input: '{}', providerExecuted: true },
      { type: 'tool-result', toolCallId: 's1', toolName: 'web_search', result: [] },
      { type: 'source', sourceType: 'url', id: 'u1', url: 'about:blank' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'found' },
      { ...finish, finishReason: { unified: 'tool-calls', raw: undefined } },
    )
    const parts = await partsOf(model, ask('hi'), signal)
    assert.equal(parts, [
      { type: 'text.delta', text: 'found' },
      {
        type: 'done',
        reply: {
          content: [
            provided('call', {
              type: 'tool-call',
              toolCallId: 's1',
              toolName: 'web_search',
              input: {},
              providerExecuted: true,
            }),
            provided('result', {
              type: 'tool-result',
              toolCallId: 's1',
              toolName: 'web_search',
              output: { type: 'json', value: [] },
            }),
            {
              type: 'provider',
              provider: 'hand',
              kind: 'source',
              name: 'about:blank',
              data: { type: 'source', sourceType: 'url', id: 'u1', url: 'about:blank' },
            },
            { type: 'text', text: 'found' },
          ],
          stopReason: 'stop',
          usage: { input: 6, output: 5, cacheRead: 4, cacheWrite: 0, reasoning: 2 },
        },
      },
    ])
  })

  it('keeps blocks in the order they started when they interleave, and an image the model made', async ({ signal }) => {
    const model = says(
      { type: 'reasoning-start', id: '0' },
      { type: 'tool-input-start', id: 'c1', toolName: 'now' },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'b' },
      { type: 'reasoning-delta', id: '0', delta: 'a' },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([1, 2, 3]) } },
      { type: 'text-end', id: '0' },
      { type: 'text-delta', id: '0', delta: 'c' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'now', input: '' },
      finish,
    )
    const { content, stopReason } = await replyOf(model, ask('hi'), signal)
    assert.is(stopReason, 'toolUse')
    assert.equal(content, [
      { type: 'thinking', text: 'a' },
      { type: 'toolCall', callId: 'c1', name: 'now', input: {} },
      { type: 'text', text: 'b' },
      { type: 'image', mimeType: 'image/png', data: 'AQID' },
      { type: 'text', text: 'c' },
    ])
  })

  it('announces a tool call that comes without deltas, and keeps what there is of one that was cut off', async ({
    signal,
  }) => {
    const model = says(
      { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a":1}' },
      { type: 'tool-input-start', id: 'c2', toolName: 'add' },
      { type: 'tool-input-delta', id: 'c2', delta: '{"a"' },
      { ...finish, finishReason: { unified: 'length', raw: undefined } },
    )
    const parts = await partsOf(model, ask('hi'), signal)
    assert.equal(parts[0], { type: 'toolCall.delta', callId: 'c1', name: 'add', text: '{"a":1}' })
    const last = parts.at(-1)
    assert.equal(last?.type === 'done' && last.reply.content, [
      { type: 'toolCall', callId: 'c1', name: 'add', input: { a: 1 } },
      { type: 'toolCall', callId: 'c2', name: 'add', input: '{"a"' },
    ])
  })

  it('sends back with a block what its provider attached to it', async ({ signal }) => {
    const seen: LanguageModelV4CallOptions[] = []
    const marked = { openai: { itemId: 'msg_1' } }
    const reasoned = { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'x=' } }
    const model = aiSdkModel(
      handmade(async (options) => {
        seen.push(options)
        return {
          stream: streamOf([
            { type: 'reasoning-start', id: 'r', providerMetadata: { openai: { itemId: 'rs_1' } } },
            { type: 'reasoning-end', id: 'r', providerMetadata: { openai: { reasoningEncryptedContent: 'x=' } } },
            { type: 'text-start', id: 't', providerMetadata: marked },
            { type: 'text-delta', id: 't', delta: 'hi' },
            {
              type: 'tool-call',
              toolCallId: 'c1',
              toolName: 'now',
              input: '{}',
              providerMetadata: { openai: { itemId: 'fc_1' } },
            },
            { type: 'tool-call', toolCallId: 'c2', toolName: 'now', input: '{}' },
            finish,
          ]),
        }
      }),
    )
    const { content } = await replyOf(model, ask('hi'), signal)
    await replyOf(model, ask('', { messages: [...ask('hi').messages, { role: 'assistant', content }] }), signal)
    assert.equal(seen[1]?.prompt[1]?.content, [
      { type: 'reasoning', text: '', providerOptions: reasoned },
      { type: 'text', text: 'hi', providerOptions: marked },
      {
        type: 'tool-call',
        toolCallId: 'c1',
        toolName: 'now',
        input: {},
        providerOptions: { openai: { itemId: 'fc_1' } },
      },
      { type: 'tool-call', toolCallId: 'c2', toolName: 'now', input: {} },
    ])
  })

  it('counts what the provider reports, and nothing where it reports nothing', async ({ signal }) => {
    const unknown = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }
    const usageOf = async (given: typeof usage | object) =>
      (await replyOf(says({ ...finish, usage: given }), ask('hi'), signal)).usage
    const output = { total: 5, text: undefined, reasoning: undefined }
    assert.equal(await usageOf({ inputTokens: { ...unknown, noCache: 3, cacheWrite: 2 }, outputTokens: output }), {
      input: 3,
      output: 5,
      cacheRead: 0,
      cacheWrite: 2,
    })
    assert.equal(await usageOf({ inputTokens: unknown, outputTokens: { ...output, total: undefined } }), {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
    })
  })

  it('does not call the package when there is nothing to wait for, and offers no tools where there are none', async ({
    signal,
  }) => {
    const seen: LanguageModelV4CallOptions[] = []
    const model = aiSdkModel(
      handmade(async (options) => {
        seen.push(options)
        return { stream: streamOf([finish]) }
      }),
    )
    assert.equal(await partsOf(model, ask('hi'), AbortSignal.abort(new Error('too late'))), [])
    assert.is(seen.length, 0)
    await replyOf(model, ask('hi'), signal)
    assert.equal(Object.keys(seen[0] ?? {}), ['prompt', 'abortSignal'])
  })

  it('ends at once when it is aborted, even if the package ignores the signal or breaks its stream', async () => {
    const abort = new AbortController()
    const ended = { done: true, value: undefined }
    const reached = Promise.withResolvers<void>()
    const waiting = iterate(aiSdkModel(handmade(hang)), abort.signal).next()
    const pull = () => {
      reached.resolve()
      return hang()
    }
    const silent = new ReadableStream<LanguageModelV4StreamPart>({ pull }, { highWaterMark: 0 })
    const reading = iterate(aiSdkModel(handmade(async () => ({ stream: silent }))), abort.signal).next()
    const breaking = handmade(async ({ abortSignal }) => ({
      stream: new ReadableStream({
        start: (controller) => abortSignal?.addEventListener('abort', () => controller.error(new Error('broken'))),
      }),
    }))
    const broken = iterate(aiSdkModel(breaking), abort.signal).next()
    await reached.promise
    abort.abort(new Error('enough'))
    assert.equal(await Promise.all([waiting, reading, broken]), [ended, ended, ended])
  })

  it('cancels a stream that is opened after the abort', async () => {
    const abort = new AbortController()
    const opened = Promise.withResolvers<void>()
    const cancelled = Promise.withResolvers<unknown>()
    const stream = new ReadableStream<LanguageModelV4StreamPart>({ cancel: (reason) => cancelled.resolve(reason) })
    const model = aiSdkModel(handmade(() => opened.promise.then(() => ({ stream }))))
    const pending = iterate(model, abort.signal).next()
    const reason = new Error('enough')
    abort.abort(reason)
    assert.equal(await pending, { done: true, value: undefined })
    opened.resolve()
    assert.is(await cancelled.promise, reason)
  })

  it('gives the reply when the stream breaks after its finish, and an error when it breaks before', async ({
    signal,
  }) => {
    const breaks = (parts: readonly unknown[]) =>
      aiSdkModel(
        handmade(async () => {
          const rest = [...parts]
          return {
            stream: new ReadableStream({
              pull(controller) {
                if (rest.length > 0) controller.enqueue(rest.shift() as LanguageModelV4StreamPart)
                else controller.error(new Error('gone'))
              },
            }),
          }
        }),
      )
    assert.is((await partsOf(breaks([finish]), ask('hi'), signal)).at(-1)?.type, 'done')
    assert.equal(await partsOf(breaks([]), ask('hi'), signal), [
      { type: 'error', error: { kind: 'other', message: 'gone' } },
    ])
  })

  it('turns whatever a package throws into an error part', async ({ signal }) => {
    const thrower = (body: () => never): Promise<ModelPart[]> => partsOf(aiSdkModel(handmade(body)), ask('hi'), signal)
    const throwing = (value: unknown) => () => {
      throw value
    }
    for (const value of [new Error('boom'), 'boom']) {
      assert.equal(await thrower(throwing(value)), [{ type: 'error', error: { kind: 'other', message: 'boom' } }])
    }
    for (const value of [undefined, null, 7, {}]) assert.is((await thrower(throwing(value))).at(-1)?.type, 'error')
  })

  it('reads a reply that ends in an error, or is cut off, as one', async ({ signal }) => {
    const kindOf = async (unified: string) => {
      const last = (await partsOf(says({ ...finish, finishReason: { unified, raw: 'r' } }), ask('hi'), signal)).at(-1)
      return last?.type === 'error' ? last.error.kind : undefined
    }
    assert.is(await kindOf('error'), 'other')
    assert.is(await kindOf('interrupted'), 'network')
  })
})

describe('AI SDK error reading', (it) => {
  const named = (name: string, message: string, more: object = {}) =>
    Object.assign(new Error(message), { name, ...more })

  it('finds the answer of the provider through causes and lists of retried errors', () => {
    const limited = named('AI_APICallError', 'Slow down.', { statusCode: 429, responseHeaders: { 'Retry-After': '3' } })
    const retried = named('AI_RetryError', 'Failed after 2 attempts', {
      errors: [named('AI_APICallError', 'x', { statusCode: 500 }), limited],
    })
    const expected = { kind: 'rateLimited', message: 'HTTP 429: Slow down.', retryAfterMs: 3000 }
    assert.equal(readError(retried), expected)
    assert.equal(readError(new Error('outer', { cause: new Error('inner', { cause: limited }) })), expected)
  })

  it('survives an error that is its own cause', () => {
    const error = new Error('round')
    error.cause = error
    assert.equal(readError(error), { kind: 'other', message: 'round' })
  })

  it('reads a missing key as auth and an unsupported feature as a bad request', () => {
    assert.is(readError(named('AI_LoadAPIKeyError', 'API key is missing.')).kind, 'auth')
    assert.is(readError(named('AI_UnsupportedFunctionalityError', 'no audio')).kind, 'badRequest')
  })

  it('reads codes of an error that has no HTTP status', () => {
    assert.is(readError({ message: 'no', code: 'context_length_exceeded' }).kind, 'overflow')
    assert.is(readError({ message: 'no', code: 429 }).kind, 'rateLimited')
    assert.is(readError({ message: 'no', code: 502 }).kind, 'network')
    assert.is(readError({ message: 'no', type: 'server_error' }).kind, 'network')
    assert.is(
      readError(
        new TypeError('terminated', { cause: named('SocketError', 'other side closed', { code: 'UND_ERR_SOCKET' }) }),
      ).kind,
      'network',
    )
  })

  it('says the cause of a network error', () => {
    const cause = named('Error', 'connect ECONNREFUSED', { code: 'ECONNREFUSED' })
    assert.equal(readError(new TypeError('fetch failed', { cause })), {
      kind: 'network',
      message: 'fetch failed: connect ECONNREFUSED',
    })
  })

  it('blanks keys and shortens what is long', () => {
    const message =
      'Incorrect API key provided: sk-abc***wxyz; sent Authorization: Bearer abc.def, x-api-key=AIzaSyA1234567890, api_key: "q1w2e3"'
    const said = readError(named('AI_APICallError', message, { statusCode: 401 })).message
    for (const key of ['sk-abc', 'abc.def', 'AIzaSy', 'q1w2e3']) assert.not.match(said, key)
    assert.match(said, /Incorrect API key provided: \[redacted\]/)
    assert.ok(readError(new Error('x'.repeat(5000))).message.length <= 1001)
  })
})
