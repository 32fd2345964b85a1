import { decide } from '../src/decide.ts'
import type { RelevanceOptions } from '../src/leastRelevant.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { fakeConsultation, type WantedStep } from './fakeConsultation.ts'

const steps: readonly WantedStep[] = [
  { role: 'user', text: 'Fix unitPrice in the shop.' },
  { text: 'read src/unitPrice.ts: the price is wrong' },
  { text: 'listed holiday photos' },
  { text: 'read about shop opening hours' },
  { text: 'asked for weather reports' },
  { text: 'the shop shows a wrong unitPrice' },
  { text: 'now look at the shop' },
]
const wanted = { steps, contextTokens: 10_000 }

const hidden = async (query: string | undefined, options: RelevanceOptions): Promise<readonly string[] | null> => {
  const plan = await decide.leastRelevant(query, { keepSteps: 1, ...options }).decide(fakeConsultation(wanted))
  return plan?.hide ?? null
}

describe('deciding for what is least relevant', (it) => {
  it('takes what has least to do with the task, in the order of the steps', async () => {
    assert.equal(await hidden(undefined, { downTo: 9_800 }), ['n3', 'n5'])
    assert.equal(await hidden(undefined, { downTo: 9_700 }), ['n3', 'n4', 'n5'])
  })

  it('takes what has least to do with a query', async () => {
    assert.equal(await hidden('weather reports, holiday photos', { downTo: 9_700 }), ['n2', 'n4', 'n6'])
  })

  it('counts the newest step as part of the task', async () => {
    const at = fakeConsultation({
      steps: [{ role: 'user', text: 'Go on.' }, { text: 'parser' }, { text: 'weather' }, { text: 'the parser fails' }],
      contextTokens: 10_000,
    })
    assert.equal((await decide.leastRelevant(undefined, { keepSteps: 1, downTo: 9_900 }).decide(at))?.hide, ['n3'])
  })

  it('takes the oldest of equals', async () => {
    assert.equal(await hidden('zebra', { downTo: 9_800 }), ['n2', 'n3'])
  })

  it('compares by vectors when it is given a way to make them, in parts of 96', async () => {
    const many = Array.from({ length: 250 }, (_, n) => ({ text: n === 7 ? 'near' : 'far' }))
    const at = fakeConsultation({ steps: many, contextTokens: 100_000 })
    const sizes: number[] = []
    const embed = async (texts: readonly string[]): Promise<number[][]> => {
      sizes.push(texts.length)
      return texts.map((text) => (text === 'far' ? [1, 0] : [0, 1]))
    }
    const plan = await decide.leastRelevant('near', { embed, downTo: 1, keepSteps: 0 }).decide(at)
    assert.is(plan?.hide?.length, 250)
    assert.equal(sizes, [96, 96, 59])
    const fewer = await decide.leastRelevant('near', { embed, downTo: 100_000 - 24_900, keepSteps: 0 }).decide(at)
    assert.is(fewer?.hide?.length, 249)
    assert.is(fewer?.hide?.includes('n8'), false)
  })

  it('makes no vectors when there is nothing to hide', async () => {
    const embed = (): never => assert.unreachable()
    assert.is(await hidden(undefined, { embed, downTo: 10_000 }), null)
    assert.is(await hidden(undefined, { embed, downTo: 1, keepSteps: 99 }), null)
  })

  it('fails with what is wrong about the vectors', async () => {
    const failing = (embed: RelevanceOptions['embed']): Promise<unknown> => hidden('x', { embed: embed!, downTo: 1 })
    await assert.rejects(
      failing(async () => [[1]]),
      /embed gave 1 for 6 texts/,
    )
    await assert.rejects(
      failing(async () => 'no' as never),
      /embed gave string for 6 texts/,
    )
    await assert.rejects(
      failing(async (texts) => texts.map((_, n) => (n === 3 ? [1, 2, 3] : [1, 2]))),
      /cannot be compared, for text 4/,
    )
    await assert.rejects(
      failing(async (texts) => texts.map(() => [Number.NaN])),
      /cannot be compared/,
    )
    await assert.rejects(
      failing(async (texts) => texts.map(() => [0, 0])),
      /not all of them 0/,
    )
    await assert.rejects(
      failing(async () => {
        throw new Error('no quota')
      }),
      /no quota/,
    )
  })

  it('stops asking for vectors once it is aborted', async () => {
    const stop = new AbortController()
    const at = fakeConsultation({
      steps: Array.from({ length: 200 }, () => ({})),
      contextTokens: 1e6,
      signal: stop.signal,
    })
    let calls = 0
    const embed = async (texts: readonly string[]): Promise<number[][]> => {
      calls += 1
      stop.abort(new Error('stopped'))
      return texts.map(() => [1])
    }
    await assert.rejects(Promise.resolve(decide.leastRelevant('x', { embed, downTo: 1 }).decide(at)), /stopped/)
    assert.is(calls, 1)
  })

  it('refuses a blank query and what is no function', () => {
    assert.throws(() => decide.leastRelevant('  '), /query: give words/)
    assert.throws(() => decide.leastRelevant(3 as never), /decide\.leastRelevant: query/)
    assert.throws(() => decide.leastRelevant('x', { embed: 'y' as never }), /embed: give a function/)
  })
})
