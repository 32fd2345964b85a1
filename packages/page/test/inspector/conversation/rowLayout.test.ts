import { RowLayout } from '../../../src/inspector/parts/rowLayout.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const keyOf = (index: number): number => index
const of = (count: number, estimate: number | ((index: number) => number) = 10): RowLayout => {
  const layout = new RowLayout()
  layout.take({ count, keyOf, estimate })
  return layout
}

describe('where the rows of a list stand', (it) => {
  it('is reckoned for rows of one height, however many', () => {
    const layout = of(1_000_000)
    assert.equal([layout.total, layout.startOf(999_999), layout.indexAt(5_000_005)], [10_000_000, 9_999_990, 500_000])
    assert.ok(layout.isExact)
  })

  it('follows what was measured', () => {
    const layout = of(100, (index) => (index % 2 === 0 ? 10 : 20))
    assert.equal([layout.total, layout.startOf(3)], [1_500, 40])
    assert.is(layout.measured(1, 50), 30)
    assert.is(layout.measured(1, 50), 0)
    assert.equal([layout.total, layout.startOf(1), layout.startOf(2), layout.startOf(3)], [1_530, 10, 60, 70])
    assert.is(layout.measured(0, 5), -5)
    assert.equal([layout.startOf(1), layout.startOf(2)], [5, 55])
    assert.equal([layout.isMeasured(1), layout.isMeasured(2)], [true, false])
  })

  it('keeps the heights of rows that move', () => {
    const layout = of(3, () => 10)
    layout.measured(2, 70)
    layout.take({ count: 4, keyOf: (index) => index - 1, estimate: () => 10 })
    assert.equal([layout.startOf(3), layout.startOf(4)], [30, 100])
    layout.take({ count: 2, keyOf: (index) => index + 1, estimate: () => 10 })
    assert.equal([layout.total, layout.startOf(1)], [80, 10])
  })

  it('finds the row at a distance, and none where there are none', () => {
    const layout = of(4, (index) => [10, 0, 30, 5][index]!)
    const found = [-5, 0, 9, 10, 39, 40, 44, 45, 1_000].map((offset) => layout.indexAt(offset))
    assert.equal(found, [0, 0, 0, 2, 2, 3, 3, 3, 3])
    assert.is(of(0).indexAt(10), -1)
    assert.is(of(0).total, 0)
  })

  it('has no rows but its own', () => {
    const layout = of(2)
    assert.is(layout.measured(7, 100), 0)
    assert.equal([layout.startOf(-3), layout.startOf(9), layout.total], [0, 20, 20])
  })
})
