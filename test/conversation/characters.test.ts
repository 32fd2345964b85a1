import * as fc from 'fast-check'
import { charactersOf } from '../../src/protocol/text/characters.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'

describe('characters as people count them', (it) => {
  it('are whole, whatever they are made of', () => {
    assert.equal([...charactersOf('a\nb')], ['a', '\n', 'b'])
    assert.equal([...charactersOf('a\r\nb')], ['a', '\r\n', 'b'])
    assert.equal([...charactersOf('e\u0301👨‍👩‍👧')], ['e\u0301', '👨‍👩‍👧'])
    assert.equal([...charactersOf('')], [])
  })

  it('need no segmenter where none of them has a part that stands alone', async ({ cleanup }) => {
    const { segment } = Intl.Segmenter.prototype
    cleanup(() => (Intl.Segmenter.prototype.segment = segment))
    Intl.Segmenter.prototype.segment = () => {
      throw new Error('a segmenter was asked')
    }
    const text = 'Ändere „das“ – schön, naïve façade’s tr\u00ADennung… 10 ½ ©'
    assert.equal([...charactersOf(text)], text.split(''))
    assert.throws(() => [...charactersOf('e\u0301')], /a segmenter was asked/)
  })

  it('are those of a segmenter, also where none is made', () => {
    const segmenter = new Intl.Segmenter()
    const part = fc.constantFrom(
      'a',
      'ü',
      '©',
      '\u00AD',
      '’',
      ' ',
      '\n',
      '\r',
      '\t',
      '\u007F',
      '\u0301',
      '\u200D',
      '👧',
      '🏽',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = parts.join('')
        assert.equal(
          [...charactersOf(text)],
          Array.from(segmenter.segment(text), ({ segment }) => segment),
        )
      }),
      { numRuns: someRuns(400), seed: 20_260_301 },
    )
  })
})
