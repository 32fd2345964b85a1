import { someRuns } from '../support/seeds.ts'
import { liveAll, seedsFrom, sum } from '../support/seededLives.ts'
import { assert, describe } from '../support/suite.ts'
import { chaosTree } from './chaosTree.ts'

const seedsAGroup = someRuns(60)

const live = (seeds: readonly number[], change: Parameters<typeof chaosTree>[1] = {}) =>
  liveAll(seeds, (seed) => chaosTree(seed, change))
const from = (first: number) => seedsFrom(first, seedsAGroup)

describe('a tree of agents in chaos of one kind', (it) => {
  it('survives crashes on every level, its root among them', { timeoutMs: 60_000 }, async () => {
    const outcomes = await live(from(2_000), { crashes: 20, rootCrashes: true, restart: 'transient', maxRestarts: 3 })
    // One of the seeds has more of them, or fewer, as the process has other work.
    assert.ok(sum(outcomes, ({ crashes }) => crashes) > 7)
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
