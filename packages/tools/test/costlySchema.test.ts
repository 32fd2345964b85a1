import { checkOf } from '../../openapi/src/schemas.ts'
import { InputChecks } from '../../mcp/src/client/inputSchemas.ts'
import { whyCostly } from '../src/foreign/costlySchema.ts'
import type { JsonSchema } from '../../../src/protocol/ports/model.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const ofText = (pattern: string): JsonSchema => ({
  type: 'object',
  properties: { a: { type: 'string', pattern } },
})

/** `A0` is twice `A1`, that is twice `A2`, and so on. */
const doubling = (levels: number, defs = '$defs'): JsonSchema => ({
  type: 'object',
  properties: { a: { $ref: `#/${defs}/A0` } },
  $defs: Object.fromEntries([
    ...Array.from({ length: levels }, (_, level) => {
      const next = { $ref: `#/${defs}/A${level + 1}` }
      return [`A${level}`, { allOf: [next, next] }]
    }),
    [`A${levels}`, { type: 'string' }],
  ]),
})

const back = { $ref: '#/$defs/T' }
const withT = (T: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { t: back },
  $defs: { T, O: { type: 'object', properties: { a: back } } },
})
const list = { type: 'array', items: back }
const fields = { type: 'object', additionalProperties: back }

const costly: Readonly<Record<string, JsonSchema>> = {
  'references that double what they lead to': doubling(30),
  'the same, as a URL has them': doubling(30, '%24defs'),
  'very many characters': { type: 'object', properties: { a: { enum: ['x'.repeat(70_000)] } } },
  'choices of one kind that lead back': withT({
    anyOf: [
      { type: 'object', properties: { a: back } },
      { type: 'object', properties: { a: back, b: {} } },
      { type: 'string' },
    ],
  }),
  'the same by references, one of which names no type': withT({
    oneOf: [{ $ref: '#/$defs/O' }, { properties: { a: back } }],
  }),
  'the same, one in another': withT({ anyOf: [{ anyOf: [list, { type: 'string' }] }, list] }),
  'what all of has, and fields beside it': withT({ allOf: [{ $ref: '#/$defs/O' }], properties: { a: back } }),
  'fields by their names and by patterns': withT({ properties: { a: back }, patternProperties: { '^a': back } }),
  'items, and one of them': withT({ items: back, contains: back }),
  'fields, and what one of them asks for': withT({ properties: { a: back }, dependentSchemas: { a: fields } }),
  'a condition that is tried besides': withT({ if: fields, else: fields }),
  'names instead of pointers': withT({
    $anchor: 'T',
    anyOf: [fields, { type: 'object', properties: { a: { $ref: '#T' } } }],
  }),
  'an address within': withT({ $id: 'https://example.org/t', anyOf: [fields] }),
  'its own address': { $id: 'https://example.org/t', type: 'object', properties: { a: { $ref: 't#/$defs/A0' } } },
  'what is found out as it is checked': { type: 'object', properties: { a: { $dynamicRef: '#meta' } } },
}

describe('a schema from elsewhere that could hold the process', (it) => {
  const given = { a: `${'a'.repeat(40)}!` }

  for (const [what, schema] of Object.entries(costly))
    it(`is left to whoever carries the call out: ${what}`, () => {
      const { parse, unchecked } = new InputChecks().of(schema)
      assert.type(whyCostly(schema), 'string')
      assert.is(unchecked, whyCostly(schema))
      assert.equal(parse(given), { ok: true, value: given })
      assert.equal(checkOf(schema).parse(given), { ok: true, value: given })
    })

  it('is none for ordinary ones, though they refer to themselves or to one thing many times', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`p${at}`, { $ref: '#/$defs/A/items' }]))
    const fine: readonly JsonSchema[] = [
      ofText('^(a+)+$'),
      doubling(8),
      { type: 'object', properties: { child: { $ref: '#' }, name: { type: 'string' } } },
      { $id: 'https://example.org/t', ...withT({ type: 'object', properties: { $id: { type: 'string' }, a: back } }) },
      // Choices that lead to what leads back to itself, and do not lead back themselves.
      {
        ...withT({ type: 'object', properties: { a: back } }),
        properties: { t: back, u: { anyOf: [fields, { type: 'object', properties: { b: back } }] } },
      },
      // Any JSON.
      withT({ anyOf: [{ type: 'string' }, { type: ['number', 'null'] }, list, fields] }),
      withT({ type: 'object', properties: { left: back, right: back, all: list }, additionalProperties: back }),
      withT({ anyOf: [{ $ref: '#/$defs/O' }, list, { type: 'object', properties: { a: { type: 'string' } } }] }),
      { type: 'object', properties: many, $defs: { A: { type: 'array', items: { type: 'string' } } } },
      { type: 'object', properties: { a: { $ref: 'https://example.org/a.json' }, pattern: { type: 'string' } } },
    ]
    for (const schema of fine) assert.is(whyCostly(schema), undefined, JSON.stringify(schema))
  })
})
