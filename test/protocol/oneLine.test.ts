import { array, assert as check, constantFrom, integer, property } from 'fast-check'
import { cutEnd, oneLine } from '../../src/protocol/text/cutMiddle.ts'
import { assert, describe } from '../support/suite.ts'

const parts = constantFrom('a', ' ', '\n', '\t\t', '\u0000', 'word ', '😀', '\ud83d', 'é', ' '.repeat(400))
const text = array(parts, { maxLength: 300 }).map((pieces) => pieces.join(''))

describe('a text on one line', (it) => {
  it('is the same whether all of it or only its beginning is read', () => {
    check(
      property(text, integer({ min: 1, max: 120 }), (given, most) => {
        const whole = cutEnd(given.replace(/[\s\p{Cc}]+/gu, ' ').trim(), most)
        assert.is(oneLine(given, most), whole)
      }),
      { seed: 39, numRuns: 2_000 },
    )
    assert.is(oneLine('all \n of it', Infinity), 'all of it')
  })
})
