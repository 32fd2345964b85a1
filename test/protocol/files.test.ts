import { estimateTokens } from '../../src/conversation/limits/tokenCounter.ts'
import { asFrame } from '../../src/protocol/bridge/commandRules.ts'
import { contentSchema } from '../../src/protocol/content.ts'
import { describeIssues } from '../../src/protocol/errors.ts'
import { fileText } from '../../src/protocol/text/fileText.ts'
import { blockSchema, countMedia, mediaText, plainBlockSchema, type FileBlock } from '../../src/protocol/messages.ts'
import { Redactor } from '../../packages/redaction/src/redactor.ts'
import { assert, describe } from '../support/suite.ts'

const pdf = { type: 'file', data: 'aGk=', mimeType: 'application/pdf', name: 'a.pdf' } as const
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const kept = (content: unknown) => contentSchema().parse(content)
const wrong = (block: object): string => {
  const { error } = contentSchema().safeParse([{ ...pdf, ...block }])
  return error === undefined ? 'nothing' : describeIssues(error)
}

describe('files in content', (it) => {
  it('are kept as base64, however they were given', () => {
    assert.equal(kept([pdf]), [pdf])
    assert.equal(kept([{ ...pdf, data: new Uint8Array([104, 105]) }]), [pdf])
    assert.equal(kept([{ ...pdf, data: 'data:application/PDF;base64,aGk=', mimeType: 'text/plain', name: '' }]), [
      { type: 'file', data: 'aGk=', mimeType: 'application/pdf' },
    ])
  })

  for (const [what, block, said] of [
    [
      'an address',
      { data: 'https://a.example/b.pdf' },
      /block 0: its data is an address, ".*": give base64 or a data URL/,
    ],
    ['a url', { data: undefined, url: 'https://a.example/b.pdf' }, /it has a url: give its bytes as data/],
    ['no data', { data: undefined }, /its data is missing: give base64 or bytes$/],
    ['a buffer', { data: new ArrayBuffer(2) }, /its data is an ArrayBuffer: give new Uint8Array/],
    ['garbage', { data: 'not base64!' }, /its data is not base64/],
    ['garbage in a data URL', { data: 'data:application/pdf;base64,~~' }, /its data is not base64/],
    ['no type', { mimeType: undefined }, /its mimeType is missing: give one like "application\/pdf"/],
    ['a type that is none', { mimeType: 'pdf' }, /its mimeType is "pdf": give one like/],
    ['a name that is none', { name: 5 }, /its name is of type number: give a text/],
    ['nothing in it', { data: '' }, /it is empty: give some text, an image or a file/],
  ] as const) {
    it(`are refused with words for ${what}`, () => assert.match(wrong(block), said))
  }

  it('count with their size against the limit of a message', () => {
    assert.match(wrong({ data: 'A'.repeat(33 * 1024 * 1024) }), /larger than 33554432 characters/)
  })

  it('are blocks of records, and base64 in the frame of a command', () => {
    for (const schema of [blockSchema(), plainBlockSchema()]) {
      assert.ok(schema.safeParse(pdf).success)
      assert.not.ok(schema.safeParse({ type: 'file', data: 'aGk=' }).success)
    }
    const framed = asFrame({
      type: 'prompt',
      agentId: 'a',
      content: [{ ...pdf, data: new Uint8Array([104, 105]) }],
    } as never)
    assert.match(JSON.stringify(framed), '"aGk="')
  })

  it('are named in few words, and counted', () => {
    assert.is(mediaText(pdf), '(a file, a.pdf, application/pdf)')
    assert.is(mediaText({ type: 'file', data: '', mimeType: 'audio/wav' }), '(a file, audio/wav)')
    const image = { type: 'image', data: 'AA==', mimeType: 'image/png' } as const
    assert.is(countMedia([pdf, image, { type: 'text', text: 'x' }, image]), '2 images, 1 file')
    assert.is(countMedia([]), '')
  })
})

describe('the text of a file', (it) => {
  const file = (mimeType: string, data: string): FileBlock => ({ type: 'file', mimeType, data })

  it('is read where the type says that it is text', () => {
    for (const type of [
      'text/csv',
      'text/plain; charset=utf-8',
      'application/json',
      'application/ld+json',
      'image/svg+xml',
    ])
      assert.is(fileText(file(type, base64('größe,1'))), 'größe,1', type)
  })

  it('is not there for other types, for bytes that are no UTF-8, and for what is no base64', () => {
    assert.is(fileText(pdf), undefined)
    assert.is(fileText(file('text/plain', Buffer.from([0xff, 0xfe, 0xfd]).toString('base64'))), undefined)
    assert.is(fileText(file('text/plain', '~~')), undefined)
  })

  it('is redacted like any text, and other bytes stay', () => {
    const redactor = new Redactor({ secrets: { TOKEN: 's3cr3t-token' } })
    const csv = { ...file('text/csv', base64('name,s3cr3t-token')), name: 's3cr3t-token.csv' }
    const clean = redactor.value([csv])[0]!
    assert.is(fileText(clean), 'name,[redacted:TOKEN]')
    assert.is(clean.name, '[redacted:TOKEN].csv')
    const plain = [pdf, file('text/csv', base64('nothing'))]
    assert.is(redactor.value(plain), plain)
  })

  it('counts as text of its length; other files by their size, and never as nothing', () => {
    const tokens = (block: FileBlock): number =>
      estimateTokens.message({ role: 'user', content: [block], source: 'prompt' })
    const empty = estimateTokens.message({ role: 'user', content: [], source: 'prompt' })
    assert.is(tokens(file('text/csv', base64('x'.repeat(3_500)))) - empty, 1_001)
    assert.is(tokens(pdf) - empty, 1_600)
    const large = 'A'.repeat(4_000_000)
    assert.is(tokens(file('application/pdf', large)) - empty, 60_000)
    assert.is(tokens(file('audio/mpeg', large)) - empty, 6_000)
  })
})
