import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { fakeKey, someUsage, type WireBlock, type WireFamily, type WireUsage } from './wireFamily.ts'

const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`

const chunk = (choices: readonly unknown[], more: object = {}) =>
  event({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'test-model', choices, ...more })

const delta = (part: object) => chunk([{ index: 0, delta: part, finish_reason: null }])

/** OpenAI chat completions, streaming, as the many compatible servers speak it. */
export const openaiWire: WireFamily = {
  name: 'openai-compatible',
  stops: { stop: 'stop', length: 'length', toolUse: 'tool_calls', refusal: 'content_filter' },
  model: (url) =>
    createOpenAICompatible({
      name: 'local.chat',
      baseURL: `${url}/v1`,
      apiKey: fakeKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })('test-model'),
  open(reply) {
    const calls = reply.blocks.filter((block) => 'call' in block)
    return [delta({ role: 'assistant', content: '' }), ...reply.blocks.flatMap((block) => deltas(block, calls))]
  },
  finish: ({ stop, usage = someUsage }) => [
    chunk([{ index: 0, delta: {}, finish_reason: stop }]),
    chunk([], { usage: toUsage(usage) }),
    'data: [DONE]\n\n',
  ],
  error: (type, message) => ({ error: { type, message, param: null, code: null } }),
  streamError: (type, message) => event({ error: { type, message } }),
}

function toUsage({ input, output, cacheRead, reasoning }: WireUsage): unknown {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cacheRead !== undefined && { prompt_tokens_details: { cached_tokens: cacheRead } }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }
}

function deltas(block: WireBlock, calls: readonly WireBlock[]): string[] {
  if ('text' in block) return block.text.map((content) => delta({ content }))
  if ('thinking' in block) return block.thinking.map((reasoning_content) => delta({ reasoning_content }))
  if ('redacted' in block) return []
  const index = calls.indexOf(block)
  const call = (part: object) => delta({ tool_calls: [{ index, ...part }] })
  const signed = block.thoughtSignature && { extra_content: { google: { thought_signature: block.thoughtSignature } } }
  return [
    call({ id: block.call, type: 'function', function: { name: block.name, arguments: '' }, ...signed }),
    ...block.input.map((text) => call({ function: { arguments: text } })),
  ]
}
