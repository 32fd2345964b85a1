import * as fc from 'fast-check'
import { textWidth } from '../../charts/src/textWidth.ts'
import type { Key } from '../src/terminal/input/keys.ts'
import { menuRows, stepMenu, type MenuItem } from '../src/terminal/menu.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const items: readonly MenuItem[] = [
  { typed: 'y', label: 'yes' },
  { typed: 'n', label: 'no' },
  { typed: 'n', label: 'why not', isBegun: true },
]
const key = (name: string): Key => ({ type: 'key', name })

describe('a menu of answers', (it) => {
  for (const [chosen, name, next] of [
    [undefined, 'down', 0],
    [undefined, 'up', 2],
    [2, 'down', 0],
    [0, 'tab', 1],
    [1, 'shift+tab', 0],
  ] as const)
    it(`moves from ${chosen ?? 'nothing'} with ${name}`, () =>
      assert.equal(stepMenu(chosen, key(name), '', items), { type: 'moved', chosen: next }))

  it('is answered with Enter, once something is chosen', () => {
    assert.equal(stepMenu(1, key('enter'), '', items), { type: 'taken', item: items[1] })
    assert.is(stepMenu(undefined, key('enter'), '', items), undefined)
  })

  it('leaves what is typed and pasted to the line, and every key while something is typed', () => {
    assert.is(stepMenu(0, { type: 'paste', text: 'y\n' }, '', items), undefined)
    assert.is(stepMenu(0, { type: 'text', text: 'y' }, '', items), undefined)
    assert.is(stepMenu(0, key('enter'), 'n', items), undefined)
    assert.is(stepMenu(0, key('down'), 'n', items), undefined)
    assert.is(stepMenu(undefined, key('down'), '', []), undefined)
  })

  it('is drawn around what is chosen, and never wider or higher than there is room', () => {
    assert.equal(
      menuRows(items, 2, { columns: 30, rows: 2 }).map(({ text }) => text),
      ['    n    no', '  › n …  why not'],
    )
    fc.assert(
      fc.property(
        fc.array(fc.record({ typed: fc.string({ unit: 'grapheme' }), label: fc.string({ unit: 'binary' }) })),
        fc.integer({ min: 1, max: 60 }),
        fc.nat(8),
        (some, columns, rows) => {
          for (const chosen of [undefined, ...some.keys()]) {
            const drawn = menuRows(some, chosen, { columns, rows })
            assert.ok(drawn.length <= rows)
            for (const { text } of drawn) assert.ok(textWidth(text) <= columns && !/\p{Cc}/u.test(text))
            if (chosen !== undefined && rows > 0) assert.is(drawn.filter(({ isChosen }) => isChosen).length, 1)
          }
        },
      ),
      { seed: 19 },
    )
  })
})
