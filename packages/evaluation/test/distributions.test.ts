import { normalBelow, z95 } from '../src/statistics/normal.ts'
import { tQuantile, tWithin } from '../src/statistics/studentT.ts'
import { wilson } from '../src/statistics/wilson.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { jStat } from './jstat.ts'

const isNear = (a: number, b: number, by = 1e-7): boolean => Math.abs(a - b) <= by * Math.max(1, Math.abs(b))

describe('distributions', (it) => {
  it("has Student's t as a library has it, from 1 to 1,000 degrees of freedom", () => {
    for (const degrees of [1, 2, 3, 4, 5, 8, 9, 19, 20, 99, 499, 1_000]) {
      for (const t of [0, 0.1, 0.7, 1, 2.5, 6, 40]) {
        const expected = 2 * jStat.studentt.cdf(t, degrees) - 1
        assert.ok(isNear(tWithin(t, degrees), expected), `${t} ${degrees}: ${tWithin(t, degrees)} ${expected}`)
      }
      const expected = jStat.studentt.inv(0.975, degrees)
      assert.ok(isNear(tQuantile(0.95, degrees), expected, 1e-6), `${degrees}: ${tQuantile(0.95, degrees)} ${expected}`)
    }
  })

  it('has the normal distribution as a library has it, far out too', () => {
    for (const x of [-40, -8, -3.5, -1, -0.2, 0, 0.3, 1, z95, 5, 40])
      assert.ok(isNear(normalBelow(x), jStat.normal.cdf(x, 0, 1)), String(x))
    assert.ok(isNear(normalBelow(z95), 0.975, 1e-12))
  })

  it('bounds a share where a score test of 5 % turns, for any number of trials', () => {
    for (const trials of [1, 2, 5, 7.3, 40, 1_000])
      for (const share of [0, 0.1, 0.5, 0.93, 1]) {
        const { low, high } = wilson(share, trials)
        assert.ok(0 <= low && low <= share && share <= high && high <= 1)
        for (const bound of [low, high])
          if (bound > 0 && bound < 1) {
            const errors = Math.abs(share - bound) / Math.sqrt((bound * (1 - bound)) / trials)
            assert.ok(isNear(errors, z95, 1e-9), `${share} of ${trials}: ${bound} is ${errors} errors away`)
          }
      }
  })
})
