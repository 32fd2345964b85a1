import * as fc from 'fast-check'
import { linearPattern, TooManySteps } from '../src/linearPattern.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const atoms = [
  'a',
  'b',
  '.',
  '[ab]',
  '[^a]',
  '[]',
  '[^]',
  '[\\w-]',
  '[😀a]',
  '\\w',
  '\\s',
  '\\D',
  '\\b',
  '\\B',
  '^',
  '$',
  '_',
  ' ',
  '😀',
  '\\u{1F600}',
  '\\uD83D\\uDE00',
  '\\ud83d',
  '\\p{L}',
  'é',
  '\\n',
  '\\-',
  '{',
  '}',
  ']',
  '\\x61',
  '\\cA',
  '\\/',
  '\\0',
]
const repeats = ['*', '+', '?', '{2}', '{1,2}', '{0,3}', '{2,}', '*?', '{0}', '{1,2}?']
const groups = ['(', '(?:', '(?=', '(?!', '(?<=', '(?<!', '(?<name>']

const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom(...atoms),
    fc.array(tie('pattern'), { maxLength: 4 }).map((parts) => parts.join('')),
    fc.array(tie('pattern'), { minLength: 1, maxLength: 3 }).map((parts) => `(${parts.join('|')})`),
    fc.tuple(fc.constantFrom(...groups), tie('pattern')).map(([group, inner]) => `${group + inner})`),
    fc.tuple(tie('pattern'), fc.constantFrom(...repeats)).map(([inner, repeat]) => `(?:${inner})${repeat}`),
    fc.tuple(fc.constantFrom(...atoms), fc.constantFrom(...repeats)).map((parts) => parts.join('')),
  ),
}))
const characters = [
  'a',
  'b',
  '_',
  ' ',
  '\n',
  '1',
  '😀',
  '\uD83D',
  '\uDE00',
  'é',
  '-',
  '{',
  '}',
  ']',
  '\u0001',
  '/',
  '\u2028',
]
const text = fc.array(fc.constantFrom(...characters), { maxLength: 7 }).map((parts) => parts.join(''))

function native(source: string): RegExp | undefined {
  for (const flags of ['u', ''])
    try {
      return new RegExp(source, flags)
    } catch {
      // Without the flag, or not at all.
    }
  return undefined
}

const found = (source: string, subject: string): string => `/${source}/ in ${JSON.stringify(subject)}`

describe('a regular expression of others', (it) => {
  it('fits where it does as JavaScript tries it, whatever the two are', () => {
    let compared = 0
    const property = fc.property(pattern, fc.array(text, { minLength: 4, maxLength: 6 }), (source, texts) => {
      const plain = native(source)
      const whole = native(`^(?:${source})$`)
      if (plain === undefined || whole === undefined) return
      for (const subject of texts) {
        assert.is(linearPattern(whole.source).test(subject), whole.test(subject), found(whole.source, subject))
        // V8 also looks for it between the halves of a character, where no expression with `u` begins.
        if (/[\u{10000}-\u{10FFFF}]/u.test(subject)) continue
        assert.is(linearPattern(plain.source).test(subject), plain.test(subject), found(plain.source, subject))
        compared++
      }
    })
    fc.assert(property, { numRuns: 2_000, seed: 3 })
    assert.ok(compared > 1_000)
  })

  it('takes no more steps than its size for each character', () => {
    const long = 10_000
    const hostile: readonly (readonly [source: string, text: string])[] = [
      ['^(a+)+$', `${'a'.repeat(long)}b`],
      [`${'(a|a)'.repeat(200)}$`, `${'a'.repeat(long)}b`],
      ['^(\\w+\\s?)*$', `${'a'.repeat(long)},`],
      ['^a*a{0,2000}b$', `${'a'.repeat(long)}c`],
      ['^(?=(.*a)*$)(?<!(a*)*c)(.*)*b$', 'a'.repeat(long)],
      ['^((((a*)*)*)*)*$', `${'a'.repeat(long)}b`],
      ['(?:a?){500}(?:a){500}$', 'a'.repeat(499)],
      ['(\\s*)*(\\s+)+x', ' '.repeat(long)],
    ]
    for (const [source, subject] of hostile) {
      const one = linearPattern(source)
      const steps = { left: 1e12 }
      assert.is(one.test(subject, steps), false, source)
      assert.ok(1e12 - steps.left <= 2 * (one.size + 2) * (subject.length + 1), `${source}: ${1e12 - steps.left}`)
    }
  })

  it('is given up when the steps it may take are spent, which several texts share', () => {
    const steps = { left: 1_000 }
    assert.ok(linearPattern('b$').test(`${'a'.repeat(200)}b`, steps))
    assert.throws(
      () => linearPattern('b$').test('a'.repeat(400), steps),
      (thrown: unknown) => thrown instanceof TooManySteps,
    )
    assert.throws(() => linearPattern('(?=b)').test('a'.repeat(400), { left: 300 }), /too long/)
  })

  it('is refused with the reason', () => {
    const refused: readonly (readonly [source: string, reason: RegExp])[] = [
      ['(', /no regular expression of JavaScript/],
      ['(?P<x>a)', /no regular expression of JavaScript/],
      ['(a)\\1', /refers back/],
      ['(?<n>a)\\k<n>', /refers back/],
      ['\\c', /"\\\\c", which is not read here/],
      ['[\\w-.]\\01', /"\\\\0", which is not read here/],
      ['a'.repeat(4_001), /4001 characters/],
      ['(a{1000}){1000}', /comes to \d+ parts/],
      [`${'('.repeat(101)}a${')'.repeat(101)}`, /nested deeper than 100 levels/],
    ]
    for (const [source, reason] of refused) assert.throws(() => linearPattern(source), reason)
    // Older engines take it for none at all.
    assert.throws(() => linearPattern('(?i:a)'), /changes its flags|no regular expression/)
  })
})
