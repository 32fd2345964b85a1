import { LineReader, requestIn } from '../../src/client/lineReader.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

/** Lines read from chunks, with this many bytes a line at most. */
function read(maxBytes: number, ...chunks: readonly string[]): readonly (readonly [string, string])[] {
  const heard: [string, string][] = []
  const reader = new LineReader(maxBytes, {
    line: (text) => void heard.push(['line', text]),
    tooLong: (text) => void heard.push(['too long', text]),
    endless: () => void heard.push(['endless', '']),
  })
  for (const chunk of chunks) reader.push(Buffer.from(chunk))
  return heard
}

describe('the lines of a server', (it) => {
  it('are the same, however the bytes come', () => {
    const text = '{"a":1}\r\n\n  \nzwei ä\nthree\n'
    const expected = ['{"a":1}', 'zwei ä', 'three'].map((line) => ['line', line])
    assert.equal(read(100, text), expected)
    const bytes = Buffer.from(text)
    for (const size of [1, 2, 3, 5, 8]) {
      const heard: string[] = []
      const reader = new LineReader(100, {
        line: (line) => void heard.push(line),
        tooLong: () => {},
        endless: () => {},
      })
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
      assert.equal(heard, ['{"a":1}', 'zwei ä', 'three'], `${size}`)
    }
  })

  it('are told once they have ended, and not before', () => assert.equal(read(100, 'half'), []))

  it('may have as many bytes as are allowed, and not one more', () => {
    assert.equal(read(10, `${'x'.repeat(10)}\n`), [['line', 'x'.repeat(10)]])
    assert.equal(read(10, `${'x'.repeat(11)}\nnext\n`), [
      ['too long', 'x'.repeat(22)],
      ['line', 'next'],
    ])
  })

  it('that are too long leave their two ends, and what comes after them is read', () => {
    const long = `${'a'.repeat(300)}${'b'.repeat(5_000)}${'c'.repeat(300)}`
    for (const chunks of [
      [`${long}\n`, 'next\n', `${long}\n`],
      [...`${long}\nnext\n${long}\n`.matchAll(/[\s\S]{1,97}/g)].map(([part]) => part),
    ]) {
      const heard = read(1_000, ...chunks)
      assert.equal(
        heard.map(([kind]) => kind),
        ['too long', 'line', 'too long'],
      )
      for (const at of [0, 2]) {
        const [, text] = heard[at]!
        assert.ok(text.startsWith('a'.repeat(256)) && text.endsWith('c'.repeat(256)), text)
        assert.ok(text.length <= 512)
      }
    }
  })

  for (const [text, id] of [
    ['{"jsonrpc":"2.0","id":7,"result":{"x":"…', 7],
    ['{"id":7,"jsonrpc":"2.0","result":"…', 7],
    ['  {"id":7,"result":"…', 7],
    ['…"},"id":7}', 7],
    ['…"},"id":7,"jsonrpc":"2.0"}  ', 7],
    ['{"result":{"id":7,"x":"…', undefined],
    ['…{"jsonrpc":"2.0","id":7,"result":…', undefined],
    ['{"id":"7","result":"…', undefined],
    ['{"id":1234567890123456,"x":…', undefined],
    ['', undefined],
  ] as const)
    it(`answer ${id === undefined ? 'nobody knows whom' : `request ${id}`}: ${JSON.stringify(text)}`, () =>
      assert.is(requestIn(text), id))
})
