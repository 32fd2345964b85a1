import * as fc from 'fast-check'
import { textWidth } from '../../../charts/src/textWidth.ts'
import { inputRows, placeInRow, shownRows } from '../../src/terminal/input/inputRows.ts'
import { emptyPicker, fittingItems, pickerRows, stepPicker, type PickerState } from '../../src/terminal/input/picker.ts'
import { KeyReader } from '../../src/terminal/input/keys.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { someRuns } from '../../../../test/support/seeds.ts'

const lay = (text: string, at = text.length, columns = 12, prompt = '› ') => inputRows(text, at, { prompt, columns })

describe('the rows of a line', (it) => {
  it('wrap where the terminal ends and at line breaks, below the prompt', () => {
    assert.equal(lay('abcdefghijKLM').rows, ['› abcdefghi', '  jKLM'])
    assert.equal(lay('one\ntwo').rows, ['› one', '  two'])
    assert.equal(lay('one\n').cursor, { row: 1, column: 2 })
    assert.equal(lay('abc', 1).cursor, { row: 0, column: 3 })
    assert.equal(lay('abcdefghijKLM', 9).cursor, { row: 1, column: 2 })
  })

  it('keep characters of two columns whole', () => {
    assert.equal(lay('日本語日本語').rows, ['› 日本語日', '  本語'])
    assert.equal(lay('日本語', 2).cursor, { row: 0, column: 6 })
    assert.equal(lay('a👨‍👩‍👧b', 9).cursor, { row: 0, column: 5 })
  })

  it('begin below a prompt that is too wide', () => {
    assert.equal(lay('yes', 3, 10, '  allow it? (y or n): ').rows, ['  allow it', '? (y or n)', ': yes'])
    assert.equal(lay('yes', 3, 10, '12345678901234567890').rows, ['1234567890', '1234567890', '  yes'])
    assert.equal(lay('yes', 3, 10, '12345678901234567890').cursor, { row: 2, column: 5 })
  })

  it('show what cannot be shown as it is by something that can', () => {
    const { rows } = inputRows('a\tb\u0007\u202Ec', 0, { prompt: '', columns: 20 })
    assert.equal(rows, ['a bc'])
    const named = inputRows('x\u{F0000}y', 3, {
      prompt: '',
      columns: 40,
      show: (one) => (one === '\u{F0000}' ? '[40 lines]' : one),
    })
    assert.equal([named.rows, named.cursor], [['x[40 lines]y'], { row: 0, column: 11 }])
  })

  it('have a place above and below each, in the nearest column', () => {
    const layout = lay('long line\nab\nlong line', 11, 40)
    assert.is(placeInRow(layout, -1), 1)
    assert.is(placeInRow(layout, 1), 14)
    assert.is(placeInRow(lay('ab', 1), -1), undefined)
    assert.is(placeInRow(lay('ab', 1), 1), undefined)
    assert.is(placeInRow(lay('long line\nab', 8, 40), 1), 12)
  })

  it('are as many as there is room for, around the cursor', () => {
    const layout = lay(Array.from({ length: 20 }, (_, i) => `l${i}`).join('\n'), 0, 40)
    assert.equal(shownRows(layout, 3).rows, ['› l0', '  l1', '  l2'])
    const last = lay(Array.from({ length: 20 }, (_, i) => `l${i}`).join('\n'), 1_000, 40)
    assert.equal(shownRows(last, 3), { rows: ['  l17', '  l18', '  l19'], cursor: { row: 2, column: 5 } })
  })

  it('never are wider than the terminal, and every character stands in one of them', () => {
    const piece = fc.constantFrom('a', ' ', '日', '👩‍💻', 'e\u0301', '\n', '🇩🇪')
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.integer({ min: 4, max: 30 }),
        fc.nat(80),
        (pieces, columns, at) => {
          const text = pieces.join('')
          const { rows, cursor, places } = inputRows(text, Math.min(at, text.length), { prompt: '› ', columns })
          for (const row of rows) assert.ok(textWidth(row) <= columns, JSON.stringify(rows))
          assert.ok(cursor.column <= columns && cursor.row < rows.length)
          const starts = [...new Intl.Segmenter().segment(text)].map(({ index }) => index)
          assert.equal(
            places.flat().map((place) => place.at),
            [...starts, text.length],
          )
          const bare = (one: string): string => one.replaceAll(/[\s›]/g, '')
          assert.is(bare(rows.join('')), bare(text))
        },
      ),
      { numRuns: someRuns(1_000), seed: 20_261_127 },
    )
  })
})

const items = [
  { label: 'fix the test', details: ['2 min', 'completed'] },
  { label: 'write a page', details: ['3 h', 'failed'] },
  { label: 'a title\nof two lines \u001B[2J', details: ['1 d', 'paused'] },
]

/** State of the picker after keys; the state while nothing is chosen. */
function picked(keys: string): ReturnType<typeof stepPicker> {
  let state: PickerState = emptyPicker
  for (const key of new KeyReader().take(keys)) {
    const next = stepPicker(state, key, items)
    if (next === 'cancelled' || 'picked' in next) return next
    state = next
  }
  return state
}

describe('a list to choose from', (it) => {
  it('is moved through with arrows, narrowed by words, and left with Esc', () => {
    assert.equal(picked('\r'), { picked: 0 })
    assert.equal(picked('\u001B[B\r'), { picked: 1 })
    assert.equal(picked('\u001B[A\r'), { picked: 2 })
    assert.equal(picked('failed\r'), { picked: 1 })
    assert.equal(picked('page write\r'), { picked: 1 })
    assert.equal(picked('\u001B[B\u001B[Bfix\r'), { picked: 0 })
    assert.equal(picked('zzz\r'), { query: 'zzz', chosen: 0 })
    assert.equal(picked('zzz\u0015\r'), { picked: 0 })
    assert.is(picked('\u001B[27u'), 'cancelled')
    assert.is(picked('\u0003'), 'cancelled')
    assert.equal(fittingItems(items, ''), [0, 1, 2])
  })

  it('is drawn with what it was narrowed by, in columns, and no wider than the terminal', () => {
    const wide = pickerRows('Which?', items, { query: '', chosen: 1 }, { columns: 60, rows: 10 })
    assert.is(wide.title, 'Which? ')
    assert.equal(
      wide.items.map(({ text }) => text),
      [
        '  fix the test          2 min  completed',
        '› write a page          3 h    failed',
        '  a title of two lines  1 d    paused',
      ],
    )
    const narrow = pickerRows('Which?', items, { query: 'p', chosen: 0 }, { columns: 12, rows: 2 })
    assert.equal([narrow.title, narrow.items.length], ['Which? p', 1])
    for (const { text } of narrow.items) assert.ok(textWidth(text) <= 12)
    const none = pickerRows('Which?', items, { query: 'zz', chosen: 0 }, { columns: 60, rows: 10 })
    assert.equal(
      none.items.map(({ text }) => text),
      ['  no match'],
    )
  })
})
