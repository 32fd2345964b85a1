import { assert, describe } from '../../support/suite.ts'
import { resumeLife, type LifeOutcome, type LifePlan } from './resume/resumeLife.ts'

/** Lives these lives, one after the other. */
async function live(seeds: readonly number[], change: Partial<LifePlan> = {}): Promise<LifeOutcome[]> {
  const outcomes: LifeOutcome[] = []
  for (const seed of seeds) {
    const outcome = await resumeLife(seed, change)
    assert.equal(outcome.faults, [], `seed ${seed}`)
    outcomes.push(outcome)
  }
  return outcomes
}

const from = (first: number, count: number): number[] => Array.from({ length: count }, (_, n) => first + n)
const sum = (outcomes: readonly LifeOutcome[], of: (outcome: LifeOutcome) => number): number =>
  outcomes.reduce((total, outcome) => total + of(outcome), 0)

describe('a client under which everything breaks for long', (it) => {
  it(
    'hears its log to the end over 200 turns, and each command is carried out once',
    { timeoutMs: 60_000 },
    async () => {
      const outcomes = await live(from(1, 2), { cuts: 6, kills: 3, holds: 3 })
      assert.ok(outcomes.every(({ turns }) => turns >= 200))
      assert.ok(sum(outcomes, ({ kills }) => kills) > 10)
      assert.ok(sum(outcomes, ({ connections }) => connections) > 40)
      assert.ok(sum(outcomes, ({ commands }) => commands) > 30)
    },
  )
})
