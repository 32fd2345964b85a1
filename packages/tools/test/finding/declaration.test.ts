import { stripTypeScriptTypes } from 'node:module'
import * as fc from 'fast-check'
import { declarationOf } from '../../src/finding/declaration.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

type Json = { readonly [key: string]: unknown }

const declare = (inputSchema: Json, name = 'f', description = 'Does f.'): string =>
  declarationOf({ name, description, inputSchema }, 6_000)

/** The type of a field. */
const typeOf = (schema: unknown, more: Json = {}): string => {
  const text = declare({ type: 'object', properties: { a: schema }, required: ['a'], ...more })
  return /f\(input: \{ a: (.*) \}\)/s.exec(text)?.[1] ?? text
}

/** Throws unless a declaration is one of TypeScript. */
function checkSyntax(text: string): void {
  const [, ...types] = text.split(/\n(?=type )/)
  const [method] = text.split(/\ntype /)
  const code = [`interface Tools {\n${method}\n}`, ...types].join('\n')
  const left = stripTypeScriptTypes(code, { mode: 'strip' }).trim()
  if (left !== '') throw new Error(`More than types: ${left}\n${text}`)
}

const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('*/', '`${x}`', "'", '"', '\\', '\n', '\u2028', '//', '__proto__', 'a b', '}', '/**', '', '0', 'ab'),
)

const { schema: anySchema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<unknown>(true, false, null, 7, 'x', [], {}, { type: 'null' }, { $ref: '#' }, { $ref: '#/no' }),
    fc.record({ type: fc.constantFrom('string', 'integer', 'boolean', 'array', 'object', 'odd') }),
    fc.record({ const: fc.jsonValue() }),
    fc.record({ enum: fc.array(fc.oneof(nasty, fc.integer()), { maxLength: 60 }) }),
    fc.record({ $ref: fc.constantFrom('#/$defs/a', '#/$defs/b', '#/properties/x') }),
    fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 3 }), description: nasty }),
    fc.record({ oneOf: fc.array(tie('schema'), { maxLength: 3 }), nullable: fc.boolean() }),
    fc.record({ allOf: fc.array(tie('schema'), { maxLength: 3 }) }),
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({
      type: fc.constant('array'),
      prefixItems: fc.array(tie('schema'), { maxLength: 3 }),
      items: tie('schema'),
    }),
    fc.record(
      {
        type: fc.constantFrom<unknown>('object', ['object', 'null'], ['string', 'array']),
        properties: fc.dictionary(nasty, tie('schema'), { maxKeys: 3 }),
        required: fc.array(nasty, { maxLength: 2 }),
        additionalProperties: tie('schema'),
        patternProperties: fc.dictionary(nasty, tie('schema'), { maxKeys: 1 }),
        description: nasty,
        default: fc.jsonValue(),
        format: nasty,
        pattern: nasty,
        minimum: fc.integer(),
      },
      { requiredKeys: ['type'] },
    ),
  ),
}))

describe('the declaration of a tool', (it) => {
  it('has its description, its name and the type of its arguments', () => {
    assert.is(
      declare({ type: 'object', properties: { id: { type: 'string' } } }),
      '/** Does f. */\nf(input?: { id?: string })',
    )
    assert.is(declare({ type: 'object' }, 'get-it', ''), '"get-it"(input?: Record<string, unknown>)')
  })

  it('says of fields what their types cannot say', () => {
    const text = declare({
      type: 'object',
      required: ['n'],
      properties: {
        n: { type: 'integer', description: 'How\n many.', minimum: 1, maximum: 9, default: 3 },
        day: { type: 'string', format: 'date', pattern: '^2' },
      },
    })
    assert.is(
      text,
      '/** Does f. */\nf(input: {\n  /** How many. (from 1, up to 9, default 3) */\n  n: number\n  /** (date, /^2/) */\n  day?: string\n})',
    )
  })

  it('has unions, values, nullable types, lists, tuples and maps', () => {
    for (const [schema, expected] of [
      [{ type: ['string', 'null'] }, 'string | null'],
      [{ type: 'string', nullable: true }, 'string | null'],
      [{ type: 'string', enum: ['x', 'y', 1, null] }, '"x" | "y" | 1 | null'],
      [{ const: { a: [1] } }, '{"a":[1]}'],
      [{ anyOf: [{ type: 'string' }, { type: 'string' }] }, 'string'],
      [{ anyOf: [] }, 'never'],
      [{ oneOf: [{ type: 'string' }, {}] }, 'unknown'],
      [{ type: 'array', items: { oneOf: [{ type: 'string' }, { const: 1 }] } }, '(string | 1)[]'],
      [{ type: 'array' }, 'unknown[]'],
      [{ type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } }, '[string, ...number[]]'],
      [{ type: 'array', items: [{ type: 'string' }, { type: 'null' }], additionalItems: false }, '[string, null]'],
      [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
      [{ type: 'object', additionalProperties: false }, 'Record<string, never>'],
      [{ properties: { b: false } }, '{ b?: never }'],
      [
        { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: { type: 'number' } },
        '{ b?: string } & Record<string, number>',
      ],
      [
        { properties: { b: {} }, anyOf: [{ required: ['b'] }, { properties: { c: { type: 'null' } } }] },
        '{ b?: unknown }',
      ],
      [
        { allOf: [{ properties: { b: {} } }, { anyOf: [{ type: 'string' }, { type: 'null' }] }] },
        '{ b?: unknown } & (string | null)',
      ],
      [true, 'unknown'],
      [{ type: 'odd' }, 'unknown'],
    ] as const)
      assert.is(typeOf(schema), expected, JSON.stringify(schema))
  })

  it('writes what references mean, and gives a name to what leads back to itself', () => {
    const $defs = {
      Pet: { type: 'object', properties: { name: { type: 'string' } } },
      'Tree/Node': { type: 'object', properties: { next: { $ref: '#/$defs/Tree~1Node' } } },
      a: { type: 'object', properties: { b: { $ref: '#/$defs/b' } } },
      b: { type: 'object', properties: { a: { $ref: '#/$defs/a' } } },
      loop: { $ref: '#/$defs/loop' },
    }
    assert.is(typeOf({ $ref: '#/$defs/Pet' }, { $defs }), '{ name?: string }')
    assert.is(typeOf({ $ref: '#/$defs/none' }, { $defs }), 'unknown')
    assert.is(typeOf({ $ref: 'https://example.com/x.json' }, { $defs }), 'unknown')
    const one = (ref: string): string => declare({ type: 'object', properties: { x: { $ref: ref } }, $defs })
    assert.match(
      one('#/$defs/Tree~1Node'),
      /f\(input\?: \{ x\?: Tree_1Node \}\)\ntype Tree_1Node = \{ next\?: Tree_1Node \}$/,
    )
    assert.match(one('#/$defs/a'), /\(input\?: \{ x\?: A \}\)\ntype A = \{ b\?: \{ a\?: A \} \}$/)
    assert.match(one('#/$defs/loop'), /\(input\?: \{ x\?: Loop \}\)\ntype Loop = unknown$/)
    assert.match(one('#'), /f\(input\?: Input\)\ntype Input = \{ x\?: Input \}$/)
  })

  it('keeps texts of others in literals and comments', () => {
    const text = declare(
      {
        type: 'object',
        properties: { '*/ evil(): void; /*': { enum: ['*/', '"\u2028'], description: '*/ } evil() {' } },
      },
      'f',
      '*/ evil() //',
    )
    checkSyntax(text)
    assert.is(
      text,
      '/** *\\/ evil() // */\nf(input?: {\n  /** *\\/ } evil() { */\n  "*/ evil(): void; /*"?: "*/" | "\\"\\u2028"\n})',
    )
  })

  it('is short, whatever the schema: what is too deep, too wide or too often referred to is left out', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, n) => [`field_${n}`, { type: 'string', description: 'x'.repeat(300) }]),
    )
    const doubling = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => {
        const next = { $ref: `#/$defs/d${n + 1}` }
        return [`d${n}`, { type: 'object', properties: { a: next, b: next } }]
      }),
    )
    let deep: Json = { type: 'string' }
    for (let n = 0; n < 5_000; n++) deep = { type: 'object', properties: { a: deep } }
    for (const schema of [
      { type: 'object', properties: wide },
      { type: 'object', properties: { ['x'.repeat(100_000)]: {}, b: { const: 'y'.repeat(100_000) } } },
      { type: 'object', properties: { x: { $ref: '#/$defs/d0' } }, $defs: doubling },
      { type: 'object', properties: { deep } },
      { type: 'object', properties: { x: { enum: Array.from({ length: 10_000 }, (_, n) => `value ${n}`) } } },
    ]) {
      const text = declare(schema)
      assert.ok(text.length <= 6_000, `${text.length}`)
      checkSyntax(text)
    }
    assert.match(
      typeOf({ enum: Array.from({ length: 90 }, (_, n) => n) }),
      /a: number \/\* one of 90, such as 0, 1, .*39 \*\/\n\}\)$/,
    )
    assert.match(declare({ type: 'object', properties: wide }), /\/\* and 4985 more \*\/\n\}\)$/)
  })

  it('reads no more of a schema than it can show, however often it refers to the same', () => {
    let reads = 0
    const leaf = {
      get type() {
        reads += 1
        return 'string'
      },
    }
    const $defs: Record<string, unknown> = { d5: leaf }
    for (let n = 4; n >= 0; n--) {
      const next = { $ref: `#/$defs/d${n + 1}` }
      const properties = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`a${at}`, next]))
      $defs[`d${n}`] = { type: 'object', properties }
    }
    declare({ type: 'object', properties: { x: { $ref: '#/$defs/d0' } }, $defs })
    assert.ok(reads < 10_000, `${reads} reads`)
  })

  it('leaves out values that are nested too deeply to be written', () => {
    let deep: unknown = 'x'
    for (let n = 0; n < 20_000; n++) deep = [deep]
    const properties = { a: { const: deep }, b: { type: 'string', default: deep } }
    const text = declare({ type: 'object', properties })
    assert.match(text, /a\?: unknown/)
    checkSyntax(text)
  })

  it('is TypeScript for any schema and name, and never throws', () => {
    const root = fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(nasty, anySchema, { maxKeys: 4 }),
      required: fc.array(nasty, { maxLength: 2 }),
      $defs: fc.record({ a: anySchema, b: anySchema }),
    })
    fc.assert(
      fc.property(root, nasty, nasty, (schema, name, description) => {
        const text = declarationOf({ name, description, inputSchema: schema }, 6_000)
        assert.ok(text.length <= 6_000)
        checkSyntax(text)
      }),
      { seed: 36, numRuns: 300 },
    )
  })
})
