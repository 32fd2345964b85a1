import * as fc from 'fast-check'
import { brakedHistories, chosenHistories, foldedHistories } from '../support/brakeArbitraries.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'
import { options, play } from './playHistory.ts'

describe('random braked conversations', (it) => {
  for (const onUserMessage of ['refuse', 'rebase'] as const) {
    it(
      `keep every rule after every happening, user messages under a revert: ${onUserMessage}`,
      { timeoutMs: 20_000 },
      () => {
        fc.assert(
          fc.property(brakedHistories({ maxLength: 24 }), (happenings) => void play(happenings, onUserMessage)),
          { ...options, numRuns: someRuns(1_000) },
        )
      },
    )

    it(`keep every rule with lazy decay, user messages under a revert: ${onUserMessage}`, { timeoutMs: 20_000 }, () => {
      fc.assert(
        fc.property(brakedHistories({ maxLength: 24 }), (happenings) => void play(happenings, onUserMessage, 'lazy')),
        { ...options, numRuns: someRuns(500) },
      )
    })
  }

  it('keep every rule while memos are rolled up again and again', { timeoutMs: 30_000 }, () => {
    const decays = ['exact', 'lazy'] as const
    const met = new Set<string | undefined>()
    fc.assert(
      fc.property(foldedHistories({ maxLength: 14 }), fc.boolean(), fc.nat(1), (happenings, isRebase, decay) => {
        const details = play(happenings, isRebase ? 'rebase' : 'refuse', decays[decay])
        for (const detail of details) met.add(detail)
      }),
      { ...options, numRuns: someRuns(600) },
    )
    assert.ok(met.has('digest') && met.has('shortLine'))
  })

  it('keep every rule while policies fold steps with gaps between them', { timeoutMs: 30_000 }, () => {
    fc.assert(
      fc.property(chosenHistories({ maxLength: 12 }), fc.boolean(), (happenings, isRebase) => {
        play(happenings, isRebase ? 'rebase' : 'refuse')
      }),
      { ...options, numRuns: someRuns(600) },
    )
  })
})
