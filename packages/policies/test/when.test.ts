import type { Consultation, Trigger } from '../../../src/actors/define/policy.ts'
import { when } from '../src/when.ts'
import { stallOf } from '../../../src/conversation/brakes/stall/stall.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { BrakeLog } from '../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { fakeConsultation, type Wanted } from './fakeConsultation.ts'

const fires = (trigger: Trigger, wanted: Wanted): ReturnType<Trigger['fires']> =>
  trigger.fires(fakeConsultation(wanted))
describe('tokensOver', (it) => {
  it('fires above its number of tokens, and not at it', () => {
    const trigger = when.tokensOver(60_000)
    assert.is(trigger.name, 'tokensOver(60000)')
    assert.is(fires(trigger, { contextTokens: 60_000 }), null)
    assert.is(fires(trigger, { contextTokens: 62_000 }), '62,000 tokens, over 60,000')
  })

  it('takes a share of the context window', () => {
    const trigger = when.tokensOver({ share: 0.5 })
    assert.is(trigger.name, 'tokensOver({ share: 0.5 })')
    assert.is(fires(trigger, { contextTokens: 50_000, contextWindow: 100_000 }), null)
    assert.is(fires(trigger, { contextTokens: 50_001, contextWindow: 100_000 }), '50,001 tokens, over 50,000')
  })

  it('refuses what is neither', () => {
    for (const wrong of [
      0,
      0.5,
      -1,
      Number.NaN,
      Infinity,
      '5',
      null,
      undefined,
      {},
      { share: 1 },
      { share: 0 },
      { share: '0.5' },
    ])
      assert.throws(() => when.tokensOver(wrong as never), withCode('INVALID_OPTION', 'tokensOver: '))
  })
})

describe('everyTurns', (it) => {
  it('counts from the beginning, then from the last time', () => {
    const trigger = when.everyTurns(5)
    assert.is(fires(trigger, { turn: 4 }), null)
    assert.is(fires(trigger, { turn: 5 }), '5 turns since the last time')
    const last = { turn: 7, contextTokens: 1 }
    assert.is(fires(trigger, { turn: 11, last }), null)
    assert.is(fires(trigger, { turn: 12, last }), '5 turns since the last time')
  })

  it('refuses what is no number of turns', () => {
    for (const wrong of [0, 1.5, Number.NaN, '3', undefined])
      assert.throws(() => when.everyTurns(wrong as never), withCode('INVALID_OPTION', `everyTurns: ${wrong}`))
  })
})

describe('stalled', (it) => {
  it('fires while the newest step goes on with a loop', () => {
    const log = new BrakeLog()
    log.user('the task')
    for (let i = 0; i < 3; i++) log.step([{ name: 'look' }])
    const at = (): Wanted => ({ log, stall: stallOf(log.conversation) })
    const evidence = 'the same call with the same result 3 times: look'
    assert.is(fires(when.stalled(), { log }), null)
    assert.is(fires(when.stalled(), at()), evidence)
    log.reply('done')
    assert.is(at().stall?.evidence, evidence)
    assert.is(fires(when.stalled(), at()), null)
  })
})

describe('willOverflow', (it) => {
  const at = { contextTokens: 160_000, growth: 2_500, compactsAt: 170_000, contextWindow: 200_000 }

  it('fires when the growth of some turns would begin a compaction', () => {
    assert.is(fires(when.willOverflow({ turns: 4 }), at), null)
    assert.is(fires(when.willOverflow({ turns: 5 }), at), '172,500 tokens in 5 turns, over 170,000')
    assert.is(when.willOverflow().name, 'willOverflow({ turns: 5 })')
  })

  it('takes the window without compaction, and when it is smaller', () => {
    assert.is(fires(when.willOverflow(), { ...at, compactsAt: undefined }), null)
    assert.ok(fires(when.willOverflow({ turns: 17 }), { ...at, compactsAt: undefined }))
    assert.ok(fires(when.willOverflow({ turns: 1 }), { ...at, contextWindow: 162_000 }))
  })

  it('does not count on requests that become smaller', () => {
    assert.ok(fires(when.willOverflow(), { ...at, contextTokens: 170_001, growth: -500 }))
  })

  it('refuses what is no number of turns', () => {
    assert.throws(() => when.willOverflow({ turns: 0 }), withCode('INVALID_OPTION', 'willOverflow: turns: 0'))
  })
})

describe('onRequest', (it) => {
  it('fires when somebody asked for the policy', () => {
    assert.is(fires(when.onRequest(), {}), null)
    assert.is(fires(when.onRequest(), { isRequested: true }), 'it was asked for')
  })
})

describe('whileIdle', (it) => {
  it('is asked at rest, and fires once after each turn', () => {
    const trigger = when.whileIdle()
    assert.is(trigger.atRest, true)
    assert.is(fires(trigger, { turn: 3 }), null)
    assert.is(fires(trigger, { turn: 3, isAtRest: true }), 'the agent is at rest')
    assert.is(fires(trigger, { turn: 3, isAtRest: true, last: { turn: 3, contextTokens: 1 } }), null)
    assert.ok(fires(trigger, { turn: 4, isAtRest: true, last: { turn: 3, contextTokens: 1 } }))
  })

  it('waits for so many turns', () => {
    const trigger = when.whileIdle({ everyTurns: 4 })
    assert.is(trigger.name, 'whileIdle({ everyTurns: 4 })')
    const last = { turn: 3, contextTokens: 1 }
    assert.is(fires(trigger, { turn: 6, isAtRest: true, last }), null)
    assert.ok(fires(trigger, { turn: 7, isAtRest: true, last }))
    assert.throws(() => when.whileIdle({ everyTurns: 0 }), withCode('INVALID_OPTION', 'whileIdle: everyTurns: 0'))
  })
})

/** A trigger that counts how often it is asked. */
function counted(why: string | null, atRest?: true): Trigger & { asked: number } {
  const trigger = {
    name: String(why),
    ...(atRest ? { atRest } : {}),
    asked: 0,
    fires: (_: Consultation) => {
      trigger.asked += 1
      return why
    },
  }
  return trigger
}

describe('anyOf', (it) => {
  it('fires for the first that does, and asks none after it', async () => {
    const [no, yes, unasked] = [counted(null), counted('because'), counted('too')]
    const trigger = when.anyOf(no, yes, unasked)
    assert.is(trigger.name, 'anyOf(null, because, too)')
    assert.is(await fires(trigger, {}), 'because')
    assert.equal([no.asked, yes.asked, unasked.asked], [1, 1, 0])
    assert.is(await fires(when.anyOf(no, no), {}), null)
  })

  it('asks at rest only those that are meant for it', async () => {
    const [between, resting] = [counted('between'), counted('resting', true)]
    const trigger = when.anyOf(between, resting)
    assert.is(trigger.atRest, true)
    assert.is(fires(trigger, { isAtRest: true }), 'resting')
    assert.is(fires(trigger, {}), 'between')
    assert.is(when.anyOf(between).atRest, false)
  })

  it('answers at once where its triggers do, and passes nonsense on', async () => {
    assert.is(fires(when.anyOf(counted(null), counted('a')), {}), 'a')
    assert.is(fires(when.allOf(counted('a'), counted('b')), {}), 'a; b')
    const nonsense: Trigger = { name: 'nonsense', fires: () => undefined as never }
    assert.is(fires(when.anyOf(nonsense, counted('a')), {}), undefined)
    assert.is(fires(when.allOf(counted('a'), nonsense, counted('b')), {}), undefined)
  })

  it('waits for triggers that take their time', async () => {
    const slow: Trigger = { name: 'slow', fires: async () => 'at last' }
    assert.is(await fires(when.anyOf(counted(null), slow), {}), 'at last')
    assert.is(await fires(when.allOf(slow, counted('a')), {}), 'at last; a')
    const never: Trigger = { name: 'never', fires: async () => null }
    assert.is(await fires(when.anyOf(never, slow), {}), 'at last')
    assert.is(await fires(when.allOf(slow, never, counted('a')), {}), null)
  })
})

describe('allOf', (it) => {
  it('fires when all do, with all reasons', async () => {
    assert.is(await fires(when.allOf(counted('a'), counted('b')), {}), 'a; b')
  })

  it('asks none after the first that does not', async () => {
    const [no, unasked] = [counted(null), counted('b')]
    assert.is(await fires(when.allOf(counted('a'), no, unasked), {}), null)
    assert.equal([no.asked, unasked.asked], [1, 0])
  })

  it('may ask at rest for more than rest', async () => {
    const trigger = when.allOf(when.whileIdle(), when.tokensOver(1_000))
    assert.is(trigger.atRest, true)
    assert.is(await fires(trigger, { isAtRest: true, turn: 1, contextTokens: 500 }), null)
    assert.is(
      await fires(trigger, { isAtRest: true, turn: 1, contextTokens: 1_500 }),
      'the agent is at rest; 1,500 tokens, over 1,000',
    )
    assert.is(await fires(trigger, { turn: 1, contextTokens: 1_500 }), null)
  })

  it('like anyOf refuses what is no trigger', () => {
    for (const [name, combine] of [
      ['anyOf', when.anyOf],
      ['allOf', when.allOf],
    ] as const) {
      assert.throws(() => combine(), withCode('INVALID_OPTION', `${name}: give triggers`, 'it was given none'))
      assert.throws(() => combine(when.stalled(), 'stalled' as never), withCode('INVALID_OPTION', 'number 2 is none'))
    }
  })
})
