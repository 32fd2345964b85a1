import { asFrame } from '../../src/protocol/bridge/commandRules.ts'
import { contentSchema } from '../../src/protocol/content.ts'
import { describeIssues } from '../../src/protocol/errors.ts'
import { blockSchema, plainBlockSchema } from '../../src/protocol/messages.ts'
import { toBase64 } from '../../src/protocol/text/toBase64.ts'
import { assert, describe } from '../support/suite.ts'

const url = 'https://pictures.example/cat.png'
const kept = (content: unknown) => contentSchema().parse(content)
const wrong = (block: object): string => {
  const { error } = contentSchema().safeParse([{ type: 'image', ...block }])
  return error === undefined ? 'nothing' : describeIssues(error)
}

describe('images by address', (it) => {
  it('are kept as they are, with a type if there is one', () => {
    assert.equal(kept([{ type: 'image', url }]), [{ type: 'image', url }])
    const typed = { type: 'image', url: 'http://127.0.0.1/x', mimeType: 'image/webp' }
    assert.equal(kept([typed]), [typed])
  })

  it('become base64 when the address is a data URL', () => {
    assert.equal(kept([{ type: 'image', url: 'data:image/PNG;base64,AAAA' }]), [
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ])
  })

  for (const [what, block, said] of [
    [
      'another scheme',
      { url: 'file:///etc/passwd' },
      /block 0: its url is "file:\/\/\/etc\/passwd": give an https: or http:/,
    ],
    ['a script', { url: 'javascript:alert(1)' }, /give an https: or http: address/],
    ['no address', { url: 'cat.png' }, /its url is "cat.png": give an https:/],
    ['half an address', { url: 'https://' }, /its url is "https:\/\/": give/],
    ['a URL object', { url: new URL(url) }, /its url is of type object: give a text/],
    ['a data URL without base64', { url: 'data:image/svg+xml,<svg>' }, /data URL without base64/],
    ['garbage in a data URL', { url: 'data:image/png;base64,~~' }, /its data is not base64/],
    ['garbage', { data: 'no base64!', mimeType: 'image/png' }, /its data is not base64/],
    ['a password', { url: 'https://me:secret@pictures.example/' }, /holds a name or password/],
    ['data and an address', { url, data: 'AAAA', mimeType: 'image/png' }, /data and a url: give one/],
    ['a type that is none', { url, mimeType: 5 }, /its mimeType is of type number/],
    ['an endless address', { url: `${url}?${'x'.repeat(9_000)}` }, /has 90\d\d characters, and 8192 are allowed/],
  ] as const) {
    it(`are refused with words for ${what}`, () => assert.match(wrong(block), said))
  }

  it('do not tell a password that they refuse', () => {
    assert.not.match(wrong({ url: 'https://me:secret@pictures.example/' }), 'secret')
  })

  it('are blocks of records, where an image is one or the other', () => {
    for (const schema of [blockSchema(), plainBlockSchema()]) {
      assert.ok(schema.safeParse({ type: 'image', url }).success)
      assert.ok(schema.safeParse({ type: 'image', data: 'AAAA', mimeType: 'image/png' }).success)
      for (const half of [
        {},
        { data: 'AAAA' },
        { mimeType: 'image/png' },
        { url, data: 'AAAA', mimeType: 'image/png' },
      ])
        assert.not.ok(schema.safeParse({ type: 'image', ...half }).success)
    }
  })
})

describe('images as bytes', (it) => {
  it('become base64, however many there are', () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256)
    assert.is(toBase64(bytes), Buffer.from(bytes).toString('base64'))
    assert.equal(kept([{ type: 'image', data: new Uint8Array([104, 105]), mimeType: 'image/png' }]), [
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ])
    assert.equal(kept([{ type: 'image', data: Buffer.from('hi'), mimeType: 'image/png' }]), [
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ])
  })

  it('are base64 in the frame of a command, those of its context too', () => {
    const image = { type: 'image', data: new Uint8Array([104, 105]), mimeType: 'image/png' } as const
    const text = { type: 'text', text: 'x' } as const
    const frame = asFrame({
      type: 'agent.prompt',
      agentId: 'a',
      content: [text, image],
      context: [{ content: [image] }],
    })
    const sent = { type: 'image', data: 'aGk=', mimeType: 'image/png' }
    assert.equal(frame, { type: 'agent.prompt', agentId: 'a', content: [text, sent], context: [{ content: [sent] }] })
    const plain = { type: 'agent.prompt', agentId: 'a', content: 'hi' } as const
    assert.equal(asFrame(plain), plain)
  })
})
