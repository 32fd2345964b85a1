import { array, assert as assertAll, constantFrom, dictionary, letrec, oneof, property } from 'fast-check'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import type { JsonSchema } from '../../../src/protocol/ports/model.ts'
import { shownSchema, soundSchema } from '../src/soundSchema.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const text = { type: 'string' }

/** True of a schema that the meta-schema of 2020-12 takes. @throws for one that it does not */
const assertValid = (schema: JsonSchema): void =>
  void new AjvJsonSchemaValidator().getValidator(JSON.parse(JSON.stringify(schema)) as never)

const wordsOf = (words: string): readonly string[] => words.split(' ')
const keywords = [
  ...wordsOf('type properties required items additionalItems additionalProperties enum const allOf anyOf oneOf'),
  ...wordsOf('not if then minimum exclusiveMinimum exclusiveMaximum minLength maxItems uniqueItems pattern'),
  ...wordsOf('format nullable description dependentRequired dependencies $defs definitions patternProperties'),
  ...wordsOf('prefixItems multipleOf examples deprecated $ref title'),
]
const garbage = letrec((tie) => ({
  schema: dictionary(constantFrom(...keywords), tie('value'), { maxKeys: 5, noNullPrototype: true }),
  value: oneof(
    { depthSize: 'small' },
    constantFrom(null, true, false, 0, -1, 1.5, '', 'string', 'any', '^a$', '#', '#/properties/a', [], {}),
    tie('schema'),
    array(tie('value'), { maxLength: 3 }),
    dictionary(constantFrom('a', 'b', 'type'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))

describe('a schema from elsewhere', (it) => {
  it('that is sound stays as it is', () => {
    const schema = {
      type: 'object',
      properties: { a: { anyOf: [text, { type: 'null' }], description: 'A.', 'x-own': [1] }, b: { $ref: '#/$defs/B' } },
      required: ['a'],
      additionalProperties: false,
      $defs: { B: { enum: [null, { properties: null }], default: { required: null } } },
    }
    assert.equal(soundSchema(schema), { schema, mended: [] })
  })

  it('has expressions as the standard writes them, and as they were where that cannot be', () => {
    for (const [given, written] of [
      ['^[a-zA-Z0-9_\\-\\:]+$', '^[a-zA-Z0-9_\\-:]+$'],
      ['^\\p{L}\\@\\"$', '^\\p{L}@"$'],
      ['\\\\\\:', '\\\\:'],
      ['^a\\-b\\:$', '^a\\-b\\:$'],
      ['(', '('],
    ] as const)
      assert.equal(soundSchema({ type: 'string', pattern: given }), {
        schema: { type: 'string', pattern: written },
        mended: [],
      })
  })

  it('loses anchors of older drafts that are no names', () => {
    assert.equal(soundSchema({ $recursiveAnchor: true, $recursiveRef: '#' }), {
      schema: { $recursiveRef: '#' },
      mended: ['/$recursiveAnchor'],
    })
  })

  it('loses what no JSON Schema has, and says where', () => {
    const { schema, mended } = soundSchema({
      type: 'object',
      properties: {
        a: { type: 'object', properties: [text], required: null },
        b: null,
        c: { type: ['string', 'file'] },
      },
      required: 'a',
      anyOf: [],
      description: 7,
    })
    assert.equal(schema, { type: 'object', properties: { a: { type: 'object' }, b: {}, c: { type: ['string'] } } })
    const places = [
      '/properties/a/properties',
      '/properties/a/required',
      '/properties/b',
      '/required',
      '/anyOf',
      '/description',
    ]
    assert.equal(mended, places)
    assert.equal(soundSchema({ type: 'object', properties: null }).schema, { type: 'object' })
  })

  it('is JSON Schema 2020-12 whatever it was, to the meta-schema itself', () => {
    assertAll(
      property(garbage.schema, (given) => {
        const { schema } = soundSchema({ type: 'object', ...(given as object) })
        assertValid(schema)
        assertValid(shownSchema(schema))
      }),
      { numRuns: 150 },
    )
  })

  it('of endless depth ends', () => {
    const endless: Record<string, unknown> = { type: 'object' }
    endless['properties'] = { a: endless }
    assert.ok(soundSchema(endless).mended.length > 0)
  })
})

describe('the schema that a model is shown', (it) => {
  it('has the fields of all choices at its top, which providers refuse', () => {
    const shown = shownSchema({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { kind: text },
      required: ['kind'],
      oneOf: [{ properties: { a: text }, required: ['a'] }, { properties: { b: text, kind: { const: 1 } } }],
      allOf: [{ properties: { c: text }, required: ['c'] }],
    })
    assert.equal(shown, {
      type: 'object',
      properties: { kind: text, a: text, b: text, c: text },
      required: ['kind', 'c'],
    })
  })

  it('has the fields of what it is a reference to', () => {
    const A = { type: 'object', properties: { a: text }, required: ['a'] }
    const { properties, required, type, $ref } = shownSchema({ $ref: '#/definitions/A', definitions: { A } })
    assert.equal([type, properties, required, $ref], ['object', { a: text }, ['a'], undefined])
  })

  it('is otherwise as it came', () => {
    const schema = {
      type: 'object',
      properties: { a: { anyOf: [text, { type: 'null' }] } },
      additionalProperties: false,
    }
    assert.equal(shownSchema({ ...schema, $schema: 'x' }), schema)
  })
})
