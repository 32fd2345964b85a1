import type { Consultation } from '../../src/actors/define/policy.ts'
import { when } from '../../packages/policies/src/when.ts'
import { costOf, priceOf, readPricing } from '../../src/actors/turn/pricing.ts'
import { usageOf } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

describe('prices', (it) => {
  const price = (input: number, output: number) => ({ input, output })

  it('are those of the model, else of the dearest: by its answers, then by what it reads', () => {
    const model = { id: 'm' }
    const all = { a: price(1, 5), b: price(2, 5), c: price(9, 4), d: price(1, 1) }
    assert.equal(readPricing(all, model).pricing, all.b)
    assert.equal(readPricing({ ...all, m: price(0, 0) }, model).pricing, price(0, 0))
    assert.equal(readPricing({ x: price(1, 2), y: price(5, 1) }, model).pricing, price(1, 2))
    assert.equal(readPricing({}, model), { pricing: null, prices: {} })
    assert.equal(readPricing(undefined, model), { pricing: null, prices: null })
    const priced = { model, pricing: all.a, prices: all }
    assert.equal([priceOf(priced, 'c'), priceOf(priced), priceOf(priced, 'toString')], [all.c, null, null])
    assert.equal(priceOf({ ...priced, prices: null }, 'c'), all.a)
  })

  it('count each kind of token, cached ones as input where nothing else is said', () => {
    const usage = { ...usageOf(1_000_000, 2_000_000), cacheRead: 3_000_000, cacheWrite: 4_000_000 }
    assert.is(costOf(usage, null), 0)
    assert.is(costOf(usage, price(1, 10)), 1 + 20 + 3 + 4)
    assert.is(costOf(usage, { ...price(1, 10), cacheRead: 0, cacheWrite: 100 }), 1 + 20 + 400)
  })
})

describe('the triggers of policies', (it) => {
  const at = (more: Partial<Consultation>): Consultation =>
    ({
      contextTokens: 0,
      contextWindow: 1_000,
      turn: 0,
      growth: 0,
      isAtRest: false,
      isRequested: false,
      ...more,
    }) as Consultation

  it('fire beyond their bound, not at it', () => {
    const cases: readonly (readonly [
      trigger: ReturnType<typeof when.onRequest>,
      name: string,
      no: object,
      yes: object,
    ])[] = [
      [when.tokensOver(100), 'tokensOver(100)', { contextTokens: 100 }, { contextTokens: 101 }],
      [when.tokensOver({ share: 0.5 }), 'tokensOver({ share: 0.5 })', { contextTokens: 500 }, { contextTokens: 501 }],
      [when.everyTurns(3), 'everyTurns(3)', { turn: 2 }, { turn: 3 }],
      [when.everyTurns(3), 'everyTurns(3)', { turn: 9, last: { turn: 7 } }, { turn: 10, last: { turn: 7 } }],
      [
        when.willOverflow(),
        'willOverflow({ turns: 5 })',
        { contextTokens: 500, growth: 100 },
        { contextTokens: 501, growth: 100 },
      ],
      [
        when.willOverflow({ turns: 1 }),
        'willOverflow({ turns: 1 })',
        { contextTokens: 800, growth: 100, compactsAt: 900 },
        { contextTokens: 801, growth: 100, compactsAt: 900 },
      ],
      [
        when.willOverflow(),
        'willOverflow({ turns: 5 })',
        { contextTokens: 1_000, growth: -5 },
        { contextTokens: 1_001, growth: -5 },
      ],
      [
        when.willOverflow(),
        'willOverflow({ turns: 5 })',
        { contextTokens: 1_000, compactsAt: 5_000 },
        { contextTokens: 1_001, compactsAt: 5_000 },
      ],
      [when.onRequest(), 'onRequest()', {}, { isRequested: true }],
      [when.whileIdle(), 'whileIdle()', { turn: 5 }, { turn: 1, isAtRest: true }],
      [
        when.whileIdle({ everyTurns: 2 }),
        'whileIdle({ everyTurns: 2 })',
        { turn: 1, isAtRest: true },
        { turn: 2, isAtRest: true },
      ],
    ]
    for (const [trigger, name, no, yes] of cases) {
      assert.is(trigger.name, name)
      assert.is(trigger.fires(at(no)), null, `${name} ${JSON.stringify(no)}`)
      assert.type(trigger.fires(at(yes)), 'string', `${name} ${JSON.stringify(yes)}`)
    }
  })

  it('refuse what is no bound', () => {
    for (const wrong of [0, -1, 0.5, Number.NaN, Infinity, { share: 0 }, { share: 1 }, { share: -0.1 }, {}, null, 'x'])
      assert.throws(() => when.tokensOver(wrong as never), /give a number of tokens/, JSON.stringify(wrong))
    assert.throws(() => when.tokensOver({ share: 2 }), /tokensOver: {"share":2}: give/)
    assert.throws(() => when.tokensOver(0), /tokensOver: 0: give/)
    for (const right of [1, 1.5, { share: 0.01 }, { share: 0.99 }]) when.tokensOver(right)
    for (const turns of [0, 1.5, -1, Number.NaN, '3'])
      for (const make of [
        () => when.everyTurns(turns as never),
        () => when.willOverflow({ turns: turns as never }),
        () => when.whileIdle({ everyTurns: turns as never }),
      ])
        assert.throws(make, /give a whole number of turns/)
  })

  it('are asked in order, at rest those alone that are meant for it, and no further than need be', async () => {
    const asked: string[] = []
    const one = (name: string, answer: string | null, atRest?: true, isLate = false) => ({
      name,
      ...(atRest && { atRest }),
      fires: () => {
        asked.push(name)
        return isLate ? Promise.resolve(answer) : answer
      },
    })
    for (const isLate of [false, true]) {
      const list = [one('a', null, undefined, isLate), one('b', 'b!', true, isLate), one('c', 'c!', undefined, isLate)]
      for (const [make, isAtRest, says, who] of [
        [when.anyOf, false, 'b!', 'ab'],
        [when.anyOf, true, 'b!', 'b'],
        [when.allOf, false, null, 'a'],
        [when.allOf, true, null, 'a'],
      ] as const) {
        asked.length = 0
        const trigger = make(...list)
        assert.equal([await trigger.fires(at({ isAtRest })), asked.join(''), trigger.atRest], [says, who, true])
      }
      asked.length = 0
      assert.is(await when.allOf(list[1]!, list[2]!).fires(at({})), 'b!; c!')
      assert.is(when.anyOf(list[0]!, list[2]!).atRest, false)
      assert.is(await when.anyOf(list[0]!).fires(at({})), null)
    }
    for (const wrong of [[], [{}], [one('a', null), null]])
      for (const make of [when.anyOf, when.allOf]) assert.throws(() => make(...(wrong as never[])), /give triggers/)
  })
})
