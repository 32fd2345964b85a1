import { judged } from '../judges/judge.ts'
import { assert, describe } from '../support/suite.ts'
import { randomTalk } from './randomTalk.ts'
import { anthropicTalks } from './strictAnthropic.ts'
import { responsesTalks } from './strictResponses.ts'
import type { ProviderFamily } from './strictProvider.ts'

const veryLong = { timeoutMs: 3_600_000 }

/** Lives one life for each seed until so many requests were made; gives what went wrong, by its seed. */
async function faultsOf(family: ProviderFamily, least: number): Promise<readonly string[]> {
  const faults: string[] = []
  let requests = 0
  for (let seed = 1; requests < least; seed++) {
    const outcome = await randomTalk(family, seed)
    requests += outcome.requests
    faults.push(...outcome.faults.map((fault) => `seed ${seed}: ${fault}`))
  }
  return faults
}

describe('twenty thousand requests of random talks', (it) => {
  it('are all taken by a strict provider: Anthropic Messages', veryLong, async () => {
    assert.equal(await faultsOf(anthropicTalks, 10_000), [])
  })

  judged(it)('are all taken by a strict provider: OpenAI Responses', veryLong, async () => {
    assert.equal(await faultsOf(await responsesTalks(), 10_000), [])
  })
})
