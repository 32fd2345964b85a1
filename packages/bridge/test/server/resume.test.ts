import { someRuns } from '../../../../test/support/seeds.ts'
import { liveAll, seedsFrom, sum } from '../../../../test/support/seededLives.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { resumeLife, type LifePlan } from './resume/resumeLife.ts'

const live = (seeds: readonly number[], change: Partial<LifePlan> = {}) =>
  liveAll(seeds, (seed) => resumeLife(seed, change))

// `node packages/bridge/test/server/resumeMatrix.ts` lives thousands.
describe('a client under which everything breaks', (it) => {
  it('hears it by whatever plan', { timeoutMs: 60_000 }, async () => {
    const outcomes = await live(seedsFrom(100, someRuns(8)), { turns: 50 })
    assert.ok(sum(outcomes, ({ kills }) => kills) > someRuns(10))
  })

  it('hears it from servers that die again before they go on', { timeoutMs: 60_000 }, async () => {
    const outcomes = await live(seedsFrom(200, someRuns(8)), { turns: 40, kills: 25, writeMs: 12 })
    assert.ok(sum(outcomes, ({ kills }) => kills) > someRuns(50))
  })

  it('waits for a run whose server died as it went on with it', { timeoutMs: 20_000 }, async () => {
    // The log of these ends, for a while, with an interruption that nobody has gone on from.
    await live([9, 23, 88, 91], { turns: 50 })
  })

  it('hears it through a wire that is nearly always full', { timeoutMs: 60_000 }, async () => {
    const outcomes = await live(seedsFrom(300, someRuns(6)), { turns: 40, highWaterBytes: 600, holds: 15, kills: 0 })
    assert.ok(sum(outcomes, ({ holds }) => holds) > someRuns(20))
  })
})
