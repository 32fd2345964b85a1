import { someRuns } from '../support/seeds.ts'
import { liveAll, seedsFrom, sum } from '../support/seededLives.ts'
import { assert, describe } from '../support/suite.ts'
import { chaosTree, type ChaosOutcome } from './chaosTree.ts'
import { Dice } from './dice.ts'

const seedsAGroup = someRuns(60)

const live = (seeds: readonly number[], change: Parameters<typeof chaosTree>[1] = {}) =>
  liveAll(seeds, (seed) => chaosTree(seed, change))
const from = (first: number) => seedsFrom(first, seedsAGroup)

// `node test/tree/chaosMatrix.ts` lives thousands.
describe('a tree of agents in chaos', (it) => {
  it('comes to its end, with every log whole and nothing left', { timeoutMs: 60_000 }, async () => {
    const trees = someRuns(160)
    const outcomes = await live(seedsFrom(1, trees))
    assert.ok(sum(outcomes, ({ agents }) => agents) > 5 * trees)
    assert.ok(sum(outcomes, ({ crashes }) => crashes) > trees / 4)
    assert.ok(outcomes.some(({ depth }) => depth === 5))
  })

  it('keeps to its budget to the token, whatever crashes and is aborted', { timeoutMs: 60_000 }, async () => {
    await live(from(1_000), { limits: { tokens: 4_000, costUsd: 0.02, turns: 40 }, spawnsFromCode: false })
  })

  it('is the same tree for the same seed', { timeoutMs: 20_000 }, async () => {
    const [first, again] = [await chaosTree(5), await chaosTree(5)]
    const logs = ({ traces }: ChaosOutcome) => traces.map(({ agentId, records }) => [agentId, records])
    assert.equal(logs(first), logs(again))
  })
})

describe('dice', (it) => {
  it('fall the same for a seed, within their bounds', () => {
    const rolls = (seed: number): number[] => {
      const dice = new Dice(seed)
      return Array.from({ length: 50 }, () => dice.int(1, 6))
    }
    assert.equal(rolls(3), rolls(3))
    assert.not.equal(rolls(3), rolls(4))
    assert.equal(new Set(rolls(3)).size, 6)
    assert.is(new Dice(1).pick([]), undefined)
    assert.is(new Dice(1).weighted({ a: 0, b: 1 }), 'b')
  })
})
