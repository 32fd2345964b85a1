import { createAnthropic } from '@ai-sdk/anthropic'
import { fakeKey, someUsage, type WireBlock, type WireFamily, type WireReply } from './wireFamily.ts'

const event = (data: { type: string; [key: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

/** Anthropic Messages, streaming. */
export const anthropicWire: WireFamily = {
  name: 'anthropic',
  stops: { stop: 'end_turn', length: 'max_tokens', toolUse: 'tool_use', refusal: 'refusal' },
  model: (url) => createAnthropic({ baseURL: `${url}/v1`, apiKey: fakeKey })('claude-sonnet-4-5'),
  open: (reply) => [start(reply), ...reply.blocks.flatMap(blockEvents)],
  finish: ({ stop, usage = someUsage }: WireReply) => [
    event({
      type: 'message_delta',
      delta: { stop_reason: stop, stop_sequence: null },
      usage: {
        output_tokens: usage.output,
        ...(usage.reasoning !== undefined && { output_tokens_details: { thinking_tokens: usage.reasoning } }),
      },
    }),
    event({ type: 'message_stop' }),
  ],
  error: (type, message) => ({ type: 'error', error: { type, message } }),
  streamError: (type, message) => event({ type: 'error', error: { type, message } }),
}

function start({ usage = someUsage }: WireReply): string {
  const { input, cacheRead = 0, cacheWrite = 0 } = usage
  return event({
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: input - cacheRead - cacheWrite,
        cache_read_input_tokens: cacheRead,
        cache_creation_input_tokens: cacheWrite,
        output_tokens: 1,
      },
    },
  })
}

function blockEvents(block: WireBlock, index: number): string[] {
  const { first, deltas } = describe(block)
  return [
    event({ type: 'content_block_start', index, content_block: first }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ]
}

function describe(block: WireBlock): { first: unknown; deltas: readonly unknown[] } {
  if ('text' in block) {
    return { first: { type: 'text', text: '' }, deltas: block.text.map((text) => ({ type: 'text_delta', text })) }
  }
  if ('redacted' in block) return { first: { type: 'redacted_thinking', data: block.redacted }, deltas: [] }
  if ('thinking' in block) {
    const signed = block.signature === undefined ? [] : [{ type: 'signature_delta', signature: block.signature }]
    const deltas = block.thinking.map((thinking) => ({ type: 'thinking_delta', thinking }))
    return { first: { type: 'thinking', thinking: '', signature: '' }, deltas: [...deltas, ...signed] }
  }
  return {
    first: { type: 'tool_use', id: block.call, name: block.name, input: {}, caller: { type: 'direct' } },
    deltas: block.input.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  }
}
