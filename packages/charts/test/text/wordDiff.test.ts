import * as fc from 'fast-check'
import { wordDiff, type WordPart } from '../../src/text/wordDiff.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const side = (parts: readonly WordPart[], other: WordPart['type']): string =>
  parts.flatMap(({ type, text }) => (type === other ? [] : [text])).join('')
const marked = (before: string, after: string): string =>
  wordDiff(before, after)
    .map(({ type, text }) => (type === 'same' ? text : type === 'added' ? `{+${text}+}` : `[-${text}-]`))
    .join('')

describe('the difference of words', (it) => {
  it('marks whole words, punctuation by itself', () => {
    assert.is(marked('I make soup, with salt.', 'I make cake, with salt.'), 'I make [-soup-]{+cake+}, with salt.')
    assert.is(marked('one', 'one two'), 'one{+ two+}')
    assert.is(marked('', 'new'), '{+new+}')
    assert.is(marked('old', ''), '[-old-]')
    assert.equal(wordDiff('', ''), [])
    assert.is(marked('same', 'same'), 'same')
  })

  it('reads changed words with the space between them as one change', () => {
    assert.is(marked('a red house', 'a blue car'), 'a [-red house-]{+blue car+}')
    assert.is(marked('a red\nhouse', 'a blue\ncar'), 'a [-red-]{+blue+}\n[-house-]{+car+}')
  })

  it('keeps combining marks with their letters, and takes characters of scripts without spaces one by one', () => {
    assert.is(marked('cafe\u0301 x', 'cafe x'), '[-cafe\u0301-]{+cafe+} x')
    assert.is(marked('我吃苹果', '我吃香蕉'), '我吃[-苹果-]{+香蕉+}')
  })

  it('has either text whole, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', ' ', '\n', ', ', '🙂', '\ud800', 'x1'), { maxLength: 60 })
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [before, after] = [a.join(''), b.join('')]
        const parts = wordDiff(before, after)
        assert.is(side(parts, 'added'), before)
        assert.is(side(parts, 'removed'), after)
        assert.ok(parts.every(({ text: own }, at) => own !== '' && parts[at - 1]?.type !== parts[at]!.type))
      }),
      { numRuns: 500, seed: 7 },
    )
  })

  it('does not look for what belongs together where too much has changed', () => {
    const words = (name: string): string => Array.from({ length: 5_000 }, (_, at) => `${name}${at}`).join(' ')
    const parts = wordDiff(`first ${words('a')} last`, `first ${words('b')} last`)
    assert.equal(
      parts.map(({ type }) => type),
      ['same', 'removed', 'added', 'same'],
    )
  })
})
