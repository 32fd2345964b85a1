import { array, assert as holdFor, constantFrom, dictionary, letrec, oneof, property, string } from 'fast-check'
import {
  applyFitting,
  applyOp,
  applyPatch,
  difference,
  firstShared,
  frozenState,
  mostOps,
  pointerTo,
  touched,
  type StateOp,
} from '../../src/protocol/parts/state/patch.ts'
import { checkPatch, plainState } from '../../src/protocol/parts/state/plainState.ts'
import { assert, describe } from '../support/suite.ts'

const key = oneof(constantFrom('a', 'b', 'a/b', '~1', '', '__proto__', '0', 'length'), string({ maxLength: 3 }))
const { json } = letrec<{ json: unknown }>((tie) => ({
  json: oneof(
    { maxDepth: 4 },
    constantFrom(null, true, false, 0, 1, '', 'x'),
    array(tie('json'), { maxLength: 5 }),
    dictionary(key, tie('json'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))
/** The value as `update` would have it. */
const plain = json.map((value) => frozenState(plainState(value)))

describe('patches of a state', (it) => {
  it('make the one value of the other, whatever both are, and change nothing in place', () => {
    holdFor(
      property(plain, plain, (from, to) => {
        const before = JSON.stringify(from)
        const { value, wrong } = applyPatch(from, difference(from, to))
        assert.is(wrong, undefined)
        assert.equal(value, to)
        assert.is(JSON.stringify(from), before)
        assert.equal(difference(to, plainState(to)), [])
      }),
      { seed: 7, numRuns: 2_000 },
    )
  })
  it('are written per field, and per element between the common beginning and end of a list', () => {
    const ops = (from: unknown, to: unknown): unknown[] =>
      difference(from, to).map((op) => [op.op, op.path, ...('value' in op ? [op.value] : [])])
    assert.equal(ops({ a: 1, b: 2 }, { b: 3, c: 4 }), [
      ['remove', '/a'],
      ['replace', '/b', 3],
      ['add', '/c', 4],
    ])
    assert.equal(ops([1, 2, 3, 4], [1, 9, 2, 3, 4]), [['add', '/1', 9]])
    assert.equal(ops([1, 2, 3, 4], [1, 4]), [
      ['remove', '/2'],
      ['remove', '/1'],
    ])
    assert.equal(ops({ 'a/b': { '~': 1 } }, { 'a/b': { '~': 2 } }), [['replace', '/a~1b/~0', 2]])
    assert.equal(ops([{ text: 'a', done: false }], [{ text: 'a', done: true }]), [['replace', '/0/done', true]])
    assert.equal(ops([], {}), [['replace', '', {}]])
  })
  it('replace a part as a whole before they have too many changes', () => {
    const numbers = Array.from({ length: mostOps + 1 }, (_, index) => index)
    const ops = difference({ numbers, other: 1 }, { numbers: numbers.map((one) => one + 1), other: 1 })
    assert.equal(
      ops.map(({ op, path }) => [op, path]),
      [['replace', '/numbers']],
    )
  })
  it('share what they leave as it was', () => {
    const from = { a: { deep: [1] }, b: { deep: [2] } }
    const { value } = applyPatch(from, [{ op: 'add', path: '/a/deep/-', value: 3 }])
    assert.equal(value, { a: { deep: [1, 3] }, b: { deep: [2] } })
    assert.is((value as typeof from).b, from.b)
  })
  it('say why they do not fit', () => {
    const state = { a: [1], b: 'text' }
    const wrong = (op: unknown): string | undefined => applyOp(state, op as StateOp).wrong
    assert.is(wrong({ op: 'replace', path: '/c', value: 1 }), 'there is no "/c"')
    assert.is(wrong({ op: 'remove', path: '/a/1' }), 'there is no "/a/1"')
    assert.is(wrong({ op: 'add', path: '/a/2', value: 1 }), 'there is no "/a/2"')
    assert.is(wrong({ op: 'add', path: '/a/01', value: 1 }), 'there is no "/a/01"')
    assert.is(wrong({ op: 'add', path: '/b/x', value: 1 }), '"/b" has no fields')
    assert.is(wrong({ op: 'add', path: '/c/x', value: 1 }), 'there is no "/c"')
    assert.is(wrong({ op: 'remove', path: '' }), 'the whole state cannot be removed')
    assert.is(wrong({ op: 'add', path: 'a', value: 1 }), '"a" is no pointer: it begins with "/"')
    assert.is(wrong({ op: 'add', path: '/c' }), '"add" of "/c" has no value')
    assert.is(wrong({ op: 'replace', path: '/constructor', value: 1 }), 'there is no "/constructor"')
    assert.equal(
      applyPatch(state, [
        { op: 'remove', path: '/b' },
        { op: 'remove', path: '/b' },
      ]),
      {
        wrong: 'there is no "/b"',
      },
    )
  })
  it('keep the changes that fit, and name the others', () => {
    const lost = { op: 'replace', path: '/gone/x', value: 1 } as const
    const kept = { op: 'add', path: '/b', value: 2 } as const
    assert.equal(applyFitting({ a: 1 }, [lost, kept]), { value: { a: 1, b: 2 }, kept: [kept], lost: [lost] })
  })
  it('have `__proto__` as a name like any other', () => {
    const evil = JSON.parse('{"__proto__":{"polluted":true}}') as object
    const { value } = applyPatch({}, difference({}, plainState(evil)))
    assert.is(JSON.stringify(value), '{"__proto__":{"polluted":true}}')
    assert.is(Object.getPrototypeOf(value), Object.prototype)
    assert.is(applyOp({}, { op: 'add', path: '/__proto__/polluted', value: true }).wrong, 'there is no "/__proto__"')
    assert.is(({} as { polluted?: unknown }).polluted, undefined)
  })
  it('touch a list when they move its elements, and the element else', () => {
    const state = { list: [1, 2, 3] }
    const of = (...ops: readonly StateOp[]): string[] => touched(state, ops)
    assert.equal(of({ op: 'replace', path: '/list/0', value: 9 }), ['/list/0'])
    assert.equal(of({ op: 'add', path: '/list/0', value: 9 }), ['/list'])
    assert.equal(of({ op: 'remove', path: '/list/0' }), ['/list'])
    assert.equal(of({ op: 'add', path: '/list/3', value: 9 }, { op: 'add', path: '/list/4', value: 9 }), [
      '/list/3',
      '/list/4',
    ])
    assert.equal(of({ op: 'remove', path: '/list/2' }, { op: 'remove', path: '/list/1' }), ['/list/2', '/list/1'])
  })
  it('share a place with those of the same one, above or below', () => {
    assert.is(firstShared(['/a/b'], ['/a/c', '/ab']), undefined)
    assert.is(firstShared(['/a/b'], ['/a']), '/a/b')
    assert.is(firstShared(['/a'], ['/a/b/c']), '/a')
    assert.is(firstShared(['/x', '/a'], ['/a']), '/a')
    assert.is(firstShared([''], ['/a']), '')
    assert.is(firstShared(['/a'], ['']), '/a')
    assert.is(firstShared(['/a'], []), undefined)
  })
})

describe('a plain state', (it) => {
  const refused = (value: unknown): string => {
    try {
      plainState(value)
    } catch (thrown) {
      return (thrown as Error).message
    }
    return 'taken'
  }
  it('is what JSON has of a value', () => {
    const state = plainState({ at: new Date(0), gone: undefined, list: [undefined], zero: -0 }) as { zero: number }
    assert.equal(state, { at: '1970-01-01T00:00:00.000Z', list: [null], zero: 0 })
    assert.ok(Object.is(state.zero, 0))
  })
  it('is nothing that JSON has not, and the message says where', () => {
    assert.is(refused({ a: [Number.NaN] }), '/a/0 is NaN, which JSON does not have')
    assert.is(refused({ a: () => 1 }), '/a is a function, which JSON does not have')
    assert.is(refused(1n), 'the state is a bigint, which JSON does not have')
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    assert.match(refused(circle), /is nested deeper than 32 levels, or in a circle$/)
    const endless = { toJSON: (): unknown => endless }
    assert.match(refused(endless), /nested deeper/)
  })
  it('has at most 32 levels and 256 kB, and ends early with values that are vast', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) })
    assert.is(refused(nested(32)), 'taken')
    assert.match(refused(nested(33)), /nested deeper/)
    assert.is(refused('x'.repeat(262_142)), 'taken')
    assert.is(refused('x'.repeat(262_143)), 'the state has more characters as JSON than the 262,144 allowed')
    assert.is(refused('"'.repeat(200_000)), 'the state has 400,002 characters as JSON, and may have 262,144')
    // 2^31 objects, if it were copied whole.
    let shared: unknown = 1
    for (let level = 0; level < 31; level += 1) shared = [shared, shared]
    assert.match(refused(shared), /more characters/)
  })
  it('takes patches of at most 1,000 changes and 64 kB', () => {
    const wrong = (patch: readonly StateOp[]): string => {
      try {
        checkPatch(patch)
        return 'taken'
      } catch (thrown) {
        return (thrown as Error).message
      }
    }
    const op = { op: 'remove', path: '/a' } as const
    assert.is(wrong(Array.from({ length: 1_000 }, () => op)), 'taken')
    assert.is(wrong(Array.from({ length: 1_001 }, () => op)), 'the patch has 1,001 changes, and may have 1,000')
    assert.match(wrong([{ op: 'add', path: '', value: 'x'.repeat(65_536) }]), /^the patch has 65,\d{3} characters/)
  })
  it('is named by pointers', () => {
    assert.is(pointerTo(['a/b', 0, '~']), '/a~1b/0/~0')
    assert.is(pointerTo([]), '')
  })
})
