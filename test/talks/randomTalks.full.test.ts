import { judged } from '../judges/judge.ts'
import { liveAll, seedsFrom, sum } from '../support/seededLives.ts'
import { assert, describe } from '../support/suite.ts'
import { randomTalk } from './randomTalk.ts'
import { anthropicTalks } from './strictAnthropic.ts'
import { responsesTalks } from './strictResponses.ts'

const slow = { timeoutMs: 120_000 }

describe('random talks with a provider that refuses what the real one does', (it) => {
  it('are never refused, and never stuck: Anthropic Messages', slow, async () => {
    const outcomes = await liveAll(seedsFrom(1, 6), (seed) => randomTalk(anthropicTalks, seed))
    assert.ok(sum(outcomes, ({ requests }) => requests) > 150)
  })

  judged(it)('are never refused, and never stuck: OpenAI Responses', slow, async () => {
    const family = await responsesTalks()
    const outcomes = await liveAll(seedsFrom(1, 6), (seed) => randomTalk(family, seed))
    assert.ok(sum(outcomes, ({ requests }) => requests) > 150)
  })
})
