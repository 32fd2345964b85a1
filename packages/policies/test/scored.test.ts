import { decide } from '../src/decide.ts'
import { heuristicScorer, type StepScorer } from '../src/scorers.ts'
import type { ScoredOptions } from '../src/scored.ts'
import { BrakeLog } from '../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { fakeConsultation, type Wanted } from './fakeConsultation.ts'

/** The text of a step is its score. */
const said: StepScorer = (step) => Number(step.text())
const steps = [0.5, 0.1, 0.9, 0.1, 0.3, 0, 0].map((score) => ({ text: String(score) }))

const hidden = async (
  options: ScoredOptions,
  wanted: Wanted = {},
  scorer: StepScorer = said,
): Promise<readonly string[] | null> => {
  const at = fakeConsultation({ steps, contextTokens: 1_000, ...wanted })
  return (await decide.scored(scorer, { keepSteps: 2, ...options }).decide(at))?.hide ?? null
}

describe('deciding by scores', (it) => {
  it('takes the lowest until the request is down to its target, in the order of the steps', async () => {
    assert.equal(await hidden({ downTo: 900 }), ['n2'])
    assert.equal(await hidden({ downTo: 700 }), ['n2', 'n4', 'n5'])
    assert.equal(await hidden({ downTo: 1 }), ['n1', 'n2', 'n3', 'n4', 'n5'])
  })

  it('takes all below a bound, or as many of them as the target needs', async () => {
    assert.equal(await hidden({ below: 0.3 }), ['n2', 'n4'])
    assert.equal(await hidden({ below: 0.3, downTo: 900 }), ['n2'])
    assert.equal(await hidden({ below: 0.3, downTo: 1 }), ['n2', 'n4'])
    assert.equal(await hidden({ below: 0.3 }, { contextTokens: 10, fixedTokens: 10 }), ['n2', 'n4'])
    assert.is(await hidden({ below: 0.1 }), null)
  })

  it('scores what may be hidden, and nothing when nothing has to be', async () => {
    const asked: string[] = []
    const scorer: StepScorer = (step) => {
      asked.push(step.id)
      return 0
    }
    await hidden({ downTo: 1 }, {}, scorer)
    assert.equal(asked, ['n1', 'n2', 'n3', 'n4', 'n5'])
    assert.is(await hidden({ downTo: 1_000 }, {}, scorer), null)
    assert.is(asked.length, 5)
  })

  it('fails with what is wrong about a score', async () => {
    for (const score of [Number.NaN, -1, 1.5, '1'])
      await assert.rejects(
        hidden({ downTo: 1 }, {}, () => score as number),
        /decide\.scored: the scorer gave .* for n1/,
      )
    await assert.rejects(
      hidden({ downTo: 1 }, {}, async () => {
        throw new Error('no model')
      }),
      /no model/,
    )
  })

  it('stops scoring once it is aborted', async () => {
    const stop = new AbortController()
    let calls = 0
    const scorer: StepScorer = () => {
      calls += 1
      stop.abort(new Error('stopped'))
      return 0
    }
    await assert.rejects(hidden({ downTo: 1 }, { signal: stop.signal }, scorer), /stopped/)
    assert.is(calls, 1)
  })

  it('hides repeated reads first with the scores of the runtime', async () => {
    const log = new BrakeLog()
    log.user('go')
    for (const path of ['a.ts', 'a.ts', 'b.ts', 'c.ts'])
      log.step([{ name: 'read_file', input: { path }, output: `the text of ${path} and moduleOf_${path}` }])
    const at = fakeConsultation({ log })
    assert.equal(await decide.scored(heuristicScorer, { below: 0.2, keepSteps: 1 }).decide(at), { hide: ['n4'] })
  })

  it('refuses what is no scorer, and a bound that nothing is below', () => {
    assert.throws(() => decide.scored(undefined as never), /decide\.scored: give a scorer first/)
    assert.throws(() => decide.scored(said, { below: 0 }), /decide\.scored: below/)
    assert.throws(() => decide.scored(said, { below: 2 }), /below/)
  })
})
