import { array, assert as check, nat, property, record } from 'fast-check'
import { barIn, panned, roomFor, ticksIn, timeAxis, zoomed } from '../../../src/inspector/model/timeline/timeAxis.ts'
import { someRuns } from '../../../../../test/support/seeds.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

describe('the axis of time', (it) => {
  const hours = 3_600_000
  const axis = timeAxis([
    { from: 0, to: 10_000 },
    { from: 4_000, to: 12_000 },
    { from: 5 * hours, to: 5 * hours + 13_000 },
  ])

  it('leaves out most of a long pause, and nothing of what happened', () => {
    assert.equal([0, 6_000, 12_000].map(axis.place), [0, 6_000, 12_000])
    assert.equal([5 * hours, 5 * hours + 13_000].map(axis.place), [13_000, 26_000])
    assert.is(axis.place(2 * hours), 13_000)
    assert.is(axis.place(12_400), 12_400)
    assert.is(axis.length, 26_000)
    assert.is(timeAxis([]).length, 1)
    assert.is(axis.place(5 * hours + 20_000), 33_000)
  })

  it('is labelled by the time of day where something begins, and by what has passed since', () => {
    const ticks = ticksIn(axis, { from: 0, to: 26_000 }, 15, (index) => `start ${index}`)
    assert.equal(
      ticks.map(({ label, isStart }) => (isStart ? `(${label})` : label)),
      ['(start 0)', '+5 s', '(start 1)', '+5 s', '+10 s'],
    )
    const near = ticksIn(axis, { from: 14_000, to: 14_100 }, 20, () => '')
    assert.equal(
      near.map(({ label }) => label),
      ['+1 s', '+1.02 s', '+1.04 s', '+1.06 s', '+1.08 s'],
    )
    const long = timeAxis([{ from: 0, to: 5 * hours }])
    assert.equal(
      ticksIn(long, { from: 0, to: 5 * hours }, 15, () => '14:03').map(({ label }) => label),
      ['14:03', '+1:00 h', '+2:00 h', '+3:00 h', '+4:00 h'],
    )
  })

  it('is zoomed about a place that stays, moved within its ends, and never too near or too far', () => {
    const window = { from: 0, to: 100 }
    assert.equal(zoomed(window, 100, 0.5, 25), { from: 12.5, to: 62.5 })
    assert.equal(zoomed(window, 100, 4, 25), window)
    assert.equal(zoomed(window, 100, 0.0001, 50), { from: 47.5, to: 52.5 })
    assert.equal(panned({ from: 10, to: 30 }, 100, 0.5), { from: 20, to: 40 })
    assert.equal(panned({ from: 10, to: 30 }, 100, -2), { from: 0, to: 20 })
    assert.equal(panned({ from: 0, to: 500 }, 100, 0), window)
  })

  it('cuts bars at its window, and leaves out those outside', () => {
    const window = { from: 100, to: 200 }
    assert.equal(barIn(window, 50, 150), { left: 0, width: 50 })
    assert.equal(barIn(window, 150, 400), { left: 50, width: 50 })
    assert.equal(barIn(window, 120, 120), { left: 20, width: 0 })
    assert.equal([barIn(window, 0, 99), barIn(window, 201, 300)], [null, null])
  })

  it('has room for what goes on, which seldom changes', () => {
    assert.equal([0, 1_000, 1_001, 1_250, 1_251].map(roomFor), [1_000, 1_000, 1_250, 1_250, 1_562.5])
  })

  it('keeps the order of times, whatever happened when', () => {
    const spans = array(record({ from: nat(1_000_000), ms: nat(10_000) }), { minLength: 1, maxLength: 20 })
    check(
      property(spans, array(nat(1_100_000)), (all, times) => {
        const busy = all.map(({ from, ms }) => ({ from, to: from + ms })).toSorted((a, b) => a.from - b.from)
        const any = timeAxis(busy)
        const placed = times.toSorted((a, b) => a - b).map(any.place)
        for (const [index, at] of placed.entries()) assert.ok(at >= (placed[index - 1] ?? 0))
        for (const { from, to } of busy) {
          assert.ok(Math.abs(any.place(to) - any.place(from) - (to - from)) < 1e-6)
          assert.ok(any.place(to) <= any.length + 1e-6)
        }
      }),
      { numRuns: someRuns(400), seed: 19 },
    )
  })
})
