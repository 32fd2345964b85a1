import { liveAll, seedsFrom, sum } from '../../../../test/support/seededLives.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { resumeLife, type LifePlan } from './resume/resumeLife.ts'

const live = (seeds: readonly number[], change: Partial<LifePlan> = {}) =>
  liveAll(seeds, (seed) => resumeLife(seed, change))

describe('a client under which everything breaks for long', (it) => {
  it(
    'hears its log to the end over 200 turns, and each command is carried out once',
    { timeoutMs: 60_000 },
    async () => {
      const outcomes = await live(seedsFrom(1, 2), { cuts: 6, kills: 3, holds: 3 })
      assert.ok(outcomes.every(({ turns }) => turns >= 200))
      assert.ok(sum(outcomes, ({ kills }) => kills) > 10)
      assert.ok(sum(outcomes, ({ connections }) => connections) > 40)
      assert.ok(sum(outcomes, ({ commands }) => commands) > 30)
    },
  )
})
