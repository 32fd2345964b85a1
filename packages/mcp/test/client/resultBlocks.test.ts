import { checkDepth, readContents, resultBlocks } from '../../src/client/resultBlocks.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const image = (mimeType: string, data = 'AAAA') => ({ type: 'image', mimeType, data })
const text = (words: string) => [{ type: 'text', text: words }]

describe('a block of a result that no provider takes', (it) => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
  const cases: readonly (readonly [what: string, block: object, shown: readonly object[]])[] = [
    ['an image', image('image/png'), [image('image/png')]],
    ['an image by another name of its type', image('IMAGE/jpg; q=1'), [image('image/jpeg')]],
    ['an image in lines', image('image/png', 'AAAA\r\nAAAA\n'), [image('image/png', 'AAAAAAAA')]],
    ['a drawing', image('image/svg+xml', base64(svg)), text(svg)],
    ['an image of another type', image('image/tiff'), text('[a file, image/tiff, 3 bytes; it cannot be shown]')],
    ['no base64', image('image/png', 'a b!'), text('[image/png, which is not base64; it cannot be shown]')],
    [
      'a sound that is none',
      { type: 'audio', mimeType: 'audio/', data: 'AAAA' },
      text('[a file, audio/, 3 bytes; it cannot be shown]'),
    ],
    [
      'a sound with parameters',
      { type: 'audio', mimeType: 'audio/wav;codecs=1', data: 'AAAA' },
      [{ type: 'file', mimeType: 'audio/wav', data: 'AAAA' }],
    ],
  ]
  for (const [what, block, shown] of cases)
    it(`is text where it can be: ${what}`, () => {
      assert.equal(resultBlocks({ content: [block] }), shown)
    })

  it('say of data that is nested too deep that it is', () => {
    let structuredContent: unknown = 'x'
    for (let depth = 0; depth < 100_000; depth += 1) structuredContent = [structuredContent]
    assert.equal(resultBlocks({ structuredContent }), [
      { type: 'text', text: '(the server’s data is nested too deep to be shown)' },
    ])
  })

  it('costs only itself in a resource as well', () => {
    const contents = [
      { uri: 'a://b', mimeType: 'application/pdf', blob: 'not base64!' },
      { uri: 'a://c', mimeType: 'application/json', blob: base64('{}') },
    ]
    const shown = readContents(contents).map((block) => (block.type === 'text' ? block.text : block.type))
    assert.equal(shown, [
      '[resource a://b]',
      '[a://b, application/pdf, which is not base64; it cannot be shown]',
      '[resource a://c]',
      '{}',
    ])
  })
})

describe('an answer of a server', (it) => {
  const deep = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)

  it('is refused in words when it is nested too deeply to be read', () => {
    const refused = /nested more than 500 levels deep/
    assert.throws(() => checkDepth({ structuredContent: deep(100_000) }), refused)
    assert.throws(() => checkDepth({ content: [{ type: 'new', data: deep(100_000) }] }), refused)
    assert.throws(() => readContents([deep(100_000)]), refused)
    const fine = { structuredContent: deep(400) }
    assert.is(checkDepth(fine), fine)
  })
})
