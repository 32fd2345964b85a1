import { activeStates, eventInWords, stateWords, timerWords } from '../src/hostWords.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('a machine that is kept, in words', (it) => {
  it('is in its innermost states', () => {
    assert.equal(activeStates('open'), ['open'])
    assert.equal(activeStates({ a: { b: 'c', d: {} }, e: 'f' }), ['a.b.c', 'a.d', 'e.f'])
    assert.is(stateWords({ a: { b: 'c' }, e: 'f' }), 'a.b.c and e.f')
    assert.is(stateWords('\u001B[31mred'), 'red')
  })

  it('is in no state where there is nonsense, however deep', () => {
    for (const value of [null, undefined, 7, {}, []]) assert.is(stateWords(value), 'no state')
    let deep: object = {}
    for (let depth = 0; depth < 20_000; depth += 1) deep = { a: deep }
    assert.is(activeStates(deep).length, 1)
  })

  it('waits for events by names for people', () => {
    assert.is(eventInWords('pay'), 'pay')
    assert.is(eventInWords('xstate.after.90000.order.open.late'), 'after 1 min 30 s in open.late')
    assert.is(eventInWords('xstate.after.90000.order'), 'after 1 min 30 s')
    assert.is(eventInWords('xstate.after.patience.order.open'), 'after patience in open')
    assert.is(eventInWords('xstate.done.actor.desk'), 'desk is done')
    assert.is(eventInWords('xstate.error.actor.desk'), 'desk failed')
    assert.is(timerWords({ type: 'remind', due: 61_000 }, 1_000), 'remind in 1 min 00 s')
    assert.is(timerWords({ type: 'remind', due: 61_000 }, 61_000), 'remind due')
  })
})
