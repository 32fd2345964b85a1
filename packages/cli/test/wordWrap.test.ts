import * as fc from 'fast-check'
import { textWidth } from '../../charts/src/textWidth.ts'
import { drawnRow, lastRowsOf, wordWrapped, wrappedFor } from '../src/terminal/wordWrap.ts'
import { assert, describe } from '../../../test/support/suite.ts'

/** Rows that a terminal shows of a text that comes in pieces; the terminal wraps rows that are too long. */
function rowsOf(pieces: readonly string[], columns: number): string[] {
  let all = ''
  let open = ''
  let indent: number | undefined
  for (const piece of pieces) {
    const wrapped = wordWrapped(open + piece, columns, indent)
    all += wrapped.done
    open = wrapped.open
    indent = wrapped.indent
  }
  return `${all}${drawnRow(open, columns)}`.split('\n')
}

describe('text of a terminal', (it) => {
  for (const [text, columns, rows] of [
    ['the provider said no', 12, ['the provider', 'said no']],
    ['  - one two three', 10, ['  - one', '  two', '  three']],
    ['abc defghijklmnop', 8, ['abc', 'defghijklmnop']],
    ['one  \ntwo', 8, ['one  ', 'two']],
    ['one   \ntwo', 4, ['one ', 'two']],
    ['abcd efgh', 4, ['abcd', 'efgh']],
    ['日本 日本語', 6, ['日本', '日本語']],
    ['\u001B[2mone two\u001B[22m', 4, ['\u001B[2mone', 'two\u001B[22m']],
    ['', 4, ['']],
  ] as const)
    it(`is wrapped at words: ${JSON.stringify(text)}`, () => assert.equal(rowsOf([text], columns), rows))

  it('is wrapped alike however it comes, loses nothing but blanks, and is too wide in single words alone', () => {
    const part = fc.constantFrom('a', 'bc', ' ', '  ', '\n', '日', 'e\u0301', 'longer', '\u001B[2m', '\u001B[22m', '-')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), fc.integer({ min: 2, max: 12 }), (parts, columns) => {
        const text = parts.join('')
        const whole = rowsOf([text], columns)
        const pieces = rowsOf(parts, columns)
        assert.equal(pieces, whole)
        const bare = (some: string): string => some.replace(/[ \n]/g, '')
        assert.is(bare(whole.join('')), bare(text))
        // oxlint-disable-next-line no-control-regex -- colours are not seen
        const seen = whole.map((row) => row.replace(/\u001B\[\d+m/g, ''))
        for (const row of seen) {
          const words = row.trimStart()
          const indent = row.length - words.length
          const isWordTooLong = words.split(' ').some((word) => indent + textWidth(word) > columns)
          assert.ok(textWidth(words) <= columns || isWordTooLong, row)
        }
      }),
      { seed: 19, numRuns: 500 },
    )
  })

  it('is laid out in time that grows with its length', () => {
    const { open } = wordWrapped('a '.repeat(100_000), 80)
    assert.ok(textWidth(open) <= 81)
  })

  it('has its last rows, which the terminal wraps without a break', () => {
    assert.equal(lastRowsOf(['one', 'abcdef', '日本語'], 4, 9), ['one', 'abcd', 'ef', '日本', '語'])
    assert.equal(lastRowsOf(['one', 'abcdef', '日本語'], 4, 3), ['ef', '日本', '語'])
    assert.is(lastRowsOf(['x'.repeat(1_000_000)], 10, 3_000).length, 2_000)
  })
})

describe('a message of a command', (it) => {
  const text = 'escapement: the model needs a key: ANTHROPIC_API_KEY is not set.\n'

  it('is wrapped at words at a terminal, and left as it is anywhere else', () => {
    const wrapped = wrappedFor({ isTTY: true, columns: 30 }, text)
    assert.is(wrapped, 'escapement: the model needs a\nkey: ANTHROPIC_API_KEY is not\nset.\n')
    assert.is(wrappedFor({}, text), text)
    assert.is(wrappedFor({ isTTY: true }, text), text)
  })
})
