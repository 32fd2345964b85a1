import { decide } from '../src/decide.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { fakeConsultation } from './fakeConsultation.ts'

const steps = [
  { role: 'user' as const },
  { tokens: 4_000 },
  { tokens: 9_000, fixed: 'is pinned' },
  { tokens: 6_000 },
  { tokens: 20 },
  {},
]

describe('letting the agent itself decide', (it) => {
  it('tells it the size, the tools that it has, and the largest steps that may be hidden', async () => {
    const note = async (...brakeTools: string[]): Promise<string> =>
      (await decide.model().decide(fakeConsultation({ steps, brakeTools, contextTokens: 19_000 })))!.note!
    const both = await note('prun', 'revert_to_state')
    assert.match(both, /about 19000 tokens, of 200000 that fit/)
    assert.match(both, /with prun, .*; or .* with revert_to_state\./)
    assert.match(both, /The largest steps, with their tokens: n4 \(6000\), n2 \(4000\)\.$/)
    assert.not.match(await note('prun'), /revert_to_state/)
    assert.not.match(await note('revert_to_state'), /prun/)
  })

  it('asks in the words that it was given', async () => {
    const plan = await decide.model({ ask: 'Tidy up.' }).decide(fakeConsultation({ steps, brakeTools: ['prun'] }))
    assert.match(plan!.note!, /^Tidy up\. Before you go on: hide steps .* prun/)
  })

  it('needs a tool for it, and asks nothing of a model that has none', async () => {
    assert.is(decide.model().needs, 'brakeTools')
    assert.is(await decide.model().decide(fakeConsultation({ steps })), null)
  })

  it('names no sizes when all steps are small', async () => {
    const at = fakeConsultation({ steps: [{}, {}], brakeTools: ['prun'] })
    assert.match((await decide.model().decide(at))!.note!, /just go on\.$/)
  })

  it('refuses blank words', () => {
    assert.throws(() => decide.model({ ask: '' }), /INVALID_OPTION|decide\.model: ask/)
  })
})
