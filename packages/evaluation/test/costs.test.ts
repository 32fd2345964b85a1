import { bootstrap } from '../src/statistics/bootstrap.ts'
import { costRatio, costTest, type TaskCosts } from '../src/statistics/pairedCosts.ts'
import { normalBelow } from '../src/statistics/normal.ts'
import { randomNumbers } from '../src/statistics/randomNumbers.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const task = (baseline: number, arm: number): TaskCosts => ({ baseline, arm, pairs: 5 })
const five = [task(1, 0.5), task(2, 1.2), task(3, 2.9), task(1.5, 1.4), task(4, 2)]

/** The ratio of sums of every one of the 5⁵ ways to draw five tasks. */
function allRatios(tasks: readonly TaskCosts[]): number[] {
  const ratios: number[] = []
  for (let way = 0; way < 5 ** 5; way += 1) {
    const drawn = Array.from({ length: 5 }, (_, place) => tasks[Math.floor(way / 5 ** place) % 5]!)
    ratios.push(drawn.reduce((sum, { arm }) => sum + arm, 0) / drawn.reduce((sum, { baseline }) => sum + baseline, 0))
  }
  return ratios.toSorted((a, b) => a - b)
}

describe('costRatio', (it) => {
  it('is the ratio of sums, between the ratios that resampled tasks have', () => {
    const { value, interval, tasks, trials } = costRatio(five, 1)
    assert.is(value, 8 / 11.5)
    assert.equal([tasks, trials], [5, 25])
    const ratios = allRatios(five)
    // For five tasks: the normal distribution below −√(5/4) · t(4).
    const share = normalBelow(-Math.sqrt(5 / 4) * 2.7764451051977987)
    const at = (place: number): number =>
      ratios[Math.min(ratios.length - 1, Math.max(0, Math.round(place * ratios.length)))]!
    for (const [bound, place] of [
      [interval!.low, share],
      [interval!.high, 1 - share],
    ] as const)
      assert.ok(at(place - 0.001) <= bound && bound <= at(place + 0.001), JSON.stringify([interval, share]))
  })

  it('is the same for a seed, and nearly the same for another', () => {
    assert.equal(costRatio(five, 4), costRatio(five, 4))
    const [a, b] = [costRatio(five, 4), costRatio(five, 5)]
    assert.ok(Math.abs(a.interval!.low - b.interval!.low) < 0.05)
  })

  it('says why there is no ratio or no interval', () => {
    assert.match(costRatio([], 1).why!, /no trial with a price/)
    assert.match(costRatio([task(0, 1), task(0, 2)], 1).why!, /baseline cost nothing/)
    assert.match(costRatio([task(1, 2)], 1).why!, /one task only/)
    assert.match(costRatio(five.slice(0, 4), 1).why!, /fewer than 5 tasks/)
    const some = costRatio([task(1, 1), task(0, 1), task(0, 1), task(0, 1), task(0, 1)], 1)
    assert.equal([some.value, some.interval], [5, null])
    assert.match(some.why!, /cost nothing in the baseline/)
    for (const { interval } of [costRatio([task(1, 2)], 1), costRatio(five.slice(0, 4), 1)]) assert.is(interval, null)
  })

  it(
    'holds the truth about further tasks nearly as often as it says, for few and skewed tasks too',
    { timeoutMs: 60_000 },
    () => {
      const random = randomNumbers(12)
      const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
      const truth = 0.8 * Math.exp(0.3 ** 2 / 2)
      for (const tasks of [5, 20]) {
        let held = 0
        const repetitions = 150
        for (let repetition = 0; repetition < repetitions; repetition += 1) {
          const sample = Array.from({ length: tasks }, () => {
            const baseline = Math.exp(normal())
            return task(baseline * Math.exp(0.3 * normal() - 0.045), baseline * 0.8 * Math.exp(0.3 * normal()))
          })
          const { low, high } = costRatio(sample, repetition).interval!
          if (low <= truth && truth <= high) held += 1
        }
        assert.ok(held / repetitions > 0.85, `${tasks} tasks: ${(100 * held) / repetitions} %`)
      }
    },
  )
})

describe('costTest', (it) => {
  it('tests sums of tasks, so that nothing is tested without pairs', () => {
    assert.is(costTest([], 1), null)
    assert.is(costTest([{ baseline: 0, arm: 0, pairs: 0 }], 1), null)
    assert.is(costTest([task(1, 2), task(2, 4), task(3, 6), task(1, 2), task(1, 2), task(1, 2)], 1)!.p, 2 / 64)
    assert.is(costTest([task(1, 1)], 1)!.p, 1)
  })
})

describe('bootstrap', (it) => {
  it('has no interval for what is not finite in some resample, nor for fewer than five tasks', () => {
    assert.is(
      bootstrap(6, (drawn) => 1 / drawn[0]!, 1),
      null,
    )
    assert.is(
      bootstrap(4, () => 1, 1),
      null,
    )
    assert.equal(
      bootstrap(6, () => 3, 1),
      { low: 3, high: 3 },
    )
  })

  it('draws as many tasks as there are', () => {
    bootstrap(
      7,
      (drawn) => {
        assert.is(
          drawn.reduce((sum, count) => sum + count, 0),
          7,
        )
        return 1
      },
      1,
    )
  })
})
