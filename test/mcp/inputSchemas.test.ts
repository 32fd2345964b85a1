import { InputChecks, shownSchema } from '../../src/mcp/inputSchemas.ts'
import type { JsonSchema } from '../../src/protocol/model.ts'
import { assert, describe } from '../support/suite.ts'

const text = { type: 'string' }

/** A schema from elsewhere, arguments that fit and arguments that do not. */
const odd: Readonly<Record<string, readonly [JsonSchema, fits: object, breaks: object]>> = {
  'plain fields': [{ type: 'object', properties: { a: text }, required: ['a'] }, { a: 'x' }, {}],
  'no type': [{ properties: { a: text } }, { a: 'x' }, { a: 1 }],
  'a field that every object has': [
    { type: 'object', properties: { constructor: text, deep: { type: 'object', properties: { toString: text } } } },
    { deep: {} },
    { constructor: 1 },
  ],
  'a "not"': [{ type: 'object', not: { required: ['b'] } }, { a: 1 }, { b: 1 }],
  // oxlint-disable-next-line no-thenable -- a word of JSON Schema
  'if and then': [{ type: 'object', if: { required: ['a'] }, then: { required: ['b'] } }, { a: 1, b: 2 }, { a: 1 }],
  dependentRequired: [{ type: 'object', dependentRequired: { a: ['b'] } }, { a: 1, b: 2 }, { a: 1 }],
  unevaluatedProperties: [
    { type: 'object', allOf: [{ properties: { a: text } }], unevaluatedProperties: false },
    { a: 'x' },
    { a: 'x', b: 1 },
  ],
  'a cycle': [
    { type: 'object', properties: { child: { $ref: '#' }, name: text } },
    { child: { child: { name: 'x' } } },
    { child: { child: { name: 1 } } },
  ],
  $defs: [{ type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: text } }, { a: 'x' }, { a: 1 }],
  'a choice at the top': [
    {
      type: 'object',
      oneOf: [
        { properties: { a: text }, required: ['a'] },
        { properties: { b: text }, required: ['b'] },
      ],
    },
    { a: 'x' },
    {},
  ],
}

describe('the check of arguments', (it) => {
  for (const [name, [schema, fits, breaks]] of Object.entries(odd))
    it(`understands ${name}`, async () => {
      const { parse, unchecked } = await new InputChecks().of(schema)
      assert.equal(unchecked, undefined)
      assert.equal(parse(fits), { ok: true, value: fits })
      const wrong = parse(breaks)
      assert.match(wrong.ok ? '' : wrong.message, /^Invalid arguments: .+\. Correct them and call again\.$/)
    })

  it('is left to the server where nobody understands the schema', async () => {
    for (const schema of [
      { type: 'object', properties: { a: { $ref: 'https://example.org/a.json' } } },
      { type: 'object', properties: { a: { type: 'string', pattern: '(' } } },
    ]) {
      const { parse, unchecked } = await new InputChecks().of(schema)
      assert.ok(unchecked !== undefined)
      assert.equal(parse({ a: 1 }), { ok: true, value: { a: 1 } })
    }
  })

  it('refuses what is no object before it looks at a schema', async () => {
    const { parse } = await new InputChecks().of({ type: 'object' })
    assert.equal(parse(undefined), { ok: true, value: {} })
    assert.equal(parse([1]).ok, false)
    assert.equal(parse(7).ok, false)
    const cut = parse('{"a": ')
    assert.match(cut.ok ? '' : cut.message, /^The arguments are not valid JSON: \{"a": /)
  })

  it('adds nothing to the arguments: defaults are those of the server', async () => {
    const { parse } = await new InputChecks().of({ type: 'object', properties: { a: { type: 'number', default: 7 } } })
    assert.equal(parse({}), { ok: true, value: {} })
  })

  it('reads the same schema once', async () => {
    const checks = new InputChecks()
    assert.is(await checks.of({ type: 'object' }), await checks.of({ type: 'object' }))
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

  it('is otherwise as it came', () => {
    const schema = {
      type: 'object',
      properties: { a: { anyOf: [text, { type: 'null' }] } },
      additionalProperties: false,
    }
    assert.equal(shownSchema({ ...schema, $schema: 'x' }), schema)
  })
})
