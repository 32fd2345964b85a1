import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'
import { chaosTree, type ChaosOutcome } from './chaosTree.ts'

const seedsAGroup = someRuns(60)

/** Lives these trees, one after the other. */
async function live(seeds: readonly number[], change: Parameters<typeof chaosTree>[1] = {}): Promise<ChaosOutcome[]> {
  const outcomes: ChaosOutcome[] = []
  for (const seed of seeds) {
    const outcome = await chaosTree(seed, change)
    assert.equal(outcome.faults, [], `seed ${seed}`)
    outcomes.push(outcome)
  }
  return outcomes
}

const from = (first: number, count = seedsAGroup): number[] => Array.from({ length: count }, (_, n) => first + n)
const sum = (outcomes: readonly ChaosOutcome[], of: (outcome: ChaosOutcome) => number): number =>
  outcomes.reduce((total, outcome) => total + of(outcome), 0)

describe('a tree of agents in chaos of one kind', (it) => {
  it('survives crashes on every level, its root among them', { timeoutMs: 60_000 }, async () => {
    const outcomes = await live(from(2_000), { crashes: 20, rootCrashes: true, restart: 'transient', maxRestarts: 3 })
    assert.ok(sum(outcomes, ({ crashes }) => crashes) > 25)
  })

  it('survives a store that fails and takes its time', { timeoutMs: 60_000 }, async () => {
    const outcomes = await live(from(3_000), { storeFailures: 20, storeDelay: 5 })
    assert.ok(sum(outcomes, ({ storeFailures }) => storeFailures) > 10)
  })

  it('survives whatever people do to any of its agents at any time', { timeoutMs: 60_000 }, async () => {
    const outcomes = await live(from(4_000), { interference: 80, spawnsFromCode: true, limits: {} })
    for (const deed of ['abort', 'steer', 'followUp', 'prompt', 'stop', 'close', 'spawn', 'interrupt'])
      assert.ok(sum(outcomes, ({ deeds }) => deeds[deed] ?? 0) > 0, deed)
  })
})
