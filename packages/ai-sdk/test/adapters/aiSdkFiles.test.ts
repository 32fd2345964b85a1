import type { Block } from '../../../../src/protocol/messages.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { anthropicWire } from '../../../../test/support/wireServer/anthropicWire.ts'
import { openaiWire } from '../../../../test/support/wireServer/openaiWire.ts'
import { ask, followUp, partsOf, useWire } from '../../../../test/support/wireServer/useWire.ts'
import type { WireFamily } from '../../../../test/support/wireServer/wireFamily.ts'
import type { ModelRequest } from '../../../../src/protocol/ports/model.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const pdf = { type: 'file', data: base64('%PDF-'), mimeType: 'application/pdf', name: 'a.pdf' } as const
const csv = { type: 'file', data: base64('a,b\n1,2'), mimeType: 'text/csv', name: 'a.csv' } as const
const ogg = { type: 'file', data: base64('OggS'), mimeType: 'audio/ogg' } as const
const wav = { type: 'file', data: base64('RIFF'), mimeType: 'audio/wav' } as const
const text = (value: string): Block => ({ type: 'text', text: value })
const call: Block = { type: 'toolCall', callId: 'c1', name: 'fetch', input: {} }
const result = (content: readonly Block[]): ModelRequest['messages'][number] => ({
  role: 'toolResult',
  callId: 'c1',
  toolName: 'fetch',
  content,
  isError: false,
})

/** Requests over the wire for one call, and the warnings that came back. */
async function sent(test: Parameters<typeof useWire>[0], family: WireFamily, messages: ModelRequest['messages']) {
  const replies = [{ blocks: [{ text: ['ok'] }], stop: family.stops.stop }]
  const { server, model } = await useWire(test, family, replies)
  const parts = await partsOf(model, ask('', { messages }), test.signal)
  assert.is(parts.at(-1)?.type, 'done', JSON.stringify(parts.at(-1)))
  const warnings = parts.flatMap((part) => (part.type === 'warning' ? [part.message] : []))
  const body = server.requests.at(-1)!.body as { messages: { role: string; content: unknown }[] }
  return { messages: body.messages, warnings, requests: server.requests.length }
}

describe('files for anthropic', (it) => {
  const source = { type: 'base64', media_type: 'application/pdf', data: pdf.data }

  it('go as documents, from the user and inside a tool result', async (test) => {
    const { messages, warnings } = await sent(test, anthropicWire, [
      { role: 'user', content: [text('read'), pdf] },
      { role: 'assistant', content: [call] },
      result([text('here'), pdf]),
    ])
    assert.equal(messages[0]?.content, [text('read'), { type: 'document', source, title: 'a.pdf' }])
    assert.equal(messages[2]?.content, [
      { type: 'tool_result', tool_use_id: 'c1', content: [text('here'), { type: 'document', source }] },
    ])
    assert.equal(warnings, [])
  })

  it('that it does not take are sent as their text, or named, with one request and a warning for each type', async (test) => {
    const { messages, warnings, requests } = await sent(test, anthropicWire, [
      { role: 'user', content: [text('read'), csv, pdf, ogg] },
    ])
    assert.equal(messages[0]?.content, [
      text('read'),
      text('[a file, a.csv, text/csv]\na,b\n1,2'),
      { type: 'document', source, title: 'a.pdf' },
      text('[a file, audio/ogg, which this model cannot read]'),
    ])
    assert.is(requests, 1)
    assert.is(warnings.length, 2)
    assert.match(warnings.join('\n'), /type text\/csv are not taken[^]*type audio\/ogg are not taken/)
  })

  it('of a tool result, other than PDFs, come after it and are not lost', async (test) => {
    const { messages } = await sent(test, anthropicWire, followUp('go', [call], result([text('here'), ogg])))
    assert.equal(messages[2]?.content, [
      { type: 'tool_result', tool_use_id: 'c1', content: 'here' },
      text('Files from the result of fetch (call c1):'),
      text('[a file, audio/ogg, which this model cannot read]'),
    ])
  })
})

describe('files for servers that speak like OpenAI', (it) => {
  it('go as files and as sound; those of tool results in a user message after them', async (test) => {
    const file = { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf.data}` }
    const { messages, warnings } = await sent(test, openaiWire, [
      { role: 'user', content: [text('listen'), wav] },
      { role: 'assistant', content: [call] },
      result([pdf]),
    ])
    assert.equal(messages[0]?.content, [
      text('listen'),
      { type: 'input_audio', input_audio: { data: wav.data, format: 'wav' } },
    ])
    assert.equal(messages[2]?.content, 'The result is in the next message.')
    assert.equal(messages[3]?.content, [text('Files from the result of fetch (call c1):'), { type: 'file', file }])
    assert.equal(warnings, [])
  })

  it('of a kind of sound that they do not take are named', async (test) => {
    const { messages, warnings } = await sent(test, openaiWire, [{ role: 'user', content: [text('listen'), ogg, wav] }])
    assert.match(JSON.stringify(messages), 'audio/ogg, which this model cannot read')
    assert.match(JSON.stringify(messages), 'input_audio')
    assert.is(warnings.length, 1)
  })
})
