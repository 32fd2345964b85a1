import { assembleRequest, RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { Block, PlainBlock, ProviderBlock } from '../../src/protocol/messages.ts'
import type { RequestMessage } from '../../src/protocol/ports/model.ts'
import { assert, describe } from '../support/suite.ts'
import { imageBytes } from '../support/imageBytes.ts'
import { LogBuilder, text, toolCall } from './logBuilder.ts'

const frame = { system: 'You test.', tools: [], settings: {} }
const base64 = (...bytes: readonly (Uint8Array | string)[]): string =>
  Buffer.concat(bytes.map((part) => Buffer.from(part))).toString('base64')

/** The request of a log, which must be one that no provider refuses, and nothing beyond that may be changed in its thinking. */
function sentOf(log: LogBuilder): readonly RequestMessage[] {
  const conversation = rebuildConversation(log.records)
  const { request } = assembleRequest(conversation, frame)
  assert.equal(checkRequest(request, { trunk: conversation.path }), [])
  return request.messages
}

/** The form in which a reply is sent, once a person has said more. */
function replySentAs(
  content: readonly Block[],
  stopReason: 'length' | 'stop' | 'refusal' = 'length',
): readonly Block[] {
  const log = new LogBuilder()
  log.user('go')
  log.reply(content, { stopReason })
  for (const block of content) if (block.type === 'toolCall') log.result(block.callId)
  log.user('more')
  return sentOf(log).find(({ role }) => role === 'assistant')?.content ?? []
}

const signed: Block = { type: 'thinking', text: 'I think', signature: 'sealed' }
const unsigned: Block = { type: 'thinking', text: 'I think' }
const provided = (kind: 'call' | 'result' | 'source', id: string): ProviderBlock => ({
  type: 'provider',
  provider: 'anthropic',
  kind,
  name: 'web_search',
  data: { type: kind === 'call' ? 'tool-call' : 'tool-result', toolCallId: id },
})

describe('thinking that nothing comes after', (it) => {
  const tails: [string, readonly Block[], readonly Block[]][] = [
    ['after a text', [...text('First.'), signed], text('First.')],
    ['without a signature', [...text('First.'), unsigned], text('First.')],
    ['twice', [...text('First.'), signed, signed], text('First.')],
    ['before a blank text', [...text('First.'), signed, ...text(' \n')], text('First.')],
    ['before a source', [...text('First.'), signed, provided('source', 's')], text('First.')],
    ['after a call', [signed, toolCall('a'), signed], [signed, toolCall('a')]],
  ]
  for (const [where, content, sent] of tails) it(`is left out ${where}`, () => assert.equal(replySentAs(content), sent))

  it('stays before a text and before a call', () => {
    assert.equal(replySentAs([signed, ...text('First.')]), [signed, ...text('First.')])
    assert.equal(replySentAs([signed, toolCall('a')]), [signed, toolCall('a')])
  })
})

describe('a call of the provider without its result', (it) => {
  it('is left out once something else is said', () => {
    assert.equal(replySentAs([...text('I search.'), provided('call', 's1')]), text('I search.'))
    assert.equal(replySentAs([...text('I search.'), signed, provided('call', 's1')]), text('I search.'))
    assert.equal(replySentAs([provided('call', 's1')]), text('(this reply was cut off)'))
    assert.equal(replySentAs([provided('call', 's1'), toolCall('a')]), [toolCall('a')])
  })

  it('stays with its result, and while a call of ours that it made is answered', () => {
    const answered = [provided('call', 's1'), provided('result', 's1'), ...text('Found.')]
    assert.equal(replySentAs(answered), answered)
    const caller: Block = { type: 'thinking', text: '', signature: 'next:{"anthropic":{"caller":{"toolId":"s1"}}}' }
    const running = [provided('call', 's1'), caller, toolCall('a')]
    assert.equal(replySentAs(running), running)
  })

  it('stays while the reply goes on, and once it went on to its result', () => {
    const log = new LogBuilder()
    log.user('go')
    log.reply([provided('call', 's1')], { stopReason: 'stop' })
    const conversation = rebuildConversation(log.records)
    assert.equal(assembleRequest(conversation, frame).request.messages[1]?.content, [provided('call', 's1')])
    log.reply([provided('result', 's1'), ...text('Found.')])
    log.user('more')
    assert.equal(sentOf(log)[1]?.content, [provided('call', 's1')])
  })

  it('is left out of a request that was assembled before, and comes back when that is taken back', () => {
    const log = new LogBuilder()
    log.user('go')
    log.reply([...text('I search.'), provided('call', 's1')])
    const assembler = new RequestAssembler(rebuildConversation(log.records), frame)
    assert.is(assembler.assemble(0, 'a note').request.messages[1]?.content.length, 1)
    assert.is(assembler.assemble(0).request.messages[1]?.content.length, 2)
  })
})

describe('an image that providers refuse', (it) => {
  const { png, jpeg, gif, webp } = imageBytes
  const wide = (type: keyof typeof imageBytes): string => base64(imageBytes[type](8_001, 10))
  const image = (data: string, mimeType = 'image/png'): PlainBlock => ({ type: 'image', data, mimeType })
  const file = (data: string, mimeType = 'application/pdf'): PlainBlock => ({ type: 'file', data, mimeType })

  /** The forms in which a tool's result and a person's message with this block are sent. */
  function mediaSentAs(block: PlainBlock): PlainBlock {
    const log = new LogBuilder()
    log.user([...text('look'), block])
    log.reply([toolCall('a')])
    log.result('a', [block])
    const messages = sentOf(log)
    assert.equal(messages[0]?.content.at(-1), messages[2]?.content[0])
    return messages[2]!.content[0] as PlainBlock
  }

  const refused: [string, PlainBlock, RegExp][] = [
    ['is empty', image(''), /^\[an image, image\/png: left out, as it is empty\]$/],
    ['is a page of HTML', image(base64('<html>502</html>')), /are not those of a PNG, JPEG, GIF or WebP/],
    ['is of zeros', image(base64(new Uint8Array(40))), /are not those of/],
    ['is cut off in its mark', image(base64(png(1, 1).slice(0, 4))), /are not those of/],
    ['is a BMP', image(base64('BM', new Uint8Array(60)), 'image/bmp'), /are not those of/],
    ['is no base64', image('not base64!'), /its data is not base64/],
    [
      'is larger than 5 MB as base64',
      image(base64(png(9, 9), new Uint8Array(4_000_000))),
      /providers take at most 5242880/,
    ],
    ['is a PNG of more than 8,000 pixels', image(wide('png')), /a side of 8001 pixels/],
    ['is a JPEG of more than 8,000 pixels', image(wide('jpeg'), 'image/jpeg'), /a side of 8001 pixels/],
    ['is a GIF of more than 8,000 pixels', image(wide('gif'), 'image/gif'), /a side of 8001 pixels/],
    ['is a WebP of more than 8,000 pixels', image(wide('webp'), 'image/webp'), /a side of 8001 pixels/],
    ['is an empty file', file(''), /^\[a file, application\/pdf: left out, as it is empty\]$/],
    ['is no PDF', file(base64('<html>404</html>')), /are not those of a PDF/],
    ['is an empty recording', file('', 'audio/wav'), /it is empty/],
  ]
  for (const [what, block, expected] of refused) {
    it(`is a line of text that says why, when it ${what}`, () => {
      const sent = mediaSentAs(block)
      assert.match(sent.type === 'text' ? sent.text : sent.type, expected)
    })
  }

  it('is sent as the type that it is', () => {
    const types = { png, jpeg, gif, webp }
    for (const [type, make] of Object.entries(types))
      for (const called of ['image/png', 'image/jpg', 'image/*', 'image/bmp', 'IMAGE/JPEG']) {
        const data = base64(make(20, 30))
        assert.equal(mediaSentAs(image(data, called)), image(data, `image/${type}`))
      }
  })

  it('is left as it is when nothing is wrong with it', () => {
    for (const block of [
      image(base64(png(8_000, 8_000))),
      { type: 'image', url: 'https://example.com/a.png' } as const,
      image(base64('<svg/>'), 'image/svg+xml'),
      image(base64(new Uint8Array(4), 'ftypheic', new Uint8Array(20)), 'image/heic'),
      file(base64('\n%PDF-1.7')),
      file(base64('a,b'), 'text/csv'),
    ])
      assert.is(mediaSentAs(block), block)
  })
})

describe('ids of calls', (it) => {
  it('are made short enough for every provider, in the call and in its result, and stay different', () => {
    const ids = [
      `call_${'x'.repeat(90)}a`,
      `call_${'x'.repeat(90)}b`,
      'functions.look:0',
      'functions_look:0',
      'a'.repeat(64),
    ]
    const log = new LogBuilder()
    log.user('go')
    log.reply([signed, ...ids.map((id) => toolCall(id))])
    for (const id of ids) log.result(id)
    const [, reply, ...results] = sentOf(log)
    const called = reply!.content.flatMap((block) => (block.type === 'toolCall' ? [block.callId] : []))
    assert.equal(
      results.map((result) => (result.role === 'toolResult' ? result.callId : '')),
      called,
    )
    assert.is(new Set(called).size, ids.length)
    assert.is(called.at(-1), ids.at(-1))
  })
})
