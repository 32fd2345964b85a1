import { z } from 'zod'
import { checkedBy, describeIssues } from '../../src/protocol/errors.ts'
import { mistakesOf } from '../../src/protocol/checks/mistakes.ts'
import { onlyFields } from '../../src/protocol/checks/onlyFields.ts'
import { workspaceTools } from '../../packages/tools/src/workspace/workspaceTools.ts'
import { withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

type Case = readonly [schema: z.ZodType, value: unknown, said: string]

const tree = z.union([z.boolean(), z.literal('tree'), onlyFields({ tree: z.object({ most: z.int() }) })])
const byKind = [
  z.object({ kind: z.literal('a'), n: z.number() }),
  z.object({ kind: z.literal('b'), m: z.string() }),
] as const
const refused = z.custom(() => false)

/** Cases by the code of zod's issue: a code that zod adds has none, which the types tell. */
const cases: Readonly<Record<z.core.$ZodIssue['code'], readonly Case[]>> = {
  invalid_type: [
    [z.string(), 1, 'give a string, not a number'],
    [z.boolean(), 'yes', 'give true or false, not a string'],
    [z.object({ a: z.array(z.string()) }), { a: {} }, 'a: give a list, not an object'],
    [z.object({ a: z.string() }), {}, 'a: missing, give a string'],
    [z.int(), 1.5, 'give an integer, not 1.5'],
    [z.int(), 'x', 'give a number, not a string'],
    [z.number(), Number.NaN, 'give a number, not NaN'],
    [z.number(), Infinity, 'give a number, not Infinity'],
    [z.instanceof(URL), null, 'give a URL, not null'],
    [z.instanceof(AbortSignal), 1, 'give an AbortSignal, not a number'],
    [z.string().optional().nonoptional(), undefined, 'missing, give a value'],
    [z.never(), 1, 'leave it out'],
    [z.object({ a: z.undefined() }), { a: 1 }, 'a: leave it out'],
  ],
  invalid_value: [
    [z.enum(['own', 'shared']), 'mine', 'give "own" or "shared", not "mine"'],
    [z.enum(['a', 'b', 'c']), undefined, 'missing, give "a", "b" or "c"'],
    [z.literal(true), [1], 'give true, not a list'],
    [z.literal('a'), 'b'.repeat(99), `give "a", not "${'b'.repeat(39)}…"`],
  ],
  too_big: [
    [z.number().max(1), 2, 'give at most 1, not 2'],
    [z.number().lt(1), 1, 'give less than 1, not 1'],
    [z.string().max(1), 'secret', 'give at most 1 character, not 6'],
    [z.array(z.any()).max(2), [1, 2, 3], 'give at most 2 items, not 3'],
    [z.set(z.any()).max(1), new Set([1, 2]), 'give at most 1 item, not 2'],
    [z.date().max(new Date(0)), new Date(1), 'give at most 1970-01-01T00:00:00.000Z, not 1970-01-01T00:00:00.001Z'],
  ],
  too_small: [
    [z.number().positive(), 0, 'give more than 0, not 0'],
    [z.bigint().min(5n), 4n, 'give at least 5, not 4'],
    [z.string().min(1), '', 'give at least 1 character, not 0'],
    [z.string().length(3), 'ab', 'give exactly 3 characters, not 2'],
    [z.file().min(9), new File(['ab'], 'x'), 'give at least 9 bytes, not 2'],
  ],
  invalid_format: [
    [z.url(), 'secret', 'give a URL'],
    [z.email(), 'secret', 'give an email address'],
    [z.iso.date(), 'secret', 'give an ISO date'],
    [z.string().regex(/^a/), 'secret', 'give a text that must match pattern /^a/'],
    [z.string().startsWith('a'), 'secret', 'give a text that must start with "a"'],
    [z.string().uppercase(), 'secret', 'give a text in capitals'],
    [z.templateLiteral(['a', z.literal('b')]), 'secret', 'give a text that must match pattern ^a(b)$'],
  ],
  not_multiple_of: [[z.number().multipleOf(5), 7, 'give a multiple of 5, not 7']],
  unrecognized_keys: [
    [z.strictObject({}), { b: 1, c: 2 }, '"b" is not known; "c" is not known'],
    [
      z.object({ in: onlyFields({ near: z.any().optional() }) }),
      { in: { nead: 1 } },
      'in: "nead" is not known; did you mean "near"?',
    ],
  ],
  invalid_union: [
    [tree, 'x', 'give true or false, "tree" or an object, not "x"'],
    [tree, undefined, 'missing, give true or false, "tree" or an object'],
    [tree, { tree: { most: 'x' } }, 'tree.most: give a number, not a string'],
    [
      z.union([onlyFields({ a: z.any().optional() }), onlyFields({ b: z.any().optional() })]),
      { c: 1 },
      '"c" is not known; did you mean "a"?',
    ],
    [z.union([z.string(), tree]), { tree: { most: 'x' } }, 'tree.most: give a number, not a string'],
    [z.union([z.number().max(5), z.literal('all')]), 7, 'give at most 5, not 7'],
    [z.union([z.url(), z.email()]), 'secret', 'give a URL or an email address'],
    [z.union([z.boolean(), z.custom(() => false, 'give a function')]), 7, 'give true or false or a function, not 7'],
    [z.union(byKind), { kind: 'c' }, 'kind: give "a" or "b", not "c"'],
    [z.union(byKind), { kind: 'a' }, 'n: missing, give a number'],
    [z.union(byKind), { kind: 'b' }, 'm: missing, give a string'],
    [z.discriminatedUnion('kind', byKind), { kind: 'c' }, 'kind: give "a" or "b", not "c"'],
    [z.xor([z.string(), z.string()]), 'x', 'give what fits one kind only, not "x"'],
    [z.union([refused, refused]), 1, 'this cannot be used'],
  ],
  invalid_key: [
    [z.record(z.string().max(3), z.any()), { long: 1 }, 'long: its name: give at most 3 characters, not 4'],
    [z.record(z.string().regex(/^a/, 'begin with a'), z.any()), { b: 1 }, 'b: its name: begin with a'],
  ],
  invalid_element: [[z.map(z.any(), z.number()), new Map([[{}, 'x']]), 'an object: give a number, not a string']],
  custom: [
    [refused, 1, 'this cannot be used'],
    [z.custom(() => false, 'give a clock'), 1, 'give a clock'],
  ],
}

describe('a mistake', (it) => {
  for (const [code, all] of Object.entries(cases))
    it(`that zod calls ${code} is told by what to give, and what was seen`, () => {
      const codes: string[] = []
      for (const [schema, value, said] of all) {
        const { error } = schema.safeParse(value, { reportInput: true })
        assert.is(describeIssues(error!), said)
        for (const issue of error!.issues) codes.push(issue.code)
        assert.not.match(said, /secret/)
      }
      assert.ok(codes.includes(code))
    })

  it('is told in the words of the author of the schema, whatever its code', () => {
    const why = 'Invalid: say it otherwise.'
    const ours = [
      z.string(why),
      z.enum(['a'], why),
      z.array(z.any(), why),
      z.email(why),
      z.union([z.int(), z.null()], why),
    ]
    for (const schema of ours) assert.is(describeIssues(schema.safeParse(1n).error!), why)
    assert.is(describeIssues(z.string().regex(/a/, 'Invalid phone!').safeParse('b').error!), 'Invalid phone!')
  })

  it('shows nothing of the value where the schema was not asked to', () => {
    const schema = z.object({ a: z.enum(['x', 'z']), n: z.number().max(1), i: z.int(), u: tree })
    const { error } = schema.safeParse({ a: 'y', n: 9, i: 1.5, u: 'y' })
    assert.is(
      describeIssues(error!),
      'a: give "x" or "z"; n: give at most 1; i: give an integer; u: give true or false, "tree" or an object',
    )
  })

  it('names the unknown field apart from its place', () => {
    const { error } = z.object({ a: z.strictObject({}) }).safeParse({ a: { b: 1 } })
    assert.equal(mistakesOf(error!), [{ path: ['a'], key: 'b', message: '"b" is not known' }])
  })

  it('in options is thrown with what was given', () => {
    assert.throws(
      () => workspaceTools('.', { snapshots: 'x' as never }),
      withCode('INVALID_OPTION', 'snapshots: give true or false, "tree" or an object, not "x".'),
    )
    assert.throws(() => checkedBy(z.int(), 1.5, 'here', 'INVALID_CONTENT'), withCode('INVALID_CONTENT', 'here: give'))
    assert.is(checkedBy(z.int().default(3), undefined, 'here'), 3)
  })
})
