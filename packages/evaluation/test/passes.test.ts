import { confidence } from '../src/statistics/figure.ts'
import { z95 } from '../src/statistics/normal.ts'
import { tQuantile } from '../src/statistics/studentT.ts'
import { wilson } from '../src/statistics/wilson.ts'
import { meanOf } from '../src/statistics/moments.ts'
import { allOf, passHatK, type TaskPasses } from '../src/statistics/passes.ts'
import { passesDifference, type TaskPairs } from '../src/statistics/pairedPasses.ts'
import { perTask } from '../src/statistics/perTask.ts'
import { randomNumbers } from '../src/statistics/randomNumbers.ts'
import { assert, describe } from '../../../test/support/suite.ts'

/** The share of all ways to draw `k` of these trials in which each passed. */
function byCounting(k: number, { passed, trials }: TaskPasses): number {
  let drawn = 0
  let good = 0
  for (let set = 0; set < 2 ** trials; set += 1) {
    const members = Array.from({ length: trials }, (_, index) => index).filter((index) => (set >> index) & 1)
    if (members.length !== k) continue
    drawn += 1
    if (members.every((index) => index < passed)) good += 1
  }
  return good / drawn
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) < 1e-10

describe('passHatK', (it) => {
  it('is the share of draws of k trials that all passed', () => {
    for (let trials = 1; trials <= 8; trials += 1)
      for (let passed = 0; passed <= trials; passed += 1)
        for (let k = 1; k <= trials; k += 1)
          assert.ok(
            isNear(allOf(k, { passed, trials }), byCounting(k, { passed, trials })),
            `${passed}/${trials} ^${k}`,
          )
  })

  it('has every task count the same, however often it was tried, and leaves out those with fewer than k trials', () => {
    const tasks = [
      { passed: 1, trials: 1 },
      { passed: 1, trials: 4 },
      { passed: 0, trials: 2 },
    ]
    const one = passHatK(tasks)
    assert.ok(isNear(one.value!, (1 + 0.25 + 0) / 3))
    assert.equal([one.tasks, one.trials], [3, 7])
    const two = passHatK(tasks, 2)
    assert.equal([two.value, two.tasks, two.trials], [0, 2, 6])
    assert.equal(passHatK(tasks, 5).why, 'no task has 5 finished trials')
  })

  it('says why it has no interval: no trial, one task tried once, one task and more than one trial of it', () => {
    assert.equal(passHatK([]), { value: null, interval: null, why: 'no trial was finished', tasks: 0, trials: 0 })
    assert.match(passHatK([{ passed: 1, trials: 1 }]).why!, /one task only/)
    assert.is(passHatK([{ passed: 1, trials: 1 }]).interval, null)
    assert.is(passHatK([{ passed: 3, trials: 4 }], 2).interval, null)
    // Over its own trials, and it says so.
    const alone = passHatK([{ passed: 3, trials: 4 }])
    assert.match(alone.why!, /says nothing about others/)
    assert.ok(alone.interval!.low > 0.25 && alone.interval!.high < 1)
  })

  it('never has an interval without width: not where all passed, not where none did, not where tasks do not differ', () => {
    const all = (trials: number) => passHatK(Array.from({ length: 10 }, () => ({ passed: trials, trials }))).interval
    assert.equal(all(4), all(1), 'where all passed, each task counts as one trial')
    for (const passed of [0, 2, 4]) {
      const { value, interval } = passHatK(Array.from({ length: 10 }, () => ({ passed, trials: 4 })))
      assert.ok(interval!.high - interval!.low > 0.1, `${passed}: ${JSON.stringify(interval)}`)
      assert.ok(interval!.low <= value! && value! <= interval!.high)
    }
  })

  it('of k trials has as many independent draws as trials make, never more, however little tasks differ', () => {
    const tasks = Array.from({ length: 20 }, (_, at) => ({ passed: at % 10 === 0 ? 5 : 6, trials: 8 }))
    for (const k of [1, 2, 4]) {
      const { value, interval, trials } = passHatK(tasks, k)
      const { mean, error } = meanOf(tasks.map((task) => allOf(k, task)))
      assert.ok((mean * (1 - mean)) / error ** 2 > trials / k, 'the spread alone would make them more')
      const width = (z95 / tQuantile(confidence, tasks.length - 1)) ** 2
      assert.equal(interval, wilson(value!, (trials / k) * width), `${k}`)
    }
  })

  it('is as wide as the trials of one task are alike: five of each tell no more than one if a task always passes or never', () => {
    const width = (tasks: readonly TaskPasses[]): number => {
      const { low, high } = passHatK(tasks).interval!
      return high - low
    }
    const once = width(Array.from({ length: 20 }, (_, index) => ({ passed: index % 2, trials: 1 })))
    const alike = width(Array.from({ length: 20 }, (_, index) => ({ passed: 5 * (index % 2), trials: 5 })))
    const unlike = width(Array.from({ length: 20 }, (_, index) => ({ passed: 2 + (index % 2), trials: 5 })))
    assert.ok(Math.abs(alike - once) < 0.01, `${alike} ${once}`)
    assert.ok(unlike < alike / 1.8, `${unlike} ${alike}`)
  })

  it('holds the truth about further tasks as often as it says', { timeoutMs: 20_000 }, () => {
    const kinds = { extreme: [0, 0, 1, 1, 1, 0.9, 0.5], middling: [0.4, 0.5, 0.6], rare: [0, 0.1, 0.05] }
    const random = randomNumbers(8)
    for (const [name, kind] of Object.entries(kinds))
      for (const [tasks, trials, k] of [
        [5, 5, 1],
        [20, 5, 1],
        [20, 5, 3],
        [20, 1, 1],
      ] as const) {
        const truth = meanOf(kind.map((chance) => chance ** k)).mean
        let held = 0
        for (let repetition = 0; repetition < 600; repetition += 1) {
          const sample = Array.from({ length: tasks }, (): TaskPasses => {
            const chance = kind[Math.floor(random() * kind.length)]!
            return { passed: Array.from({ length: trials }, () => random() < chance).filter(Boolean).length, trials }
          })
          const { low, high } = passHatK(sample, k).interval!
          if (low <= truth && truth <= high) held += 1
        }
        // 4 standard errors below .95, of which discrete figures take one or two.
        assert.ok(held / 600 > 0.91, `${name}, ${tasks} × ${trials}, k ${k}: ${held / 6} %`)
      }
  })
})

describe('passesDifference', (it) => {
  const all = (count: number, pairs: TaskPairs): TaskPairs[] => Array.from({ length: count }, () => pairs)

  it('is the mean over tasks of how many more pairs only the arm passed', () => {
    const { value, tasks, trials } = passesDifference([
      { both: 1, onlyArm: 2, onlyBaseline: 0, neither: 1 },
      { both: 0, onlyArm: 0, onlyBaseline: 1, neither: 1 },
      { both: 0, onlyArm: 0, onlyBaseline: 0, neither: 0 },
    ])
    assert.equal([value, tasks, trials], [0, 2, 6])
  })

  it('has a width where all tasks say the same, which shrinks with more of them', () => {
    const width = (count: number): number => {
      const { low, high } = passesDifference(all(count, { both: 5, onlyArm: 0, onlyBaseline: 0, neither: 0 })).interval!
      assert.ok(low < 0 && high > 0)
      return high - low
    }
    assert.ok(width(3) > width(10) && width(10) > width(100) && width(100) > 0)
  })

  it('is bounded by −1 and 1, and has no interval for one task', () => {
    const { interval } = passesDifference(all(2, { both: 0, onlyArm: 1, onlyBaseline: 0, neither: 0 }))
    assert.equal(interval, { low: -1, high: 1 })
    const alone = passesDifference(all(1, { both: 0, onlyArm: 1, onlyBaseline: 0, neither: 0 }))
    assert.is(alone.interval, null)
    assert.match(alone.why!, /one task only/)
  })
})

describe('perTask', (it) => {
  it('is the mean of the means of tasks, within its bounds', () => {
    const { value, interval, tasks, trials } = perTask([[1, 3], [5], [], [0]], { least: 0 })
    assert.ok(isNear(value!, (2 + 5 + 0) / 3))
    assert.equal([tasks, trials, interval!.low], [3, 4, 0])
    assert.ok(isNear(interval!.high, 7 / 3 + 4.302652729749464 * (Math.sqrt(19 / 3) / Math.sqrt(3))))
  })

  it('says that what does not vary shows no spread', () => {
    assert.match(perTask([[2], [2, 2]]).why!, /same in every task/)
    assert.is(perTask([[2], [2, 2]]).value, 2)
    assert.equal(perTask([[], []]).why, 'nothing was measured')
  })
})
