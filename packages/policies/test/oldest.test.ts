import { decide } from '../src/decide.ts'
import type { HideOptions } from '../src/choice.ts'
import { BrakeLog } from '../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { fakeConsultation, type Wanted, type WantedStep } from './fakeConsultation.ts'

const steps = (count: number): WantedStep[] => Array.from({ length: count }, () => ({}))

const hidden = async (options: HideOptions, wanted: Wanted): Promise<readonly string[] | null> => {
  const plan = await decide.oldest(options).decide(fakeConsultation(wanted))
  return plan?.hide ?? null
}

describe('deciding for the oldest steps', (it) => {
  it('takes as many as bring the request down to so many tokens', async () => {
    const wanted = { steps: steps(20), contextTokens: 2_000 }
    assert.equal(await hidden({ downTo: 1_800 }, wanted), ['n1', 'n2'])
    assert.equal(await hidden({ downTo: 1_799 }, wanted), ['n1', 'n2', 'n3'])
    assert.is(await hidden({ downTo: 2_000 }, wanted), null)
  })

  it('comes down to a share of the context window', async () => {
    const wanted = { steps: steps(20), contextTokens: 2_000, contextWindow: 10_000 }
    assert.equal(await hidden({ share: 0.19 }, wanted), ['n1'])
    assert.is(await hidden({ share: 0.2 }, wanted), null)
  })

  it('by default takes half of what can be changed', async () => {
    const wanted = { steps: steps(30), contextTokens: 4_000, fixedTokens: 2_800 }
    assert.equal(await hidden({}, wanted), ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'])
  })

  it('leaves the newest steps of the model: ten, or as many as it is told', async () => {
    const wanted = { steps: steps(12), contextTokens: 100_000 }
    assert.equal(await hidden({ downTo: 1 }, wanted), ['n1', 'n2'])
    assert.equal(await hidden({ downTo: 1, keepSteps: 11 }, wanted), ['n1'])
    assert.is(await hidden({ downTo: 1, keepSteps: 50 }, wanted), null)
    assert.is((await hidden({ downTo: 1, keepSteps: 0 }, wanted))?.length, 12)
  })

  it('counts messages of people neither as steps to keep nor as steps to hide', async () => {
    const wanted = {
      steps: [{ role: 'user' }, ...steps(3), { role: 'user' }, ...steps(2)],
      contextTokens: 9_000,
    } as const
    assert.equal(await hidden({ downTo: 1, keepSteps: 2 }, wanted), ['n2', 'n3', 'n4'])
    const steered = { steps: [...steps(3), { role: 'user' as const }], contextTokens: 9_000 }
    assert.equal(await hidden({ downTo: 1, keepSteps: 2 }, steered), ['n1'])
  })

  it('passes over steps that are fixed', async () => {
    const log = new BrakeLog()
    log.user('go')
    for (let n = 0; n < 4; n++) log.step([{ output: 'x'.repeat(400) }])
    log.pin('n2')
    assert.equal(await hidden({ downTo: 1, keepSteps: 0 }, { log }), ['n4', 'n6'])
  })

  it('wants nothing of an empty conversation', async () => {
    assert.is(await hidden({ downTo: 1 }, { steps: [] }), null)
    assert.is(await hidden({}, { steps: [] }), null)
  })

  it('refuses options that say nothing or too much, naming them', () => {
    const wrong: readonly [HideOptions, RegExp][] = [
      [{ downTo: 0 }, /decide\.oldest: downTo: /],
      [{ downTo: Number.NaN }, /downTo: /],
      [{ share: 1 }, /share: /],
      [{ share: 0 }, /share: /],
      [{ keepSteps: -1 }, /keepSteps: /],
      [{ keepSteps: 1.5 }, /keepSteps: /],
      [{ downTo: 10, share: 0.5 }, /give downTo or share, not both/],
      [{ keep: 3 } as HideOptions, /keep/],
    ]
    for (const [options, message] of wrong) {
      const thrown = assert.throws(() => decide.oldest(options), message)
      assert.is((thrown as { code?: string }).code, 'INVALID_OPTION')
    }
  })
})
