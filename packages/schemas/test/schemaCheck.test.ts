import type { JsonSchema } from '../../../src/protocol/ports/model.ts'
import { schemaCheck } from '../src/schemaCheck.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const object = (properties: object, more: object = {}): JsonSchema => ({ type: 'object', properties, ...more })
const field = (schema: unknown): JsonSchema => object({ a: schema })
const text = { type: 'string' }

/** A schema, values that fit and values that do not. */
const understood: Readonly<
  Record<string, readonly [JsonSchema, fits: readonly unknown[], breaks: readonly unknown[]]>
> = {
  'fields that every object has': [
    object({ constructor: text, toString: text, hasOwnProperty: text }),
    [{}, { constructor: 'x' }],
    [{ constructor: 1 }],
  ],
  'null as OpenAPI 3.0 has it': [field({ type: 'string', nullable: true }), [{ a: null }, { a: 'x' }], [{ a: 1 }]],
  'null beside a list of values': [
    field({ type: 'string', enum: ['x'], nullable: true }),
    [{ a: null }, { a: 'x' }],
    [{ a: 'y' }],
  ],
  'null beside a reference and beside a choice': [
    object({ a: { $ref: '#/$defs/A', nullable: true }, b: { oneOf: [text], nullable: true } }, { $defs: { A: text } }),
    [
      { a: null, b: null },
      { a: 'x', b: 'x' },
    ],
    [{ a: 1 }, { b: 1 }],
  ],
  'values that are objects': [field({ enum: [{ k: 1 }, [2]] }), [{ a: { k: 1 } }, { a: [2] }], [{ a: { k: 2 } }]],
  'a constant that is an object': [field({ const: { k: {} } }), [{ a: { k: {} } }], [{ a: {} }]],
  'whole numbers of any size': [field({ type: 'integer' }), [{ a: 12345678901234567000 }, { a: 1.0 }], [{ a: 1.5 }]],
  'patterns by their Unicode words': [field({ type: 'string', pattern: '^\\p{L}+$' }), [{ a: 'Zoë' }], [{ a: '1' }]],
  'patterns that only older ones take': [
    field({ type: 'string', pattern: '^[\\w\\-]+$' }),
    [{ a: 'a-b' }],
    [{ a: '!' }],
  ],
  'patterns that look ahead, and a format, which checks nothing': [
    field({ type: 'string', pattern: '^(?!.*x)a+$', format: 'email' }),
    [{ a: 'aa' }],
    [{ a: 'ax' }],
  ],
  'fields by patterns': [
    object(
      { ab: text, patternProperties: { type: 'number' }, in: { $ref: '#/$defs/I' } },
      {
        patternProperties: { '^a': { minLength: 2 }, c$: { type: 'number' } },
        additionalProperties: false,
        $defs: { I: { patternProperties: { '^(x+)+$': { type: 'number' } }, additionalProperties: text } },
      },
    ),
    [{ ab: 'xx', ax: 'yy', c: 1, patternProperties: 1 }, { in: { x: 1, xx: 2, a: 'a' } }, {}],
    [{ ab: 'x' }, { ab: 11 }, { ax: 'y' }, { ac: 'yy' }, { b: 1 }, { in: { xx: 'a' } }, { in: { a: 1 } }],
  ],
  'names by a pattern': [{ propertyNames: { pattern: '^(a+)+$' } }, [{ aa: 1 }], [{ [`${'a'.repeat(60)}b`]: 1 }]],
  'formats, which are words about a value': [
    object({ a: { ...text, format: 'date-time' }, b: { ...text, format: 'uri-reference' }, c: { format: 'uuid' } }),
    [{ a: '2026-01-01t00:00:00z', b: '/a/b', c: '11111111-1111-1111-1111-111111111111' }],
    [],
  ],
  'a choice beside fields, whose parts name no type': [
    object({ a: text, b: text }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
    [{ a: 'x' }, { a: 'x', b: 'y' }],
    [{}],
  ],
  'one of several as at least one of them': [
    object({ a: text, b: text }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
    [{ a: 'x' }, { a: 'x', b: 'y' }],
    [{}],
  ],
  'both choices at once': [
    object({}, { anyOf: [{ required: ['a'] }], oneOf: [{ required: ['b'] }], allOf: [{ required: ['c'] }] }),
    [{ a: 1, b: 1, c: 1 }],
    [
      { a: 1, c: 1 },
      { b: 1, c: 1 },
      { a: 1, b: 1 },
    ],
  ],
  'a reference into a choice': [
    object({ a: { oneOf: [text] }, b: { $ref: '#/properties/a/oneOf/0' } }),
    [{ b: 'x' }],
    [{ b: 1 }],
  ],
  'what must be there and has no field': [object({}, { required: ['x'] }), [{ x: 1 }], [{}]],
  definitions: [{ ...field({ $ref: '#/definitions/A' }), definitions: { A: text } }, [{ a: 'x' }], [{ a: 1 }]],
  // oxlint-disable-next-line no-thenable -- a word of JSON Schema
  conditions: [object({}, { if: { required: ['a'] }, then: { required: ['b'] } }), [{}, { a: 1, b: 1 }], [{ a: 1 }]],
  'what is not to be': [field({ not: text }), [{ a: 1 }], [{ a: 'x' }]],
  'what one field asks for': [object({}, { dependentRequired: { a: ['b'] } }), [{ a: 1, b: 1 }], [{ a: 1 }]],
  'excluded bounds of draft 4': [
    field({ type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false }),
    [{ a: 1 }, { a: 9 }],
    [{ a: 0 }, { a: 10 }],
  ],
  'lists by position of draft 7': [
    field({ type: 'array', items: [text, { type: 'number' }], additionalItems: false }),
    [{ a: ['x', 1] }],
    [{ a: [1] }, { a: ['x', 1, 2] }],
  ],
  'required of draft 3': [
    object({ a: { ...text, required: true }, b: { ...text, required: false } }),
    [{ a: 'x' }],
    [{}],
  ],
  'a value as deep as its schema refers to itself': [
    object({ next: { $ref: '#' }, v: text }),
    [{ next: { next: { v: 'x' } } }],
    [{ next: { next: { v: 1 } } }],
  ],
}

describe('the check by a JSON Schema', (it) => {
  for (const [what, [schema, fits, breaks]] of Object.entries(understood))
    it(`understands ${what}`, () => {
      const { wrongIn, unchecked } = schemaCheck(schema)
      assert.is(unchecked, undefined)
      for (const value of fits) assert.is(wrongIn(value), undefined, JSON.stringify(value))
      for (const value of breaks) assert.type(wrongIn(value), 'string', JSON.stringify(value))
    })

  it('says where a value is wrong, of very much the first', () => {
    const check = schemaCheck(object({ 'a/b': { type: 'array', items: { type: 'number' } } }, { required: ['c'] }))
    assert.is(check.wrongIn({ 'a/b': ['x'] }), 'c: missing; a/b.0: expected number, got string')
    assert.ok(check.wrongIn({ c: 1, 'a/b': Array.from({ length: 9_000 }, () => 'x') })!.length < 2_000)
  })

  it('leaves out what cannot be read, says so and checks the rest', () => {
    const odd: readonly (readonly [JsonSchema, told: string])[] = [
      [object({ a: text, b: { type: 'string', pattern: '^(?P<x>b)$' } }), 'no regular expression'],
      [
        object({ a: text, b: { $ref: 'https://example.org/b.json' } }),
        '/properties/b/$ref (https://example.org/b.json)',
      ],
      [object({ a: text, b: { $ref: '#/nowhere' } }), '/properties/b/$ref'],
      [object({ a: text }, { patternProperties: { '(': text } }), 'no regular expression'],
      [object({ a: text, b: 'string' }), '/properties/b'],
      [object({ a: text, b: { type: 'any', minLength: '5' } }), '/properties/b/type, /properties/b/minLength'],
    ]
    for (const [schema, told] of odd) {
      const { wrongIn, unchecked } = schemaCheck(schema)
      assert.match(unchecked ?? '', told)
      assert.is(wrongIn({ a: 'x', b: 'y' }), undefined)
      assert.match(wrongIn({ a: 1 }) ?? '', /^a: expected string/)
    }
  })

  it('takes no text that is too long for a regular expression, but where others check it too', () => {
    const schema = field({ type: 'string', pattern: '(a?){1000}b$' })
    const long = { a: 'a'.repeat(50_000) }
    assert.match(schemaCheck(schema).wrongIn(long) ?? '', /too long for the regular expressions of the schema/)
    assert.is(schemaCheck(schema, { why: () => undefined }).wrongIn(long), undefined)
    assert.is(schemaCheck(schema).wrongIn({ a: 'ab' }), undefined)
    assert.is(schemaCheck(schema).wrongIn({ a: 'a' }), 'a: expected to match (a?){1000}b$')
  })

  it('holds no value with very many names against many patterns', () => {
    const patternProperties = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`^(a|${n})+`, text]))
    const value = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`a${n}`, 1]))
    assert.match(schemaCheck({ patternProperties }).wrongIn(value) ?? '', /too long/)
    assert.match(schemaCheck({ patternProperties }).wrongIn({ a1: 1 }) ?? '', /^a1: expected string/)
  })

  it('leaves out patterns that refer back, or are too large together', () => {
    const { unchecked, wrongIn } = schemaCheck(field({ type: 'string', pattern: '(a)\\1' }))
    assert.is(unchecked, 'its pattern "(a)\\\\1" is not tried: it refers back to what it matched')
    assert.is(wrongIn({ a: 'b' }), undefined)
    const many = Array.from({ length: 50 }, (_, n) => [`p${n}`, { pattern: `^a{3000}${n}` }])
    assert.match(
      schemaCheck(object(Object.fromEntries(many))).unchecked ?? '',
      /"\^a\{3000\}49" is not tried: those before it/,
    )
  })

  it('checks nothing by what refers to itself without end', () => {
    assert.is(schemaCheck({ $ref: '#' }).wrongIn({}), undefined)
  })

  it('makes no code out of texts, which pages and workers may forbid', async () => {
    const { execFileSync } = await import('node:child_process')
    const source = new URL('../src/schemaCheck.ts', import.meta.url).href
    const script = `import(${JSON.stringify(source)}).then(({ schemaCheck }) =>
      console.log(schemaCheck({ type: 'object', properties: { a: { type: 'string', pattern: '^x' } } }).wrongIn({ a: 'y' })))`
    const said = execFileSync(process.execPath, ['--disallow-code-generation-from-strings', '--eval', script])
    assert.is(said.toString().trim(), 'a: expected to match ^x')
  })
})
