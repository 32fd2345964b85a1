import type { Block, PlainBlock } from '../../../src/protocol/messages.ts'
import { cutMessage } from '../src/cutMessage.ts'
import { outputOf, replyParts, saidParts } from '../src/uiParts.ts'
import type { UiMessage } from '../src/uiTypes.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const text = (words: string): Block => ({ type: 'text', text: words })
const thinking = (words: string): Block => ({ type: 'thinking', text: words })
const provided = (kind: 'call' | 'result' | 'source' | 'file' | 'other', name: string, data: unknown): Block => ({
  type: 'provider',
  provider: 'acme',
  kind,
  name,
  data,
})
const partsOf = (content: readonly Block[], at = 0): unknown[] => replyParts(content, at, (callId) => `id of ${callId}`)
const done = (words: string) => ({ type: 'text', text: words, state: 'done' })
const call = (more: object) => ({ type: 'dynamic-tool', toolName: 'find', providerExecuted: true, ...more })

describe('a reply as parts of a chat', (it) => {
  const cases: readonly (readonly [what: string, content: readonly Block[], parts: readonly unknown[]])[] = [
    ['text that comes in pieces is one part', [text('a'), text(''), text('b')], [done('ab')]],
    [
      'text and thinking that follow each other are apart, and thinking is named by its place',
      [thinking('a'), thinking('b'), text('c'), thinking('d')],
      [
        { type: 'reasoning', id: 'r5', text: 'ab', state: 'done' },
        done('c'),
        { type: 'reasoning', id: 'r7', text: 'd', state: 'done' },
      ],
    ],
    [
      'a call ends the text before it',
      [text('a'), { type: 'toolCall', callId: 'c1', name: 'look', input: { at: 1 } }, text('b')],
      [
        done('a'),
        {
          type: 'dynamic-tool',
          toolName: 'look',
          toolCallId: 'id of c1',
          state: 'input-available',
          input: { at: 1 },
        },
        done('b'),
      ],
    ],
    [
      'a source comes after the text that it interrupts',
      [text('a'), provided('source', 's', { id: 's1', url: 'https://a.example', title: 'A' }), text('b')],
      [done('ab'), { type: 'source-url', sourceId: 's1', url: 'https://a.example', title: 'A' }],
    ],
    [
      'a source of which nothing is known has its name',
      [provided('source', 'https://b.example', null)],
      [{ type: 'source-url', sourceId: 'https://b.example', url: 'https://b.example' }],
    ],
    [
      'a document is a source',
      [provided('source', 's', { source: { sourceType: 'document', id: 'd1', title: 'D', mediaType: 'text/plain' } })],
      [{ type: 'source-document', sourceId: 'd1', mediaType: 'text/plain', title: 'D' }],
    ],
    [
      'a document of which nothing more is known has its name and the name of its file',
      [provided('source', 's', { sourceType: 'document', filename: 'd.pdf' })],
      [
        {
          type: 'source-document',
          sourceId: 's',
          mediaType: 'application/octet-stream',
          title: 's',
          filename: 'd.pdf',
        },
      ],
    ],
    [
      'a file is there by its address, or as its data',
      [
        provided('file', 'image/png', { data: { type: 'url', url: 'https://a.example/x' } }),
        provided('file', 'x', { type: 'reasoning-file', mediaType: 'image/gif', data: { type: 'data', data: 'QQ==' } }),
        provided('file', 'image/png', undefined),
      ],
      [
        { type: 'file', mediaType: 'image/png', url: 'https://a.example/x' },
        { type: 'reasoning-file', mediaType: 'image/gif', url: 'data:image/gif;base64,QQ==' },
        { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,' },
      ],
    ],
    [
      'anything else has a kind with its provider',
      [provided('other', 'shrug', {}), provided('other', 'other.shrug', {})],
      [
        { type: 'custom', kind: 'acme.shrug' },
        { type: 'custom', kind: 'other.shrug' },
      ],
    ],
    [
      'a call of the provider has its result',
      [
        provided('call', 'find', { toolCallId: 'p1', input: { q: 1 } }),
        provided('call', 'find', { toolCallId: 'p2' }),
        provided('result', 'find', { toolCallId: 'p1', output: { type: 'json', value: [1] } }),
      ],
      [
        call({ toolCallId: 'p1', state: 'output-available', input: { q: 1 }, output: [1] }),
        call({ toolCallId: 'p2', state: 'input-available', input: null }),
      ],
    ],
    [
      'a result comes to its call though something else is between them',
      [
        provided('call', 'find', { toolCallId: 'p1' }),
        { type: 'toolCall', callId: 'c1', name: 'look', input: {} },
        provided('result', 'find', { toolCallId: 'p1', output: { type: 'error-text', value: 'no' } }),
      ],
      [
        call({ toolCallId: 'p1', state: 'output-error', input: null, errorText: 'no' }),
        { type: 'dynamic-tool', toolName: 'look', toolCallId: 'id of c1', state: 'input-available', input: {} },
      ],
    ],
    [
      'a result without a call is one of its own',
      [
        provided('result', 'find', { output: { type: 'error-json', value: { a: 1 } } }),
        provided('result', 'find2', {}),
      ],
      [
        call({ toolCallId: 'find', state: 'output-error', input: null, errorText: '{"a":1}' }),
        call({ toolName: 'find2', toolCallId: 'find2', state: 'output-available', input: null, output: null }),
      ],
    ],
    [
      'an image of the model comes after the text',
      [{ type: 'image', mimeType: 'image/png', data: 'QQ==' }, text('a'), text('b')],
      [done('ab'), { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,QQ==' }],
    ],
  ]
  for (const [what, content, parts] of cases) it(`is such that ${what}`, () => assert.equal(partsOf(content, 5), parts))
})

describe('contents as parts of a chat', (it) => {
  const [image, linked, file]: readonly PlainBlock[] = [
    { type: 'image', data: 'QQ==', mimeType: 'image/png' },
    { type: 'image', url: 'https://a.example/x.png' },
    { type: 'file', data: 'QQ==', mimeType: 'text/plain', name: 'a.txt' },
  ] as PlainBlock[]

  it('are texts, and files by their address or as their data', () => {
    const unnamed = { type: 'file', data: 'QQ==', mimeType: 'text/plain' } as PlainBlock
    assert.equal(saidParts([{ type: 'text', text: 'a' }, image!, linked!, file!, unnamed]), [
      { type: 'text', text: 'a' },
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,QQ==' },
      { type: 'file', mediaType: 'image/*', url: 'https://a.example/x.png' },
      { type: 'file', mediaType: 'text/plain', url: 'data:text/plain;base64,QQ==', filename: 'a.txt' },
      { type: 'file', mediaType: 'text/plain', url: 'data:text/plain;base64,QQ==' },
    ])
  })

  it('are, as the output of a tool, its text, the object or list that this is as JSON, or else parts', () => {
    const said = (words: string) => outputOf([{ type: 'text', text: words }])
    assert.equal(['a', '7', '"a"', ' [1]', '{"a":1}', '{a', ''].map(said), ['a', '7', '"a"', [1], { a: 1 }, '{a', ''])
    assert.equal(outputOf([{ type: 'text', text: '{}' }, image!]), [
      { type: 'text', text: '{}' },
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,QQ==' },
    ])
  })
})

describe('the picture of a sub-agent', (it) => {
  const message = (...texts: readonly string[]): UiMessage => ({
    id: 'm',
    role: 'assistant',
    metadata: { stopReason: 'stop', usage: {} as never, costUsd: 1 },
    parts: texts.map((words) => ({ type: 'text', text: words })),
  })
  const textsIn = ({ parts }: UiMessage): string[] => parts.map((part) => (part as { text: string }).text)

  it('is the message without what it says of itself, with long texts cut', () => {
    assert.equal(cutMessage(message('a', 'b')), { id: 'm', role: 'assistant', parts: message('a', 'b').parts })
    const [kept, cut] = textsIn(cutMessage(message('x'.repeat(2_000), 'x'.repeat(3_000))))
    assert.is(kept?.length, 2_000)
    assert.ok(cut!.length < 2_200 && cut !== kept)
    const deep = cutMessage({
      ...message(),
      parts: [{ type: 'data-x', id: 'x', data: { list: [['y'.repeat(3_000)], null, 7] } }],
    })
    const [[words], ...rest] = (deep.parts[0] as unknown as { data: { list: [[string], null, number] } }).data.list
    assert.ok(words.length < 2_200)
    assert.equal(rest, [null, 7])
  })

  it('has the newest parts that fit', () => {
    const shown = textsIn(cutMessage(message(...Array.from({ length: 20 }, (_, at) => `${at} ${'x'.repeat(1_900)}`))))
    assert.equal(
      shown.map((words) => words.split(' ')[0]),
      ['12', '13', '14', '15', '16', '17', '18', '19'],
    )
  })
})
