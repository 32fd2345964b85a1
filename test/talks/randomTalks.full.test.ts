import { judged } from '../judges/judge.ts'
import { wantsAll } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'
import { randomTalk } from './randomTalk.ts'
import { anthropicTalks } from './strictAnthropic.ts'
import { responsesTalks } from './strictResponses.ts'
import type { ProviderFamily } from './strictProvider.ts'

/** Requests of each family: ten thousand where all seeds are wanted, which takes some twenty minutes. */
const least = wantsAll ? 10_000 : 300
const slow = { timeoutMs: wantsAll ? 3_600_000 : 120_000 }

/** Talks, one for each seed, until so many requests were made; gives what went wrong, by its seed. */
async function faultsOf(family: ProviderFamily): Promise<readonly string[]> {
  const faults: string[] = []
  let requests = 0
  for (let seed = 1; requests < least; seed++) {
    const outcome = await randomTalk(family, seed)
    requests += outcome.requests
    faults.push(...outcome.faults.map((fault) => `seed ${seed}: ${fault}`))
  }
  return faults
}

describe('random talks with a provider that refuses what the real one does', (it) => {
  it('are never refused, and never stuck: Anthropic Messages', slow, async () => {
    assert.equal(await faultsOf(anthropicTalks), [])
  })

  judged(it)('are never refused, and never stuck: OpenAI Responses', slow, async () => {
    assert.equal(await faultsOf(await responsesTalks()), [])
  })
})
