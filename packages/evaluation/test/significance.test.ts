import * as fc from 'fast-check'
import { holm } from '../src/statistics/holm.ts'
import { kappa, type Agreement } from '../src/statistics/kappa.ts'
import { mcNemar } from '../src/statistics/mcNemar.ts'
import { randomNumbers } from '../src/statistics/randomNumbers.ts'
import { signFlip } from '../src/statistics/signFlip.ts'
import { someRuns } from '../../../test/support/seeds.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { jStat } from './jstat.ts'

const isNear = (a: number, b: number, by = 1e-9): boolean => Math.abs(a - b) <= by

describe('mcNemar', (it) => {
  it('is the share of all splits of the discordant pairs that are as uneven', () => {
    for (let pairs = 0; pairs <= 12; pairs += 1)
      for (let first = 0; first <= pairs; first += 1) {
        let asUneven = 0
        for (let split = 0; split < 2 ** pairs; split += 1) {
          const heads = split.toString(2).replaceAll('0', '').length
          if (Math.abs(2 * heads - pairs) >= Math.abs(2 * first - pairs)) asUneven += 1
        }
        assert.ok(isNear(mcNemar(first, pairs - first), asUneven / 2 ** pairs), `${first} of ${pairs}`)
      }
  })

  it('agrees with the binomial distribution of a library, for thousands of pairs too', () => {
    for (const [a, b] of [
      [3, 12],
      [40, 61],
      [300, 240],
      [2_000, 2_150],
    ] as const) {
      const expected = 2 * jStat.binomial.cdf(Math.min(a, b), a + b, 0.5)
      assert.ok(isNear(mcNemar(a, b), expected, 1e-6), `${a} ${b}: ${mcNemar(a, b)} ${expected}`)
    }
    assert.ok(mcNemar(0, 5_000) < 1e-300 && mcNemar(0, 5_000) >= 0)
  })

  it('is 1 without a discordant pair, and the same either way round', () => {
    assert.is(mcNemar(0, 0), 1)
    assert.is(mcNemar(4, 9), mcNemar(9, 4))
    assert.is(mcNemar(7, 7), 1)
  })
})

/** By the closed testing that Holm's procedure is short for: the worst Bonferroni p of all sets of tests that have this one. */
function byClosedTesting(tests: readonly number[]): number[] {
  return tests.map((_, own) => {
    let worst = 0
    for (let set = 1; set < 2 ** tests.length; set += 1) {
      if (((set >> own) & 1) === 0) continue
      const members = tests.filter((_p, index) => (set >> index) & 1)
      worst = Math.max(worst, Math.min(1, members.length * Math.min(...members)))
    }
    return worst
  })
}

describe('holm', (it) => {
  it('is closed testing by Bonferroni', () => {
    const tests = fc.array(
      fc.integer({ min: 0, max: 40 }).map((of) => of / 100),
      { minLength: 1, maxLength: 7 },
    )
    const property = fc.property(tests, (given) => {
      const expected = byClosedTesting(given)
      holm(given).forEach((p, index) => assert.ok(isNear(p!, expected[index]!), JSON.stringify({ given, expected })))
    })
    fc.assert(property, { numRuns: someRuns(800), seed: 59 })
  })

  it('passes over what was not tested', () => {
    assert.equal(holm([null, 0.01, null, 0.04]), [null, 0.02, null, 0.04])
    assert.equal(holm([]), [])
  })
})

/** By looking at each of the 2ⁿ assignments, one after the other. */
function byEnumeration(differences: readonly number[]): number {
  const size = Math.abs(differences.reduce((sum, value) => sum + value, 0))
  let extreme = 0
  for (let set = 0; set < 2 ** differences.length; set += 1) {
    const sum = differences.reduce((all, value, index) => all + (((set >> index) & 1) === 1 ? value : -value), 0)
    if (Math.abs(sum) >= size - 1e-9) extreme += 1
  }
  return extreme / 2 ** differences.length
}

describe('signFlip', (it) => {
  it('is the share of all assignments of signs whose sum is as far from nothing', () => {
    const differences = fc.array(fc.integer({ min: -6, max: 6 }), { minLength: 1, maxLength: 10 })
    const property = fc.property(differences, fc.constantFrom(1, 0.1, 1e-5), (given, unit) => {
      const found = signFlip(
        given.map((value) => value * unit),
        1,
      )
      assert.ok(found.isExact && isNear(found.p, byEnumeration(given)), `${found.p} ${byEnumeration(given)}`)
      assert.ok(found.p >= found.smallest)
    })
    fc.assert(property, { numRuns: someRuns(600), seed: 60 })
  })

  it(
    'draws assignments where there are too many, the same for a seed, near the exact figure and never 0',
    { timeoutMs: 20_000 },
    () => {
      const random = randomNumbers(3)
      const differences = Array.from({ length: 18 }, () => random() - 0.35)
      const found = signFlip(differences, 7)
      assert.is(found.isExact, false)
      assert.equal(signFlip(differences, 7), found)
      const exact = byEnumeration(differences)
      assert.ok(Math.abs(found.p - exact) < 4 * Math.sqrt((exact * (1 - exact)) / 20_000) + 1e-4, `${found.p} ${exact}`)
      const plain = signFlip(
        Array.from({ length: 40 }, () => 1),
        7,
      )
      assert.ok(plain.p > 0 && plain.p === plain.smallest)
    },
  )

  it('says what so few differences can show at most', () => {
    assert.is(signFlip([1, 2, 3, 4, 5], 1).smallest, 1 / 16)
    assert.is(signFlip([1, 2, 3, 4, 5], 1).p, 1 / 16)
    assert.equal(signFlip([], 1), { p: 1, isExact: true, smallest: 1 })
    assert.equal(signFlip([0, 0], 1), { p: 1, isExact: true, smallest: 1 })
  })
})

const valueOf = (shares: readonly number[]): number => {
  const [both, onlyFirst, onlySecond, neither] = shares as [number, number, number, number]
  const [first, second] = [both + onlyFirst, both + onlySecond]
  const expected = first * second + (1 - first) * (1 - second)
  return (both + neither - expected) / (1 - expected)
}

/** The standard error by the delta method, with slopes found by small steps. */
function byDelta({ both, onlyFirst, onlySecond, neither }: Agreement): number {
  const counts = [both, onlyFirst, onlySecond, neither]
  const total = counts.reduce((sum, count) => sum + count, 0)
  const shares = counts.map((count) => count / total)
  const slopes = shares.map((_, index) => {
    const moved = (by: number): number => valueOf(shares.map((share, at) => share + (at === index ? by : 0)))
    return (moved(1e-6) - moved(-1e-6)) / 2e-6
  })
  const mean = slopes.reduce((sum, slope, index) => sum + slope * shares[index]!, 0)
  const square = slopes.reduce((sum, slope, index) => sum + slope * slope * shares[index]!, 0)
  return Math.sqrt((square - mean * mean) / total)
}

describe('kappa', (it) => {
  it('is agreement beyond chance, with the interval that the delta method gives', () => {
    for (const counts of [
      { both: 20, onlyFirst: 5, onlySecond: 10, neither: 15 },
      { both: 45, onlyFirst: 15, onlySecond: 25, neither: 15 },
      { both: 3, onlyFirst: 2, onlySecond: 1, neither: 60 },
    ]) {
      const { value, interval } = kappa(counts)
      const total = counts.both + counts.onlyFirst + counts.onlySecond + counts.neither
      assert.ok(isNear(value!, valueOf(Object.values(counts).map((count) => count / total))))
      assert.ok(isNear((value! - interval!.low) / 1.959963984540054, byDelta(counts), 1e-5), JSON.stringify(counts))
    }
    assert.ok(isNear(kappa({ both: 20, onlyFirst: 5, onlySecond: 10, neither: 15 }).value!, 0.4))
  })

  it('says why there is none, or no interval', () => {
    assert.match(kappa({ both: 0, onlyFirst: 0, onlySecond: 0, neither: 0 }).why!, /nothing was judged/)
    assert.match(kappa({ both: 9, onlyFirst: 0, onlySecond: 0, neither: 0 }).why!, /chance alone/)
    const perfect = kappa({ both: 5, onlyFirst: 0, onlySecond: 0, neither: 5 })
    assert.equal([perfect.value, perfect.interval], [1, null])
    assert.match(perfect.why!, /never differ/)
  })
})
