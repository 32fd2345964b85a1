import { differenceText, valueText } from './differenceText.ts'
import { assert, describe } from './suite.ts'

const fails = (body: () => unknown): Error => {
  try {
    body()
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === 'Assertion') return thrown
    throw thrown
  }
  throw new Error('the assertion passed')
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : '')

describe('assert.equal', (it) => {
  it('accepts equal structures whatever the order of their keys', () => {
    assert.equal(
      { a: 1, b: [new Map([['k', { x: new Set([1]) }]])] },
      { b: [new Map([['k', { x: new Set([1]) }]])], a: 1 },
    )
  })

  const different: readonly (readonly [string, unknown, unknown])[] = [
    ['two errors with other messages', new Error('a'), new Error('b')],
    ['a key that is undefined and none', { a: undefined }, {}],
    ['0 and -0', 0, -0],
    ['null and undefined', null, undefined],
    ['an array and a longer one', [1], [1, 2]],
    ['two classes', new (class A {})(), new (class B {})()],
  ]
  for (const [title, a, b] of different) {
    it(`sees the difference of ${title}`, () => {
      fails(() => assert.equal(a, b))
      assert.not.equal(a, b)
    })
  }

  it('throws the error it was given instead of its own', () => {
    const mine = new TypeError('mine')
    assert.is(
      assert.throws(() => assert.equal(1, 2, mine)),
      mine,
    )
  })
})

describe('assert.throws and assert.rejects', (it) => {
  it('check the message, the class or a predicate, and return what was thrown', async () => {
    const error = new RangeError('out of 7')
    const raise = (): never => {
      throw error
    }
    for (const expected of [/of \d/g, RangeError, Error, (thrown: unknown) => thrown === error]) {
      assert.is(assert.throws(raise, expected), error)
      assert.is(await assert.rejects(Promise.reject(error), expected), error)
      assert.is(await assert.rejects(async () => raise(), expected), error)
    }
  })

  it('fail on another message, class or value, and on no error at all', async () => {
    const error = new RangeError('out of 7')
    const raise = (): never => {
      throw error
    }
    for (const expected of [/of eight/, TypeError, () => false]) {
      fails(() => assert.throws(raise, expected))
      const outcome = await assert.rejects(async () => raise(), expected).then(() => 'passed', messageOf)
      assert.match(outcome, /^Expected a/)
    }
    fails(() => assert.throws(() => 1))
    const outcome = await assert.rejects(Promise.resolve(1)).then(() => 'passed', messageOf)
    assert.match(outcome, 'but it resolved to 1')
  })

  it('take a thrown value that is not an error', async () => {
    const raise = (value: unknown) => () => {
      throw value
    }
    assert.throws(raise(undefined), /undefined/)
    assert.throws(raise('oops'), /oops/)
    fails(() => assert.throws(raise(null), /oops/))
  })
})

describe('a failed assertion', (it) => {
  it('shows the lines that differ', () => {
    assert.match(differenceText({ a: 1, b: 2 }, { a: 1, b: 3 }), /b:.2[^]*b:.3/)
  })

  it('points at the difference between two long strings', () => {
    const long = 'x'.repeat(100_000)
    const text = differenceText(`${long}left`, `${long}right`)
    assert.match(text, /from 99960: 'x+right/)
    assert.ok(text.length < 1_000)
  })

  it('shows cycles, deep values and large ones in bounded space', () => {
    const cycle: Record<string, unknown> = { name: 'a' }
    cycle['self'] = cycle
    assert.match(differenceText(cycle, {}), /Circular/)
    let deep: unknown = 1
    for (let n = 0; n < 1_000; n++) deep = { deep }
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`k${n}`, 'v'.repeat(1_000)]))
    for (const [a, b] of [
      [deep, 1],
      [wide, {}],
      [wide, { ...wide, k0: 1 }],
      ['s'.repeat(1e6), 1],
      [Symbol('s'), 1n],
    ]) {
      assert.ok(differenceText(a, b).length < 60_000)
      assert.ok(valueText(a).length < 1_000)
    }
  })
})
